"""A trace from a log: from DXT where the log has it, reconstructed from counters where not.

Every file is replayed through the layer that the application used: through MPI-IO if there is a
record of MPI-IO, else through POSIX. How many ranks, files, calls and bytes there are comes out as
recorded, exactly; the rest is as near as the counters say.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from xc40io.config.errors import InputError
from xc40io.config.machine import load_machine
from xc40io.config.striping import StripeRequest
from xc40io.config.units import format_bytes
from xc40io.engine.types import Integers
from xc40io.workloads.darshan.call_pattern import sizes_of
from xc40io.workloads.darshan.call_rows import Rows, join, merge, sorted_by_rank
from xc40io.workloads.darshan.dxt import Segments, mark_collective, missing, rest_of
from xc40io.workloads.darshan.facts import Facts
from xc40io.workloads.darshan.heat_map import HeatMap
from xc40io.workloads.darshan.inference import (
    DEFAULT_STRIPE,
    Lay,
    hints_of_file,
    lay_of,
    unbuffered_directions,
)
from xc40io.workloads.darshan.log import DarshanLog, read_log
from xc40io.workloads.darshan.module_counters import (
    DIRECTIONS,
    SHARED,
    Counters,
    Direction,
    MpiCounts,
    PosixCounts,
    active_ranks,
    counted,
    mpi_counted,
)
from xc40io.workloads.darshan.mpi_file_calls import MpiFileCalls
from xc40io.workloads.darshan.place import where_it_ran
from xc40io.workloads.darshan.posix_rows import posix_rows, rows_around
from xc40io.workloads.darshan.turns import ReadCosts, met_between_files
from xc40io.workloads.trace import ListedTrace, TraceFile, TraceOp, take_rows

MOST_ROWS = 60_000_000
"""Calls that a log may have to be replayed: they are all in memory at once."""


class Around(NamedTuple):
    """What is known besides a file's own records."""

    told: StripeRequest | None  # the striping that all files are known to have had
    costs: ReadCosts | None  # what reads took where the job ran
    met: bool  # whether ranks met between their reads and writes of files of their own
    heat: HeatMap | None = None  # when ranks moved bytes through the module, if that is known


class FileCalls(NamedTuple):
    """What the job did to one file."""

    number: int  # of the file in the log
    file: TraceFile
    rows: Rows
    story: tuple[str, ...]  # how the calls were reconstructed: a sentence each


@dataclass(frozen=True, eq=False, kw_only=True)
class Reconstruction:
    """What a job did, ready to be replayed."""

    log: DarshanLog
    trace: ListedTrace
    numbers: Sequence[int]  # in the log, of each file of the trace
    stories: Sequence[tuple[str, ...]]  # how each file was reconstructed: sentences


def reconstruct(
    log: DarshanLog,
    nodes: int | None = None,
    ppn: int | None = None,
    told: StripeRequest | None = None,
    costs: ReadCosts | None = None,
) -> Reconstruction:
    """Make a trace of a log.

    Parameters
    ----------
    log, nodes, ppn
        As read; where the job ran, for the trace to tell.
    told
        The striping that all files are known to have had; it goes before what the log says.
    costs
        What reads take where the job ran, if that is known: whether what was read had been cached.

    Raises
    ------
    InputError
        If it has more calls than fit into memory.
    """
    _check_length(log)
    posix, mpi = Segments(log.dxt_posix, mpi=False), Segments(log.dxt_mpiio, mpi=True)
    others = len(log.mpiio) or len(log.dxt_posix.segments)  # tell of ranks without such runs
    around = Around(told, costs, not others and met_between_files(log.posix, log.ranks))
    through_mpi = {int(number) for number in log.mpiio.rows_of_file}
    alone = [number for number in log.calls.rows_of_file if number not in through_mpi]
    found = [_mpi_file(log, number, mpi.of(number), around) for number in through_mpi]
    found.extend(_posix_file(log, number, posix.of(number), around) for number in alone)
    found.sort(key=lambda calls: float(calls.rows.start.min(initial=np.inf)))
    files, blocks = [of.file for of in found], merge([of.rows for of in found])
    trace = ListedTrace(log.ranks, files, blocks, nodes=nodes, ppn=ppn)
    trace.place, trace.recorded = str(log.path), True
    return Reconstruction(
        log=log,
        trace=trace,
        numbers=[calls.number for calls in found],
        stories=[calls.story for calls in found],
    )


