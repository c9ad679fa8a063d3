"""A trace from a log: from DXT where the log has it, reconstructed from counters where not.

Every file is replayed through the layer that the application used: through MPI-IO if there is a
record of MPI-IO, else through POSIX. How many ranks, files, calls and bytes there are comes out as
recorded, exactly; the rest is as near as the counters say.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from sim.config.errors import InputError
from sim.config.striping import StripeRequest
from sim.engine.types import Integers
from sim.workloads.darshan_log import explanation
from sim.workloads.darshan_log.aggregators import unbuffered_directions
from sim.workloads.darshan_log.around import rows_around
from sim.workloads.darshan_log.counters import SHARED, ByFile, Counters
from sim.workloads.darshan_log.dxt import (
    Segments,
    mark_collective,
    missing,
    rest_of,
)
from sim.workloads.darshan_log.evidence import hints_of_file
from sim.workloads.darshan_log.facts import Facts
from sim.workloads.darshan_log.layout import DEFAULT_STRIPE, Lay, lay_of
from sim.workloads.darshan_log.log import DarshanLog, read_log
from sim.workloads.darshan_log.mpiio import MpiFileCalls, mpi_counted
from sim.workloads.darshan_log.posix import DIRECTIONS, counted, posix_rows
from sim.workloads.darshan_log.ran import where_it_ran
from sim.workloads.darshan_log.rows import Rows, join, merge, take
from sim.workloads.trace.block import ListedTrace, TraceFile, TraceOp

_NOTHING_TOLD = StripeRequest()

MOST_ROWS = 60_000_000
"""Calls that a log may have to be replayed: they are all in memory at once."""


class FileCalls(NamedTuple):
    """What the job did to one file.

    Attributes
    ----------
    number
        Of the file in the log.
    file, rows
        For the trace.
    story
        How the calls were reconstructed: a sentence each.
    """

    number: int
    file: TraceFile
    rows: Rows
    story: tuple[str, ...]

    @property
    def begin(self) -> float:
        """When the first call began, in seconds since the job did."""
        return float(self.rows.start.min(initial=np.inf))


class LogTrace(ListedTrace):
    """The trace of a log; ``place`` is what messages call it."""

    place = "the log"
    recorded = True


@dataclass(frozen=True, eq=False, kw_only=True)
class Reconstruction:
    """What a job did, ready to be replayed.

    Attributes
    ----------
    log
        From which.
    trace
        All files and calls.
    numbers
        The number in the log of each file of the trace.
    stories
        How each file was reconstructed, in the order of the trace: sentences.
    """

    log: DarshanLog
    trace: LogTrace
    numbers: Sequence[int]
    stories: Sequence[tuple[str, ...]]


def reconstruct(
    log: DarshanLog,
    nodes: int | None = None,
    ppn: int | None = None,
    told: StripeRequest = _NOTHING_TOLD,
) -> Reconstruction:
    """Make a trace of a log.

    Parameters
    ----------
    log, nodes, ppn
        As read; where the job ran, for the trace to tell.
    told
        The striping that all files are known to have had; it goes before what the log says.

    Raises
    ------
    InputError
        If it has more calls than fit into memory.
    """
    _check_length(log)
    posix, mpiio = ByFile(log.posix), ByFile(log.mpiio)
    segments = Segments(log.dxt_posix, mpi=False), Segments(log.dxt_mpiio, mpi=True)
    through_mpi = {int(number) for number in mpiio.numbers}
    alone = [int(number) for number in posix.numbers if int(number) not in through_mpi]
    found = [
        _mpi_file(log, number, mpiio.of(number), posix.of(number), segments[1], told)
        for number in through_mpi
    ]
    found.extend(_posix_file(log, number, posix.of(number), segments[0], told) for number in alone)
    found.sort(key=lambda calls: calls.begin)
    return Reconstruction(
        log=log,
        trace=_trace(log, found, nodes, ppn),
        numbers=[calls.number for calls in found],
        stories=[calls.story for calls in found],
    )


def _trace(
    log: DarshanLog, found: Sequence[FileCalls], nodes: int | None, ppn: int | None
) -> LogTrace:
    """Put the calls of all files together."""
    trace = LogTrace(
        log.ranks,
        [calls.file for calls in found],
        merge([calls.rows for calls in found]),
        nodes=nodes,
        ppn=ppn,
    )
    trace.place = str(log.path)
    return trace


def _check_length(log: DarshanLog) -> None:
    """Refuse what would not fit into memory, or what no job can have done."""
    names = ("OPENS", "READS", "WRITES", "STATS", "FSYNCS", "FDSYNCS")
    kinds = ("COLL_READS", "COLL_WRITES", "INDEP_READS", "INDEP_WRITES", "NB_READS", "NB_WRITES")
    calls = sum(log.posix.total(name) for name in names)
    calls += sum(log.mpiio.total(name) for name in (*kinds, "COLL_OPENS", "INDEP_OPENS", "SYNCS"))
    if not 0 <= calls <= MOST_ROWS:
        raise InputError(
            f"{log.path}: the log counts {calls:,} calls; right would be at most {MOST_ROWS:,}, "
            "which can be held in memory"
        )


def _posix_file(
    log: DarshanLog, number: int, records: Counters, dxt: Segments, told: StripeRequest
) -> FileCalls:
    """Return the calls of a file that was accessed through POSIX alone."""
    segments = dxt.of(number)
    creates = _is_new(records)
    if len(segments.rank):
        known, lacking = _completed(segments, records)
        rows = _with_others(join(known), records, log, creates=creates)
        story = explanation.of_dxt("POSIX", len(segments.rank), lacking)
    else:
        parts = [
            posix_rows(records.take(np.array([row])), log.ranks, creates=creates and row == 0)
            for row in range(len(records))
        ]
        rows = join(parts)
        story = explanation.of_posix(records, log.ranks)
    none = log.mpiio.take(np.zeros(0, np.int64))
    lay = lay_of(log, number, none, records, told)
    file = _file(log, number, rows, lay, creates=creates)
    return FileCalls(number, file, rows, (lay.why, *story))


def _with_others(data: Rows, records: Counters, log: DarshanLog, *, creates: bool) -> Rows:
    """Return reads and writes, and what the records of POSIX count besides.

    Ranks are not made to meet at barriers where they also meet in calls of MPI-IO, since it is not
    known in which order.
    """
    meets = not len(log.mpiio)
    data = take(data, np.lexsort((data.start, data.rank)))
    before, after = [], []
    for row in range(len(records)):
        record, mine = records.take(np.array([row])), data
        if int(record.rank[0]) != SHARED:
            low = np.searchsorted(data.rank, record.rank[0], side="left")
            mine = take(data, slice(low, np.searchsorted(data.rank, record.rank[0], side="right")))
        rows = rows_around(mine, record, log.ranks, creates=creates and row == 0, meets=meets)
        before.append(rows[0])
        after.append(rows[1])
    return join([*before, data, *after])


def _completed(segments: Rows, records: Counters) -> tuple[list[Rows], int]:
    """Return the calls of DXT, those that only the counters know of, and how many these are."""
    parts, lacking = [segments], 0
    for direction, op in DIRECTIONS:
        known = counted(records, direction)
        calls, moved = missing(segments, op, known.calls, known.bytes)
        if calls > 0:
            parts.append(rest_of(segments, op, calls, max(0, moved), records.window(direction)))
            lacking += calls
    return parts, lacking


def _mpi_file(
    log: DarshanLog,
    number: int,
    records: Counters,
    below: Counters,
    dxt: Segments,
    told: StripeRequest,
) -> FileCalls:
    """Return the calls of a file that was accessed through MPI-IO."""
    lay = lay_of(log, number, records, below, told)
    unbuffered = unbuffered_directions(records, below, log.ranks)
    stripe = lay.striping.size or DEFAULT_STRIPE
    calls = MpiFileCalls(records, below, log.ranks, stripe, unbuffered)
    segments = dxt.of(number)
    data, lacking = _mpi_data(segments, calls)
    if data is None:
        rows = calls.rows()
        story = explanation.of_mpiio(calls)
        if len(segments.rank):
            story = (*explanation.dxt_unused(len(segments.rank)), *story)
    else:
        calls.settle(data)
        rows = calls.rows()
        story = explanation.of_dxt("MPI-IO", len(segments.rank), lacking)
    everyone = bool((records.rank == SHARED).any())
    file = _file(
        log,
        number,
        rows,
        lay,
        creates=calls.creates,
        mpi=True,
        members=None if everyone else calls.members,
    )
    shown = hints_of_file(file.name, records, below, log.ranks, lay.striping.count)
    hints = explanation.of_hints(shown.hints, shown.why) if shown is not None else ()
    return FileCalls(number, file, rows, (lay.why, *hints, *story))


def _mpi_data(segments: Rows, calls: MpiFileCalls) -> tuple[Rows | None, int]:
    """Return the reads and writes as DXT has them, and how many it lacks; None if it cannot be.

    A collective call of which some ranks' parts are missing cannot be put together again.
    """
    if not len(segments.rank):
        return None, 0
    known = {direction: mpi_counted(calls.record, direction) for direction, _ in DIRECTIONS}
    rest = []
    for direction, op in DIRECTIONS:
        of = known[direction]
        count, moved = missing(segments, op, of.collective + of.independent, of.bytes)
        if count > 0:
            window = calls.record.window(direction)
            rest.append(rest_of(segments, op, count, max(0, moved), window))
    lacking = sum(len(part.rank) for part in rest)
    if not any(of.collective for of in known.values()):
        return join([segments, *rest]), lacking
    if lacking or not np.isin(segments.rank, calls.members).all():
        return None, lacking
    wanted = {direction: of.collective for direction, of in known.items()}
    marked = mark_collective(segments, calls.members, wanted)
    if marked is not None:
        calls.number(int(marked.coll.max(initial=-1)) + 1)
    return marked, 0


def _is_new(records: Counters) -> bool:
    """Tell whether a job made a file: it wrote it, and had not read it before."""
    reads, writes = records.window("READ"), records.window("WRITE")
    if records.total("BYTES_READ") == 0:
        reads = None
    return writes is not None and (reads is None or writes[0] <= reads[0])


def _file(
    log: DarshanLog,
    number: int,
    rows: Rows,
    lay: Lay,
    *,
    creates: bool,
    mpi: bool = False,
    members: Integers | None = None,
) -> TraceFile:
    """Describe a file: what is read before anything is written must have been there."""
    reads = rows.op == TraceOp.READ
    size = 0 if creates else int((rows.offset + rows.length)[reads].max(initial=0))
    return TraceFile(
        name=log.name_of(number),
        striping=lay.striping,
        size=size,
        mpi=mpi,
        ranks=members,
        library=log.libraries.get(number, "MPI-IO" if mpi else "POSIX"),
    )


def trace_of_log(path: str | Path, facts: Facts | None = None) -> LogTrace:
    """Return what a Darshan log tells as a trace, with the warnings of the log.

    Parameters
    ----------
    path
        Of the log.
    facts
        What is known of the recorded run besides.

    Raises
    ------
    InputError
        If it cannot be read, there is nothing to replay, or something is told that cannot be.
    """
    facts = facts or Facts()
    facts.check_of_calls()
    log = read_log(path)
    shape = where_it_ran(log, facts).shape
    trace = reconstruct(log, shape.nodes, shape.ppn, facts.striping).trace
    trace.warnings = log.warnings
    return trace
