"""The calls of a file that was accessed through POSIX alone: from its counters, or around DXT's.

DXT has the reads and writes. How many opens, closes, stats and syncs there were besides, and how
long they took, the counters say; the pauses of DXT say when.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from xc40io.engine.types import Floats, Integers
from xc40io.workloads.darshan.call_pattern import offsets_of, passes_of, place, sizes_of
from xc40io.workloads.darshan.call_rows import (
    Rows,
    Sessions,
    deal,
    join,
    joined_with,
    make_rows,
    sessions_of,
    spread_to_end,
    syncs_after,
)
from xc40io.workloads.darshan.heat_map import HeatMap
from xc40io.workloads.darshan.module_counters import (
    DIRECTIONS,
    SHARED,
    Counters,
    Direction,
    active_ranks,
    counted,
)
from xc40io.workloads.darshan.turns import (
    ReadCosts,
    Turns,
    begun,
    rounds_of,
    sessions_in_turns,
    turns_of,
)
from xc40io.workloads.trace import TraceOp


class _Times(NamedTuple):
    """When ranks opened a file and closed it again: columns (opens,), by turn and then rank."""

    rank: Integers
    turn: Integers  # int64: opens of this rank before
    opened: Floats  # seconds
    closed: Floats
    took: Floats  # seconds that the open took
    begin: Floats  # when the rank's first call after it began; NaN if there was none


class _Metadata(NamedTuple):
    """The calls of a record that move no data, by the counters."""

    members: Integers  # int64: the ranks that it is about
    sessions: Sessions
    times: _Times  # spread evenly
    stats: Rows  # when the file is first opened
    syncs: int


def _metadata(record: Counters, ranks: int, turns: Turns | None = None) -> _Metadata:
    """Return the opens, closes and stats of one record, dealt to its ranks in turn."""
    members = record.members(ranks)
    opens, stats = record.total("OPENS"), record.total("STATS")
    sessions = sessions_of(record, -(-opens // len(members)), 2 * opens + stats)
    sessions = sessions if turns is None else sessions_in_turns(sessions, turns)
    member, turn = deal(opens, len(members))
    opened, closed = sessions.opened[turn], sessions.closed[turn]
    took, begin = np.full(opens, sessions.took), np.full(opens, np.nan)
    times = _Times(members[member], turn, opened, closed, took, begin)
    rank = members[deal(stats, len(members)).member]
    stat = make_rows(rank=rank, op=TraceOp.STAT, start=sessions.opened[0], took=sessions.took)
    syncs = record.total("FSYNCS") + record.total("FDSYNCS")
    return _Metadata(members, sessions, times, stat, syncs)


def _opens_and_closes(times: _Times, sessions: Sessions, *, creates: bool) -> tuple[Rows, Rows]:
    """Return the opens and the closes of a file, each rank's in their order."""
    op = np.full(len(times.rank), TraceOp.OPEN, np.int8)
    op[: int(creates)] = TraceOp.CREATE
    opening = make_rows(rank=times.rank, op=op, start=times.opened, took=times.took)
    closing = make_rows(rank=times.rank, op=TraceOp.CLOSE, start=times.closed, took=sessions.took)
    return opening, closing if sessions.closes else join([])


def posix_rows(
    record: Counters,
    ranks: int,
    *,
    creates: bool,
    costs: ReadCosts | None = None,
    meets: bool = False,
    heat: HeatMap | None = None,
) -> Rows:
    """Return the calls of one record, of one rank or of all ``ranks`` of the job together.

    Parameters
    ----------
    record, ranks
        One row of counters.
    creates
        Whether the file is new: the first open creates it.
    costs
        What reads take where the job ran, if that is known.
    meets
        Whether ranks may have met between their runs, where one record is of all of them; or, where
        it is of one, whether they did.
    heat
        When the ranks moved bytes through the module, if that is known.
    """
    shared = int(record.rank[0]) == SHARED
    active = active_ranks(record, ranks) if shared else record.members(ranks)
    made: dict[Direction, int] = {way: counted(record, way).calls for way, _ in DIRECTIONS}
    turns = turns_of(record, len(active), made, heat)
    known = _metadata(record, ranks, turns)
    opening, closing = _opens_and_closes(known.times, known.sessions, creates=creates)
    data = [
        _of_all_ranks(record, direction, op, active, (turns, heat), costs)
        if shared
        else _of_one_rank(record, direction, op, (turns, heat))
        for direction, op in DIRECTIONS
    ]
    busy = known.sessions.keep(join([*data, _syncs(record, known, active, (turns, heat))]))
    barriers = join([])
    if turns is not None and meets and (turns.met or not shared):
        members, between = known.members, turns.end[:-1]
        barriers = make_rows(
            rank=np.tile(members, len(between)),
            op=TraceOp.BARRIER,
            start=np.repeat(between, len(members)),
        )
    return join([opening, known.stats, busy, closing, barriers])


