"""What ranks did around the reads and writes that DXT recorded: opens, closes, stats and syncs.

The counters say how many there were, and how long they took; the pauses of DXT say when.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sim.engine.types import Floats, Integers
from sim.workloads.darshan_log.counters import SHARED, Counters
from sim.workloads.darshan_log.rows import Rows, join, make_rows
from sim.workloads.darshan_log.sessions import Sessions, sessions_of
from sim.workloads.darshan_log.sharing import deal
from sim.workloads.darshan_log.syncs import joined_with, syncs_after
from sim.workloads.trace.block import TraceOp

Mask = npt.NDArray[np.bool_]


def rows_around(
    data: Rows, record: Counters, ranks: int, *, creates: bool, meets: bool = True
) -> tuple[Rows, Rows]:
    """Return the opens and stats, and the syncs and closes, of one record of POSIX.

    Of what begins at the same time, the former go before the reads and writes, the latter after.

    Parameters
    ----------
    data
        Its reads and writes, sorted by rank and, for each, by time.
    record
        One row of counters: of one rank, or of all ranks together.
    ranks
        Of the job.
    creates
        Whether the file is new: the first open creates it.
    meets
        Whether ranks may have met at barriers: before they opened it again, where it shows.
    """
    shared = int(record.rank[0]) == SHARED
    members = np.arange(ranks) if shared else record.rank
    opens, stats = record.total("OPENS"), record.total("STATS")
    sessions = sessions_of(record, -(-opens // len(members)), 2 * opens + stats)
    count = record.total("FSYNCS") + record.total("FDSYNCS")
    slowest = _slowest(data, record, len(members)) if shared else None
    syncs = syncs_after(data, members, count, record.seconds("F_WRITE_TIME"), slowest=slowest)
    busy = joined_with(data, syncs)
    times = _times_of(busy, members, opens, sessions)
    barriers = join([])
    if shared and meets and _have_met(times):
        times, barriers = _meeting(times, sessions.took)
    times = _with_long_opens(times, record.seconds("F_META_TIME"))
    opening, closing = _opens_and_closes(times, sessions, creates=creates)
    member, _ = deal(stats, len(members))
    op = np.full(stats, TraceOp.STAT, np.int8)
    stat = make_rows(rank=members[member], op=op, start=sessions.opened[0], took=sessions.took)
    return join([barriers, opening, stat]), join([*syncs, closing])


def _slowest(data: Rows, record: Counters, members: int) -> tuple[int, float]:
    """Return the slowest rank of all, and for how long it synced.

    Its time is that of its reads, its writes and its syncs, and of opens and closes, for which that
    of all ranks is evenly divided.
    """
    rank = record.largest("SLOWEST_RANK")
    moved = float(data.took[data.rank == rank].sum())
    meta = record.seconds("F_META_TIME") / members
    return rank, max(record.seconds("F_SLOWEST_RANK_TIME") - moved - meta, 0.0)


class _Times(NamedTuple):
    """When ranks opened a file and closed it again: columns (opens,), by turn and then rank.

    Attributes
    ----------
    rank, turn
        int64: who, and the how-manieth time.
    opened, closed, took
        float64: when, and for how long it opened the file, in seconds.
    begin
        float64: when its first call after it began; NaN if there was none.
    """

    rank: Integers
    turn: Integers
    opened: Floats
    closed: Floats
    took: Floats
    begin: Floats


def _opens_and_closes(times: _Times, sessions: Sessions, *, creates: bool) -> tuple[Rows, Rows]:
    """Return the opens and the closes of a file, each rank's in their order."""
    opens = len(times.rank)
    op = np.full(opens, TraceOp.OPEN, np.int8)
    op[: int(creates)] = TraceOp.CREATE
    opening = make_rows(rank=times.rank, op=op, start=times.opened, took=times.took)
    if not sessions.closes:
        return opening, join([])
    op = np.full(opens, TraceOp.CLOSE, np.int8)
    return opening, make_rows(rank=times.rank, op=op, start=times.closed, took=sessions.took)


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
        op=np.full(start.size, TraceOp.BARRIER, np.int8),
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
    """Sessions of ranks as their calls show them: columns (sessions,), sorted by ``key``.

    Attributes
    ----------
    key
        int64: the place of the rank among the members, times the most sessions of one, plus the
        how-manieth of the rank it is.
    begin, end
        When its first call began and its last one ended.
    is_last
        Whether it is the rank's last.
    """

    key: Integers
    begin: Floats
    end: Floats
    is_last: Mask


def _times_of(busy: Rows, members: Integers, opens: int, sessions: Sessions) -> _Times:
    """Return when each rank opened and closed a file.

    A rank that opened the file several times closed and opened it in its longest pauses. Its first
    open is that of all ranks; it closed the file as long after its last call as the last of all
    ranks did. Sessions without calls are spread evenly.
    """
    member, turn = deal(opens, len(members))
    opened, closed = sessions.opened[turn], sessions.closed[turn]
    begin = np.full(opens, np.nan)
    own = _own_sessions(busy, members, np.bincount(member, minlength=len(members)))
    if len(own.key):
        key = member * len(sessions.opened) + turn
        place = np.minimum(np.searchsorted(own.key, key), len(own.key) - 1)
        known = own.key[place] == key
        lag = max(float(sessions.closed[-1]) - float(own.end.max()), 0.0)
        closed = np.where(known, own.end[place] + np.where(own.is_last[place], lag, 0.0), closed)
        after = np.nextafter(own.end[np.maximum(place - 1, 0)], np.inf)  # the close goes first
        reopened = np.maximum(own.begin[place] - sessions.took, after)
        opened = np.where(known & (turn > 0), reopened, opened)
        begin[known] = own.begin[place[known]]
    took = np.full(opens, sessions.took)
    return _Times(members[member], turn, opened, closed, took, begin)


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
