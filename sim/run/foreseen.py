"""How long runs will take and how much memory, by what their jobs say that they will do."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol, runtime_checkable

from xc40io.config.machine import Machine
from xc40io.run.submission import Submission
from xc40io.workloads.traits import SHARED, PhaseTraits

# What is counted, and what comes of it: docs/performance.md has the measurements, and
# tests/run/test_foreseen.py holds runs of all kinds against these.
EVENTS_A_SECOND = 2_000_000
"""Events that the data plane handles in a second of a processor, in runs of some size."""

_OF_CALL, _OF_RPC, _OF_PIECE, _OF_OPERATION = 2, 13, 25, 4
"""Events of a call, of a bulk RPC, of a call with an RPC and a lock of its own, of metadata."""

_PROCESS, _OF_NODE, _OF_RANK = 84_000_000, 24_000, 3_000
_OF_LOCK, _OF_FLIGHT, _CACHED, _LISTED = 600, 200, 200, 150
"""Bytes: before anything runs, of a node, a rank, a lock that stays, an RPC on its way, what page
caches remember of a call that lies by itself, and what is listed of an operation of metadata."""

_RECORDING = 1.5
"""Times as long as without a recording, at most: docs/result.md."""

_RECORDED, _MOST_RECORDED = 65, 1.7e9
"""Bytes of what is recorded of an event, and of all that can be, while it is put together."""

_LONG = 600.0
"""Seconds above which it is said what would make a run smaller."""


@dataclass(frozen=True)
class Foreseen:
    """What a run, or all runs of a study, will be, about."""

    ranks: int  # of a run; of several, of the one that takes most memory
    crowded: bool  # whether it is they who take most of it
    calls: float  # that move bytes
    rpcs: float  # of whole size, several that are handled as one counted once
    apart: float  # calls with an RPC of their own
    pieces: float  # and a lock of their own, too
    operations: float  # of metadata
    memory: float  # bytes, of all that run at a time
    moves: bool = True  # whether it is known how many bytes are moved: any at all
    recorded: bool = False
    at_most: bool = False  # whether something may end it before it has done all that
    runs: int = 1
    processes: int = 1  # that share the runs

    @staticmethod
    def of_study(runs: Sequence[Foreseen], processes: int) -> Foreseen:
        """Return what several runs will be in so many processes, which take turns at them."""
        large = sorted(runs, key=lambda run: -run.memory)[:processes]
        return replace(
            large[0],
            calls=sum(run.calls for run in runs),
            rpcs=sum(run.rpcs for run in runs),
            apart=sum(run.apart for run in runs),
            pieces=sum(run.pieces for run in runs),
            operations=sum(run.operations for run in runs),
            memory=sum(run.memory for run in large),
            at_most=any(run.at_most for run in runs),
            runs=len(runs),
            processes=len(large),
        )

    @property
    def events(self) -> float:
        """Events of the data plane."""
        moving = (
            _OF_CALL * self.calls + _OF_RPC * (self.rpcs + self.apart) + _OF_PIECE * self.pieces
        )
        return moving + _OF_OPERATION * self.operations

    @property
    def seconds(self) -> float:
        """Seconds, of a processor for each process."""
        slower = _RECORDING if self.recorded else 1.0
        return slower * self.events / EVENTS_A_SECOND / self.processes

    @property
    def words(self) -> str:
        """For a person who waits."""
        counted = [
            f"{number:,.0f} {name}"
            for number, name in (
                (self.calls, "calls"),
                (self.rpcs + self.apart + self.pieces, "bulk RPCs"),
                (self.operations, "metadata operations"),
            )
            if number >= 1
        ]
        of = f"{self.runs:,} runs" if self.runs > 1 else f"{self.ranks:,} ranks"
        about = "at most" if self.at_most else "about"
        shared = f" in {self.processes} processes" if self.processes > 1 else ""
        return (
            f"{', '.join((of, *counted))}: {about} {_span(self.seconds)}{shared} and "
            f"{_about(self.memory / 1e9, 2)} GB of memory"
        )

    def too_much(self) -> str:
        """Return what would make it smaller, where it takes long or more memory than there is."""
        free = _free_memory()
        if self.seconds <= _LONG and self.memory <= free:
            return ""
        than = "" if self.memory <= free else f", of which {_about(free / 1e9, 2)} GB are free"
        fewer = "fewer runs, or of each " if self.runs > 1 else ""
        if self.memory > free and self.processes > 1:
            fewer = "fewer processes (--jobs), or of each run "
        return f"{than}; smaller would be {fewer}{self._smaller()}"

    def _smaller(self) -> str:
        """Return what would make it, or each run, smaller, by what most of it is."""
        parts = {
            "larger calls, fewer of them, or fewer repetitions": (
                _OF_CALL * self.calls + _OF_RPC * self.apart + _OF_PIECE * self.pieces
            ),
            "fewer bytes or repetitions, or --rpcs-as-one 8": _OF_RPC * self.rpcs,
            "fewer files or iterations": _OF_OPERATION * self.operations,
        }
        if self.seconds <= _LONG and self.crowded:
            return "fewer nodes, or fewer ranks on each"
        return max(parts, key=parts.__getitem__)


@runtime_checkable
class Foretold(Protocol):
    """Who is told how far runs have come, and before what they will be."""

    def __call__(self, done: int, total: int, /) -> None:
        """Tell how far they have come."""

    def foretell(self, runs: Foreseen) -> None:
        """Tell what they will be."""


def foreseen(
    submissions: Sequence[Submission], machine: Machine, *, record: bool = False
) -> Foreseen:
    """Return what a run of some jobs on a machine will be, about; ``record``: with a recording.

    Where something ends a job early, as a deadline, it is the most that it can be.
    """
    rpc_size = machine.lustre.rpc_size
    unused = machine.lustre.unused_locks_per_core * machine.nodes.cores
    calls = rpcs = pieces = apart = operations = locks = flying = 0.0
    for job in submissions:
        on_lustre = job.scenario.target.kind == "lustre"
        operations += job.workload.metadata_operations(job.ranks)
        for moved, phase in job.workload.moved(job.ranks):
            of_phase = moved / (phase.call or rpc_size)
            calls += of_phase
            if not on_lustre:
                continue
            if phase.call is not None and _is_alone(phase, rpc_size):
                pieces += of_phase
            elif phase.scattered and of_phase * rpc_size > moved:
                apart += of_phase
            else:
                rpcs += moved / rpc_size
        count = job.scenario.striping.count or 1
        oscs = job.scenario.nodes * (count if count > 0 else machine.lustre.osts)
        locks += min(pieces, oscs * unused)
        most = job.scenario.nodes * machine.lustre.osts * machine.lustre.max_rpcs_in_flight
        flying += min(rpcs + apart + pieces, most)
    ranks = sum(job.ranks for job in submissions)
    nodes = sum(job.scenario.nodes for job in submissions)
    there = _PROCESS + _OF_NODE * nodes + _OF_RANK * ranks
    run = Foreseen(
        ranks=ranks,
        crowded=_OF_RANK * ranks > _OF_LOCK * locks,
        calls=calls,
        rpcs=rpcs,
        apart=apart,
        pieces=pieces,
        operations=operations,
        memory=there
        + _OF_LOCK * locks
        + _OF_FLIGHT * flying
        + _CACHED * (pieces + apart)
        + _LISTED * operations,
        moves=any(job.bytes_to_move for job in submissions),
        recorded=record,
        at_most=any(job.workload.may_end_early for job in submissions),
    )
    recorded = min(_RECORDED * run.events, _MOST_RECORDED) if record else 0.0
    return replace(run, memory=run.memory + recorded)


def _is_alone(phase: PhaseTraits, rpc_size: int) -> bool:
    """Tell whether each call has an RPC of its own: nothing that fills one lies beside it."""
    shared = phase.sharing == SHARED and (phase.block or rpc_size) < rpc_size
    return (shared or phase.direct or phase.synced) and (phase.call or rpc_size) < rpc_size


def _free_memory() -> float:
    """Return the bytes of memory that a program can have; all that is there where none says."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        (kilobytes,) = (line.split()[1] for line in lines if line.startswith("MemAvailable:"))
    except (OSError, ValueError):
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    return 1024.0 * int(kilobytes)


def _span(seconds: float) -> str:
    """Write a time that is only about right."""
    if seconds < 100.0:
        return f"{_about(max(seconds, 1.0), 1)} s"
    minutes = seconds / 60
    return f"{_about(minutes, 2)} min" if minutes < 100.0 else f"{_about(minutes / 60, 2)} h"


def _about(number: float, digits: int) -> str:
    """Write a number with so many digits that count, without an exponent."""
    return f"{float(f'{number:.{digits}g}'):,g}"
