"""The calls of a file that was accessed through POSIX alone, from its counters."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sim.engine.types import Floats, Integers
from sim.workloads.darshan_log.counters import SHARED, Counters, Direction
from sim.workloads.darshan_log.offsets import offsets_of
from sim.workloads.darshan_log.rows import Rows, join, keep_in_sessions, make_rows, spread
from sim.workloads.darshan_log.sessions import Sessions, sessions_of
from sim.workloads.darshan_log.sharing import active_ranks, calls_spread, deal, place
from sim.workloads.darshan_log.sizes import sizes_of
from sim.workloads.trace.block import TraceOp

DIRECTIONS: tuple[tuple[Direction, TraceOp], ...] = (
    ("READ", TraceOp.READ),
    ("WRITE", TraceOp.WRITE),
)


class Counted(NamedTuple):
    """Reads or writes of a record: how many, of how many bytes, and where the last one ended."""

    calls: int
    bytes: int
    extent: int
    seconds: float

    @property
    def took(self) -> float:
        """Seconds of a call on average."""
        return self.seconds / max(1, self.calls)


def counted(record: Counters, direction: Direction) -> Counted:
    """Return the reads or writes that POSIX records count."""
    read = direction == "READ"
    size = record.total("BYTES_READ" if read else "BYTES_WRITTEN")
    largest = record.largest("MAX_BYTE_READ" if read else "MAX_BYTE_WRITTEN")
    return Counted(
        record.total(f"{direction}S"),
        size,
        largest + 1 if size or largest else 0,
        record.seconds(f"F_{direction}_TIME"),
    )


def posix_rows(record: Counters, ranks: int, *, creates: bool) -> Rows:
    """Return the calls of one record: of one rank, or of all ranks together.

    Parameters
    ----------
    record
        One row of counters.
    ranks
        Of the job.
    creates
        Whether the file is new: the first open creates it.
    """
    shared = int(record.rank[0]) == SHARED
    members = np.arange(ranks) if shared else record.rank
    opens, stats = record.total("OPENS"), record.total("STATS")
    sessions = sessions_of(record, -(-opens // len(members)), 2 * opens + stats)
    parts = [_opens(members, opens, sessions, creates=creates)]
    parts.append(_stats(members, stats, sessions))
    if shared:
        parts.extend(_shared(record, direction, op, ranks) for direction, op in DIRECTIONS)
    else:
        parts.append(_own(record))
    parts.append(_syncs(record, active_ranks(record, ranks) if shared else members))
    parts[2:] = [keep_in_sessions(part, sessions.opened, sessions.closed) for part in parts[2:]]
    if sessions.closes:
        parts.append(_closes(members, opens, sessions))
    return join(parts)


def _opens(members: Integers, opens: int, sessions: Sessions, *, creates: bool) -> Rows:
    """Return the opens of a file, dealt to ranks in turn."""
    member, turn = deal(opens, len(members))
    op = np.full(opens, TraceOp.OPEN, np.int8)
    op[: int(creates)] = TraceOp.CREATE
    return make_rows(rank=members[member], op=op, start=sessions.opened[turn], took=sessions.took)


def _stats(members: Integers, stats: int, sessions: Sessions) -> Rows:
    """Return the stats of a file: when it is first opened."""
    member, _ = deal(stats, len(members))
    return make_rows(
        rank=members[member], op=TraceOp.STAT, start=sessions.opened[0], took=sessions.took
    )


def _closes(members: Integers, opens: int, sessions: Sessions) -> Rows:
    member, turn = deal(opens, len(members))
    return make_rows(
        rank=members[member], op=TraceOp.CLOSE, start=sessions.closed[turn], took=sessions.took
    )


def _own(record: Counters) -> Rows:
    """Return the reads and writes of one rank; the most frequent sizes come first."""
    parts = []
    for direction, op in DIRECTIONS:
        known = counted(record, direction)
        sizes = sizes_of(record, direction, known.calls, known.bytes)[::-1]
        offset = offsets_of(
            sizes,
            consecutive=record.total(f"CONSEC_{direction}S"),
            sequential=record.total(f"SEQ_{direction}S"),
            strides=record.common_strides(),
            extent=known.extent,
        )
        parts.append(
            make_rows(
                rank=record.rank[0],
                op=np.full(known.calls, op),
                offset=offset,
                length=sizes,
                start=spread(known.calls, record.window(direction), known.took),
                took=known.took,
            )
        )
    return join(_alternating(record, *parts))


def _alternating(record: Counters, reads: Rows, writes: Rows) -> tuple[Rows, Rows]:
    """Alternate reads and writes as often as recorded, if they were made at the same time."""
    window, other = record.window("READ"), record.window("WRITE")
    if not (len(reads.rank) and len(writes.rank) and window and other):
        return reads, writes
    first, end = max(window[0], other[0]), min(window[1], other[1])
    if first >= end:
        return reads, writes
    begin = min(window[0], other[0])
    length = max(window[1], other[1]) - begin
    former, latter = (reads, writes) if window[0] <= other[0] else (writes, reads)
    times = alternate(len(former.rank), len(latter.rank), record.total("RW_SWITCHES"))
    return (
        former._replace(start=begin + length * times[0]),
        latter._replace(start=begin + length * times[1]),
    )


def alternate(former: int, latter: int, switches: int) -> tuple[Floats, Floats]:
    """Return places from 0 to 1 for two kinds of calls that take turns so often: float64.

    Both kinds are cut into runs of even length; a run of the former comes first.
    """
    runs = min(max(2, switches + 1), 2 * min(former, latter))
    run = np.concatenate(
        (
            2 * (np.arange(former) * -(-runs // 2) // former),
            2 * (np.arange(latter) * (runs // 2) // latter) + 1,
        )
    )
    place_of = np.empty(len(run))
    place_of[np.argsort(run, kind="stable")] = np.arange(len(run)) / len(run)
    return place_of[:former], place_of[former:]


def _shared(record: Counters, direction: Direction, op: TraceOp, ranks: int) -> Rows:
    """Return the reads or the writes of all ranks."""
    known = counted(record, direction)
    active = active_ranks(record, ranks)
    dealt = deal(known.calls, len(active))
    sizes = sizes_of(record, direction, known.calls, known.bytes)
    consecutive = record.total(f"CONSEC_{direction}S") / max(1, known.calls)
    each = -(-known.calls // len(active))
    start = spread(each, record.window(direction), known.took)
    return make_rows(
        rank=active[dealt.member],
        op=np.full(known.calls, op),
        offset=place(sizes, dealt, known.extent, consecutive=consecutive),
        length=sizes,
        start=start[dealt.turn],
        took=known.took,
    )


def _syncs(record: Counters, members: Integers) -> Rows:
    """Return the fsyncs: evenly among the writes, the last one after them."""
    count = record.total("FSYNCS") + record.total("FDSYNCS")
    window = record.window("WRITE") or record.window("READ") or (0.0, 0.0)
    member, turn = deal(count, len(members))
    start = calls_spread(-(-count // len(members)), window, 0.0)
    return make_rows(rank=members[member], op=np.full(count, TraceOp.FSYNC), start=start[turn])