_When = tuple[Turns | None, HeatMap | None]
"""What is known of when ranks made their calls; the former goes before the latter."""


def _syncs(record: Counters, known: _Metadata, active: Integers, when: _When) -> Rows:
    """Return the syncs, evenly among the writes; the last one is after all of them."""
    each = -(-known.syncs // len(active))
    member, turn = deal(known.syncs, len(active))
    turns, heat = when
    if turns is None:
        window = record.window("WRITE") or record.window("READ") or (0.0, 0.0)
        pace = None if heat is None else heat.pace("WRITE", int(record.rank[0]))
        start = spread_to_end(each, window, pace)
    else:
        writes = turns.start["WRITE"]
        after = (np.arange(each) + 1) * len(writes) // max(each, 1) - 1
        start = writes[np.maximum(after, 0)] + turns.took["WRITE"]
    return make_rows(rank=active[member], op=TraceOp.FSYNC, start=start[turn])


def _of_one_rank(record: Counters, direction: Direction, op: TraceOp, when: _When) -> Rows:
    """Return the reads or the writes of one rank; the most frequent sizes come first."""
    known = counted(record, direction)
    sizes = sizes_of(record, direction, known.calls, known.bytes)[::-1]
    offset = offsets_of(
        sizes,
        consecutive=record.total(f"CONSEC_{direction}S"),
        sequential=record.total(f"SEQ_{direction}S"),
        strides=record.common("STRIDE"),
        extent=known.extent,
    )
    start, took = _times_of_calls(record, direction, when, record.rank)
    rank = record.rank[0]
    return make_rows(rank=rank, op=op, offset=offset, length=sizes, start=start[0], took=took)


def _of_all_ranks(
    record: Counters,
    direction: Direction,
    op: TraceOp,
    active: Integers,
    when: _When,
    costs: ReadCosts | None,
) -> Rows:
    """Return the reads or the writes of all ranks that did any."""
    known, members = counted(record, direction), len(active)
    dealt = deal(known.calls, members)
    sizes = sizes_of(record, direction, known.calls, known.bytes)
    passes = passes_of(
        known.calls,
        known.bytes,
        known.extent,
        members,
        apart=known.calls - record.total(f"CONSEC_{direction}S"),
        rounds=rounds_of(record.total("OPENS"), members, when[0]),
    )
    where = dealt
    if direction == "READ" and costs is not None and record.total("BYTES_WRITTEN"):
        where = costs.written_by(dealt, known.calls, known.bytes, known.seconds)
    start, took = _times_of_calls(record, direction, when, active)
    return make_rows(
        rank=active[dealt.member],
        op=op,
        offset=place(sizes, where, known.extent, passes),
        length=sizes,
        start=start[dealt.member, dealt.turn],
        took=took,
    )


def _times_of_calls(
    record: Counters, direction: Direction, when: _When, ranks: Integers
) -> tuple[Floats, float]:
    """Return when each rank began its calls, float64 (ranks, calls), and what one took."""
    turns, heat = when
    if turns is not None:
        alike = turns.start[direction]
        return np.broadcast_to(alike, (len(ranks), len(alike))), turns.took[direction]
    known = counted(record, direction)
    each = -(-known.calls // len(ranks))
    return begun(record, direction, ranks, each, known.took, heat), known.took


def rows_around(
    data: Rows, record: Counters, ranks: int, *, creates: bool, meets: bool = True
) -> tuple[Rows, Rows]:
    """Return the opens and stats, and the syncs and closes, of one record of POSIX.

    Of what begins at the same time, the former go before the reads and writes, the latter after.

    Parameters
    ----------
    data
        Its reads and writes as DXT has them, sorted by rank and, for each, by time.
    record, ranks
        One row of counters: of one rank, or of all ranks of the job together.
    creates
        Whether the file is new: the first open creates it.
    meets
        Whether ranks may have met at barriers: before they opened it again, where it shows.
    """
    shared = int(record.rank[0]) == SHARED
    known = _metadata(record, ranks)
    members, sessions = known.members, known.sessions
    slowest = _slowest(data, record, len(members)) if shared else None
    seconds = record.seconds("F_WRITE_TIME")
    syncs = syncs_after(data, members, known.syncs, seconds, slowest=slowest)
    times = _times_of(joined_with(data, syncs), known)
    barriers = join([])
    if shared and meets and _have_met(times):
        times, barriers = _meeting(times, sessions.took)
    times = _with_long_opens(times, record.seconds("F_META_TIME"))
    opening, closing = _opens_and_closes(times, sessions, creates=creates)
    return join([barriers, opening, known.stats]), join([*syncs, closing])


def _slowest(data: Rows, record: Counters, members: int) -> tuple[int, float]:
    """Return the slowest rank of all, and for how long it synced.

    Its time is that of its reads, its writes and its syncs, and of opens and closes, for which that
    of all ranks is evenly divided.
    """
    rank = record.largest("SLOWEST_RANK")
    moved = float(data.took[data.rank == rank].sum())
    meta = record.seconds("F_META_TIME") / members
    return rank, max(record.seconds("F_SLOWEST_RANK_TIME") - moved - meta, 0.0)


def _have_met(times: _Times) -> bool:
    """Tell whether all ranks met before each open but the first.

    They did if none of them used the file again before all had closed it.
    """
    ranks = int((times.turn == 0).sum())
    if not ranks or len(times.turn) % ranks or np.isnan(times.begin).any():
        return False
    begin, closed = times.begin.reshape(-1, ranks), times.closed.reshape(-1, ranks)
    return len(begin) > 1 and bool((begin[1:].min(axis=1) >= closed[:-1].max(axis=1)).all())


def _meeting(times: _Times, took: float) -> tuple[_Times, Rows]:
    """Let ranks meet before they open the file again; return the barriers.

    What lies between the last close and the next open, all ranks compute; ``took`` is what an open
    or a close took.
    """
    ranks = int((times.turn == 0).sum())
    ended = times.closed.reshape(-1, ranks)[:-1] + took
    reopened = np.maximum(times.begin.reshape(-1, ranks)[1:].min(axis=1) - took, ended.max(axis=1))
    start = ended + (reopened - ended.max(axis=1))[:, None]
    opened = times.opened.copy()
    opened[ranks:] = np.repeat(np.nextafter(reopened, np.inf), ranks)
    barriers = make_rows(
        rank=times.rank[ranks:],
        op=TraceOp.BARRIER,
        start=start.ravel(),
        took=(reopened[:, None] - start).ravel(),
    )
    return times._replace(opened=opened), barriers


def _with_long_opens(times: _Times, seconds: float) -> _Times:
    """Let each open last until the rank's first call after it, if there was time enough for that.

    That is ``seconds``, of all opens and closes. Else ranks did something else in between.
    """
    waits = np.maximum(times.begin - times.opened, 0.0)
    if np.isnan(waits).any() or float(waits.sum()) > seconds:
        return times
    return times._replace(took=waits)


class _OwnSessions(NamedTuple):
    """Sessions of ranks as their calls show them: columns (sessions,), sorted by ``key``."""

    key: Integers  # place of the rank among the members, times the most sessions of one; + number
    begin: Floats  # of its first call
    end: Floats  # of its last call
    is_last: npt.NDArray[np.bool_]  # whether it is the rank's last


def _times_of(busy: Rows, known: _Metadata) -> _Times:
    """Return when each rank opened and closed a file.

    A rank that opened the file several times closed and opened it in its longest pauses. Its first
    open is that of all ranks; it closed the file as long after its last call as the last of all
    ranks did. Sessions without calls are spread evenly.
    """
    members, sessions, times = known.members, known.sessions, known.times
    member, turn = deal(len(times.rank), len(members))
    own = _own_sessions(busy, members, np.bincount(member, minlength=len(members)))
    if not len(own.key):
        return times
    key = member * len(sessions.opened) + turn
    place = np.minimum(np.searchsorted(own.key, key), len(own.key) - 1)
    found = own.key[place] == key
    lag = max(float(sessions.closed[-1]) - float(own.end.max()), 0.0)
    closed = own.end[place] + np.where(own.is_last[place], lag, 0.0)
    after = np.nextafter(own.end[np.maximum(place - 1, 0)], np.inf)  # the close goes first
    reopened = np.maximum(own.begin[place] - sessions.took, after)
    return times._replace(
        opened=np.where(found & (turn > 0), reopened, times.opened),
        closed=np.where(found, closed, times.closed),
        begin=np.where(found, own.begin[place], np.nan),
    )


def _own_sessions(busy: Rows, members: Integers, opens: Integers) -> _OwnSessions:
    """Cut the calls of each rank at its longest pauses: ``opens`` (members,) says how often."""
    place = np.searchsorted(members, busy.rank)
    end = busy.start + busy.took
    same = place[1:] == place[:-1]
    pause = np.where(same, busy.start[1:] - end[:-1], -np.inf)
    order = np.lexsort((-pause, place[1:]))
    turn = np.arange(len(order)) - np.searchsorted(place[1:], place[1:][order])
    begins = np.append(True, ~same)[: len(place)]
    begins[1:][order] |= same[order] & (turn < (opens - 1)[place[1:][order]])
    first = np.flatnonzero(begins)
    last = np.append(first[1:], len(place))[: len(first)] - 1
    owner = place[first]
    number = np.arange(len(first)) - np.searchsorted(owner, owner)
    is_last = np.append(owner[1:] != owner[:-1], True)[: len(owner)]
    most = max(int(opens.max(initial=0)), 1)
    return _OwnSessions(owner * most + number, busy.start[first], end[last], is_last)
