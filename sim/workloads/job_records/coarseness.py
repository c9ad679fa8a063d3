"""How coarsely a job of a table is simulated: ranks and calls that stand for several.

A job of a thousand nodes may make a billion calls. What a run costs is what is simulated one by
one, so that is bounded for each job, and what is left out is told.
"""

from __future__ import annotations

from typing import NamedTuple

from xc40io.config.machine import Machine
from xc40io.topology.text import format_count
from xc40io.workloads.job_records.job_record import JobRecord

MOST_RPCS = 4_000_000
"""Bulk RPCs of a stream unless it is said how many are handled as one: a minute or so."""

MOST_CALLS = 4_000_000
"""Calls of a stream's jobs unless it is said how many are simulated: a minute or so."""


class Coarseness(NamedTuple):
    """What is simulated of a job at most; 0: all."""

    ranks: int  # of a node
    calls: int  # reads, writes, opens or stats of a rank on a file and step


LADDER = tuple(
    Coarseness(*step) for step in ((8, 64), (8, 16), (4, 16), (4, 4), (2, 4), (1, 4), (1, 1))
)
"""From the finest to the coarsest: a few calls of many ranks meet as many calls do."""


def coarseness_of(record: JobRecord, most_calls: float) -> Coarseness:
    """Return the finest coarseness with which a job makes so many calls at most.

    Parameters
    ----------
    record
        In which nothing is missing.
    most_calls
        Of all its ranks and steps together. Where no step of :data:`LADDER` has so few, the
        coarsest.
    """
    fine = (step for step in LADDER if _calls(record, step) <= most_calls)
    return next(fine, LADDER[-1])


def rpcs_as_one(moved: int, most: int, machine: Machine) -> int:
    """Return how many bulk RPCs are handled as one, so that there are ``most``, or nearly.

    Never more than a client may hold dirty for an OST.
    """
    lustre = machine.lustre
    wanted = -(-moved // (most * lustre.rpc_size))
    return max(min(wanted, lustre.max_dirty // lustre.rpc_size), 1)


def ranks_at_work(record: JobRecord, most_ranks: int) -> int:
    """Return how many ranks of a job are simulated, with so many of a node at most; 0: all."""
    io_ranks = record.io_ranks or 1
    return io_ranks if most_ranks == 0 else min(io_ranks, most_ranks * (record.nodes or 1))


def is_coarse(record: JobRecord, coarse: Coarseness) -> bool:
    """Tell whether ranks or calls of a job stand for several."""
    if ranks_at_work(record, coarse.ranks) < (record.io_ranks or 1):
        return True
    if coarse.calls == 0:
        return False
    asked = max(record.opens or 0, record.stats or 0, *_moves(record, record.io_ranks or 1))
    return asked > coarse.calls


def coarse_words(used: list[Coarseness], coarse: int) -> str:
    """Say how many of a stream's jobs are simulated more coarsely, and how coarsely."""
    ranks = [one.ranks for one in used if one.ranks]
    calls = [one.calls for one in used if one.calls]
    limits = []
    if ranks:
        limits.append(f"at most {_span(ranks)} {'rank' if max(ranks) == 1 else 'ranks'} of a node")
    if calls:
        limits.append(
            f"at most {_span(calls)} reads, writes, opens or stats of a rank on a file and step"
        )
    return (
        f"{coarse:,} of {format_count(len(used), 'job')} are simulated more coarsely, with "
        f"{' and '.join(limits)}: each stands for several and moves the bytes of all, so what "
        "depends on their number is underestimated"
    )


def _span(limits: list[int]) -> str:
    least, most = min(limits), max(limits)
    return f"{most:,}" if least == most else f"{least:,} to {most:,}"


def _calls(record: JobRecord, coarse: Coarseness) -> float:
    """Return about how many calls of a job are simulated."""
    ranks = ranks_at_work(record, coarse.ranks)
    steps, files = record.steps or 1, record.files or 1
    reads, writes = (min(calls, coarse.calls) for calls in _moves(record, ranks))
    opens = 2.0 * min((record.opens or 1) / steps, coarse.calls)
    stats = min(record.stats or 0, coarse.calls)
    return ranks * (stats + files * (reads + steps * (writes + opens)))


def _moves(record: JobRecord, ranks: int) -> tuple[float, float]:
    """Return the reads and the writes of each of so many ranks on a file, and in a step."""
    files = record.files or 1
    read = record.read / ((record.read_call or 1) * ranks * files)
    return read, record.written / ((record.write_call or 1) * ranks * files * (record.steps or 1))