def trace_of_log(
    path: str | Path, facts: Facts | None = None, *, counters: bool = False
) -> ListedTrace:
    """Return what a Darshan log tells as a trace, with the warnings of the log.

    ``facts`` are what is known of the recorded run besides. With ``counters`` DXT is left aside,
    but for where the job ran. Raises InputError if the log cannot be
    read, there is nothing to replay, or something is told that cannot be.
    """
    facts = facts or Facts()
    facts.check_of_calls()
    log = read_log(path)
    place, shape = where_it_ran(log, facts)
    costs = ReadCosts.of(load_machine(place.machine), shape.nodes, shape.ppn)
    known = log.without_dxt() if counters else log
    trace = reconstruct(known, shape.nodes, shape.ppn, facts.striping, costs).trace
    trace.warnings = log.warnings
    return trace


def calls_of(log: DarshanLog) -> int:
    """Return how many calls a log counts."""
    names = ("OPENS", "READS", "WRITES", "STATS", "FSYNCS", "FDSYNCS")
    kinds = ("COLL_READS", "COLL_WRITES", "INDEP_READS", "INDEP_WRITES", "NB_READS", "NB_WRITES")
    calls = sum(log.calls.total(name) for name in names)
    calls += sum(log.mpiio.total(name) for name in (*kinds, "COLL_OPENS", "INDEP_OPENS", "SYNCS"))
    return calls


def _check_length(log: DarshanLog) -> None:
    """Refuse what would not fit into memory, or what no job can have done."""
    calls = calls_of(log)
    if not 0 <= calls <= MOST_ROWS:
        raise InputError(
            f"{log.path}: the log counts {calls:,} calls; right would be at most {MOST_ROWS:,}, "
            "which can be held in memory"
        )


def _posix_file(log: DarshanLog, number: int, segments: Rows, around: Around) -> FileCalls:
    """Return the calls of a file that was accessed through POSIX alone, or through streams."""
    records, own = log.calls.of_file(number), log.posix.of_file(number)
    reads, writes = records.window("READ"), records.window("WRITE")
    if records.total("BYTES_READ") == 0:
        reads = None
    creates = writes is not None and (reads is None or writes[0] <= reads[0])
    parts: list[Rows] = []
    story: tuple[str, ...] = ()
    if len(segments.rank):
        known: dict[Direction, PosixCounts] = {way: counted(own, way) for way, _ in DIRECTIONS}
        rest = _lacking(segments, own, known)
        parts.append(_with_others(join([segments, *rest]), own, log, creates=creates))
        story = _of_dxt("POSIX", segments, rest)
    elif len(own):
        of_posix, meets = around._replace(heat=log.paced.get("POSIX")), not len(log.mpiio)
        parts.extend(_by_counters(own, log.ranks, of_posix, creates=creates, meets=meets))
        story = _of_posix(own, log.ranks, of_posix)
    streams = log.streams.of_file(number)
    if len(streams):
        apart = around._replace(met=False, heat=log.paced.get("STDIO"))
        new = creates and not own.total("OPENS")
        parts.extend(_by_counters(streams, log.ranks, apart, creates=new, meets=False))
        said = "Streams, whose buffer makes calls of POSIX, of 4 MiB and what is flushed or closed."
        story = (*story, said, *_of_posix(streams, log.ranks, apart))
    rows = join(parts)
    lay = lay_of(log, number, around.told)
    file = _file(log, number, rows, lay, creates=creates)
    return FileCalls(number, file, rows, (lay.why, *story))


def _by_counters(
    records: Counters, ranks: int, around: Around, *, creates: bool, meets: bool
) -> Iterator[Rows]:
    """Yield the calls of each record: the first creates the file if it is new.

    ``meets`` tells whether ranks of one record may have met between their runs.
    """
    for row in range(len(records)):
        record = records.take(np.array([row]))
        yield posix_rows(
            record,
            ranks,
            creates=creates and row == 0,
            costs=around.costs,
            heat=around.heat,
            meets=meets if int(record.rank[0]) == SHARED else around.met,
        )


