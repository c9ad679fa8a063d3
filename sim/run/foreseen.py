"""How long a run will take and how much memory, by what its jobs say that they will do."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from xc40io.config.machine import Machine
from xc40io.run.submission import Submission
from xc40io.workloads.traits import SHARED, PhaseTraits

# What is counted, and what comes of it: docs/performance.md has the measurements, and
# tests/run/test_foreseen.py holds runs of all kinds against these.
EVENTS_A_SECOND = 2_000_000
"""Events that the data plane handles in a second of a processor, in runs of some size."""

_OF_CALL, _OF_RPC, _OF_PIECE, _OF_OPERATION = 2, 13, 25, 4
"""Events of a call, of a bulk RPC, of a call with an RPC and a lock of its own, of metadata."""

_PROCESS, _OF_NODE, _OF_RANK = 84_000_000, 24_000, 4_500
_OF_LOCK, _OF_FLIGHT, _CACHED = 600, 200, 200
"""Bytes: before anything runs, of a node, a rank, a lock that stays, an RPC on its way, and what
page caches remember of a call that lies by itself."""

_LONG = 600.0
"""Seconds above which it is said what would make a run smaller."""


@dataclass(frozen=True)
class Foreseen:
    """What a run will be, about."""

    ranks: int
    nodes: int
    calls: float  # that move bytes
    rpcs: float  # of whole size, several that are handled as one counted once
    pieces: float  # calls with an RPC and a lock of their own
    operations: float  # of metadata
    locks: float  # that stay, at most
    flying: float  # RPCs that are on their way at a time, at most

    @property
    def events(self) -> float:
        """Events of the data plane."""
        moving = _OF_CALL * self.calls + _OF_RPC * self.rpcs + _OF_PIECE * self.pieces
        return moving + _OF_OPERATION * self.operations

    @property
    def seconds(self) -> float:
        """Seconds of a processor."""
        return self.events / EVENTS_A_SECOND

    @property
    def memory(self) -> float:
        """Bytes of memory."""
        there = _PROCESS + _OF_NODE * self.nodes + _OF_RANK * self.ranks
        return there + _OF_LOCK * self.locks + _OF_FLIGHT * self.flying + _CACHED * self.pieces

    @property
    def words(self) -> str:
        """For a person who waits."""
        counted = [
            f"{number:,.0f} {name}"
            for number, name in (
                (self.calls, "calls"),
                (self.rpcs + self.pieces, "bulk RPCs"),
                (self.operations, "metadata operations"),
            )
            if number >= 1
        ]
        what = ", ".join((f"{self.ranks:,} ranks", *counted))
        return (
            f"{what}: about {_span(self.seconds)} and {_about(self.memory / 1e9, 2)} GB of memory"
        )

    def too_much(self) -> str:
        """Return what would make it smaller, where it takes long or more memory than there is."""
        free = _free_memory()
        if self.seconds <= _LONG and self.memory <= free:
            return ""
        than = "" if self.memory <= free else f", of which {_about(free / 1e9, 2)} GB are free"
        return f"{than}; smaller would be {self._smaller()}"

    def _smaller(self) -> str:
        """Return what would make it smaller, by what most of it is."""
        parts = {
            "larger calls, fewer of them, or fewer repetitions": (
                _OF_CALL * self.calls + _OF_PIECE * self.pieces
            ),
            "fewer bytes or repetitions, or --rpcs-as-one 8": _OF_RPC * self.rpcs,
            "fewer files or iterations": _OF_OPERATION * self.operations,
        }
        if self.seconds <= _LONG and _OF_RANK * self.ranks > _OF_LOCK * self.locks:
            return "fewer nodes, or fewer ranks on each"
        return max(parts, key=parts.__getitem__)


def foreseen(submissions: Sequence[Submission], machine: Machine) -> Foreseen:
    """Return what a run of some jobs on a machine will be, about.

    What only the run can tell, as how much a benchmark does before a deadline, is not in it.
    """
    rpc_size = machine.lustre.rpc_size
    unused = machine.lustre.unused_locks_per_core * machine.nodes.cores
    calls = rpcs = pieces = operations = locks = flying = 0.0
    for job in submissions:
        on_lustre = job.scenario.target.kind == "lustre"
        operations += job.workload.metadata_operations(job.ranks)
        for moved, phase in _moved(job):
            of_phase = moved / (phase.call or rpc_size)
            calls += of_phase
            if not on_lustre:
                continue
            if phase.call is not None and _is_alone(phase, rpc_size):
                pieces += of_phase
            else:
                rpcs += moved / rpc_size
        count = job.scenario.striping.count or 1
        oscs = job.scenario.nodes * (count if count > 0 else machine.lustre.osts)
        locks += min(pieces, oscs * unused)
        most = job.scenario.nodes * machine.lustre.osts * machine.lustre.max_rpcs_in_flight
        flying += min(rpcs + pieces, most)
    return Foreseen(
        ranks=sum(job.ranks for job in submissions),
        nodes=sum(job.scenario.nodes for job in submissions),
        calls=calls,
        rpcs=rpcs,
        pieces=pieces,
        operations=operations,
        locks=locks,
        flying=flying,
    )


def _moved(job: Submission) -> Iterator[tuple[float, PhaseTraits]]:
    """Yield the bytes of all phases of each kind, with their traits."""
    phases = job.workload.phase_traits(job.ranks)
    of_one = sum(phase.bytes_a_rank for phase in phases)
    for phase in phases if of_one else ():
        yield job.bytes_to_move * phase.bytes_a_rank / of_one, phase


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