def _with_others(data: Rows, records: Counters, log: DarshanLog, *, creates: bool) -> Rows:
    """Return reads and writes, and what the records of POSIX count besides.

    Ranks are not made to meet at barriers where they also meet in calls of MPI-IO, since it is not
    known in which order.
    """
    data = sorted_by_rank(data)
    before, after = [], []
    for row in range(len(records)):
        record, mine = records.take(np.array([row])), data
        if int(record.rank[0]) != SHARED:
            low = np.searchsorted(data.rank, record.rank[0], side="left")
            high = np.searchsorted(data.rank, record.rank[0], side="right")
            mine = take_rows(data, slice(low, high))
        new, meets = creates and row == 0, not len(log.mpiio)
        former, latter = rows_around(mine, record, log.ranks, creates=new, meets=meets)
        before.append(former)
        after.append(latter)
    return join([*before, data, *after])


def _lacking(
    segments: Rows,
    records: Counters,
    known: dict[Direction, PosixCounts] | dict[Direction, MpiCounts],
) -> list[Rows]:
    """Return the reads and writes that only the counters know of, as ``known``, and DXT lacks."""
    parts = []
    for direction, op in DIRECTIONS:
        calls, moved = missing(segments, op, known[direction].calls, known[direction].bytes)
        if calls > 0:
            parts.append(rest_of(segments, op, calls, max(0, moved), records.window(direction)))
    return parts


def _mpi_file(log: DarshanLog, number: int, segments: Rows, around: Around) -> FileCalls:
    """Return the calls of a file that was accessed through MPI-IO."""
    records, below = log.mpiio.of_file(number), log.posix.of_file(number)
    lay = lay_of(log, number, around.told)
    unbuffered = unbuffered_directions(records, below, log.ranks)
    stripe = lay.striping.size or DEFAULT_STRIPE
    heat = log.paced.get("MPI-IO")
    calls = MpiFileCalls(records, below, log.ranks, stripe, unbuffered, around.costs, heat)
    known: dict[Direction, MpiCounts]
    known = {way: mpi_counted(records, way) for way, _ in DIRECTIONS}
    rest = _lacking(segments, records, known) if len(segments.rank) else []
    data = _mpi_data(segments, rest, calls, known) if len(segments.rank) else None
    if data is not None:
        calls.settle(data)
    rows = calls.rows()
    story = _of_mpiio(calls) if data is None else _of_dxt("MPI-IO", segments, rest)
    if data is None and len(segments.rank):
        unused = (
            f"DXT has {len(segments.rank):,} calls, but lacks some ranks' part of the collective "
            "calls, so these cannot be put together: the counters are used instead."
        )
        story = (unused, *story)
    members = None if (records.rank == SHARED).any() else calls.members
    file = _file(log, number, rows, lay, creates=calls.creates, mpi=True, members=members)
    shown = hints_of_file(log, number, lay.striping.count)
    if shown is not None:
        listed = ", ".join(f"{name}={value}" for name, value in shown.hints.items())
        story = (f"Hints {listed}: {shown.why}.", *story)
    return FileCalls(number, file, rows, (lay.why, *story))


def _mpi_data(
    segments: Rows, rest: Sequence[Rows], calls: MpiFileCalls, known: dict[Direction, MpiCounts]
) -> Rows | None:
    """Return the reads and writes as DXT has them, and the rest; None if it cannot be.

    A collective call of which some ranks' parts are missing cannot be put together again.
    """
    wanted: dict[Direction, int] = {way: of.collective for way, of in known.items()}
    if not any(wanted.values()):
        return join([segments, *rest])
    if rest or not np.isin(segments.rank, calls.members).all():
        return None
    marked = mark_collective(segments, calls.members, wanted)
    if marked is not None:
        calls.number(int(marked.coll.max(initial=-1)) + 1)
    return marked


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


def _of_dxt(layer: str, segments: Rows, rest: Sequence[Rows]) -> tuple[str, ...]:
    """Tell that DXT has every call, or most of them."""
    calls, lacking = len(segments.rank), sum(len(part.rank) for part in rest)
    said = f"{calls:,} reads and writes of {layer} as DXT recorded them, with their times."
    if not lacking:
        return (said,)
    return (
        said,
        f"DXT had no room for {lacking:,} more calls that the counters know of: each rank goes "
        "on with calls of equal size for the bytes that are left.",
    )


_BY_THE_MAP = "Calls begin when ranks moved bytes by the heat map, within the file's timestamps."


def _of_posix(records: Counters, ranks: int, around: Around) -> tuple[str, ...]:
    """Tell how the calls of a file through POSIX were made."""
    shared = bool((records.rank == SHARED).any())
    said = []
    for direction, _ in DIRECTIONS:
        known = counted(records, direction)
        if known.calls:
            kind = f"{direction.lower()}s"
            said.append(
                f"{known.calls:,} {kind} of {format_bytes(known.bytes, 4)}: "
                f"{records.total(f'CONSEC_{direction}S'):,} consecutive, "
                f"{records.total(f'SEQ_{direction}S'):,} sequential, up to byte "
                f"{max(known.extent - 1, 0):,}; sizes by class and by the most frequent ones."
            )
    if shared:
        active = len(active_ranks(records, ranks))
        said.append(
            f"One record for all ranks: the variance of their bytes says that {active:,} of "
            f"{ranks:,} ranks read and write."
        )
    switches = records.total("RW_SWITCHES")
    if switches:
        said.append(f"Reads and writes take turns {switches:,} times where they overlap in time.")
    read = counted(records, "READ")
    if shared and read.bytes and records.total("BYTES_WRITTEN") and around.costs is not None:
        if around.costs.cached(read.calls, read.bytes, read.seconds):
            said.append("Reads as fast as from the page cache: each rank reads what it wrote.")
        else:
            said.append("Reads slower than a cache's: each rank reads what the next node wrote.")
    counts = ", ".join(
        f"{records.total(name):,} {name.lower()}" for name in ("OPENS", "STATS", "FSYNCS")
    )
    said.append(f"{counts}; {records.total('SEEKS'):,} seeks cost nothing and are left out.")
    return (*said, *([_BY_THE_MAP] if around.heat else []))


def _of_mpiio(calls: MpiFileCalls) -> tuple[str, ...]:
    """Tell how the calls of a file through MPI-IO were made; after its rows have been."""
    said = [sentence for direction, _ in DIRECTIONS for sentence in _direction(calls, direction)]
    opens, members = calls.record.total("COLL_OPENS"), len(calls.members)
    said.append(
        f"{opens:,} collective opens by {members:,} ranks, "
        f"{calls.record.total('INDEP_OPENS'):,} independent ones, "
        f"{calls.record.total('SYNCS'):,} syncs."
    )
    return (*said, *([_BY_THE_MAP] if calls.heat else []))


def _direction(calls: MpiFileCalls, direction: Direction) -> list[str]:
    """Tell how the reads or the writes were made."""
    known = mpi_counted(calls.record, direction)
    if not known.calls:
        return []
    kind, members = f"{direction.lower()}s", len(calls.members)
    said = []
    if known.collective:
        sizes = sizes_of(calls.record, direction, known.calls, known.bytes)[known.independent :]
        said.append(
            f"{known.collective:,} collective {kind}: {known.collective // members:,} calls of "
            f"{members:,} ranks, of {format_bytes(int(np.min(sizes)), 4)} to "
            f"{format_bytes(int(np.max(sizes)), 4)} each rank, one after the other in the file."
        )
    if known.independent:
        said.append(
            f"{known.independent:,} independent {kind}, taken to be the smallest"
            f"{'' if known.independent >= members else ', of rank 0 alone'}."
        )
    holes, below = calls.holes.get(direction), counted(calls.below, direction)
    if holes is not None:
        said.append(
            f"Below, POSIX moved {format_bytes(below.bytes, 4)} for {format_bytes(known.bytes, 4)} "
            f"of data: windows with holes. Data is {100 * holes.density:.0f} % of the bytes, in "
            f"runs {format_bytes(round(holes.period), 4)} apart, the ranks' pieces in turn."
        )
    elif below.extent > 1.01 * known.bytes > 0 and direction in calls.holed:
        said.append(
            f"The last byte is number {below.extent - 1:,} for {known.bytes:,} bytes of data: "
            f"{calls.holed[direction]}."
        )
    elif not below.calls:
        said.append(
            f"There is no record of POSIX below the {kind}: the pieces are taken to lie side by "
            "side, without holes."
        )
    return said
