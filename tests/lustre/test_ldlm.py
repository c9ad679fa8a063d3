"""Extent locks between nodes and OSTs: the traffic that accesses cause, and what always holds."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given, settings
from plans import Plan, plans
from small_plane import KIB, PAGE, RPC, SmallPlane, Step

from xc40io.engine.pool import live_rows
from xc40io.engine.types import Table
from xc40io.lustre.ldlm import LockState
from xc40io.lustre.locks import MODE_PR, MODE_PW
from xc40io.plane.counters import Stat
from xc40io.plane.operations import Op

some = settings(max_examples=60)
anything = plans(Op.READ, Op.WRITE, Op.FSYNC, Op.STAT, Op.THINK)

WRITE = Step(Op.WRITE, length=RPC)
READ = Step(Op.READ, length=RPC)


def locks_of(plane: SmallPlane) -> Table:
    """Return all locks, granted or asked for."""
    locks = plane.tables.locks
    return locks.locks[live_rows(locks.spare_locks)]


def assert_locks_exclude(plane: SmallPlane) -> None:
    granted = [lock for lock in locks_of(plane) if lock.granted]
    for one, other in combinations(granted, 2):
        if one.resource == other.resource and (one.mode != MODE_PR or other.mode != MODE_PR):
            assert one.end < other.start or other.end < one.start
    assert all(lock.flush_left >= 0 for lock in granted if lock.state == LockState.FLUSHING)


@some
@given(anything)
def test_no_two_locks_that_exclude_each_other_are_granted_together(plan: Plan) -> None:
    plan.plane(size=1 << 20).run(plan.programs, assert_locks_exclude)


@some
@given(anything)
def test_every_request_is_granted_and_every_lock_given_back_or_kept(plan: Plan) -> None:
    plane = plan.plane(size=1 << 20)
    plane.run(plan.programs)  # ends, so that nobody waits for ever
    locks = locks_of(plane)
    assert (locks.state == LockState.HELD).all()
    assert not locks.users.any()
    assert not locks.blocked.any()
    assert len(locks) == plane.stat(Stat.ENQUEUES) - plane.stat(Stat.CANCELS)
    assert plane.tables.osc.obds.lru_count.sum() == len(locks)


@some
@given(anything)
def test_every_chunk_finds_a_lock_or_asks_for_one(plan: Plan) -> None:
    plane = plan.plane(size=1 << 24)
    plane.run(plan.programs)
    chunks = 0
    for program in plan.programs:
        for step in program:
            for call in range(step.count if step.kind in (Op.READ, Op.WRITE) else 0):
                start = step.offset + call * step.stride
                last = start + step.length - 1
                cuts = last // plan.stripe_size - start // plan.stripe_size
                chunks += 1 + (cuts if plan.stripes > 1 else 0)  # one object: never cut
    assert plane.stat(Stat.MATCHES) + plane.stat(Stat.ENQUEUES) == chunks


def test_one_writer_of_an_object_asks_once() -> None:
    plane = SmallPlane(1, 4)
    plane.add_files()
    programs = [[Step(Op.WRITE, 0, i * RPC, RPC, 8, 4 * RPC), Step(Op.FSYNC)] for i in range(4)]
    plane.run([programs[0], [], [], []])
    assert (plane.stat(Stat.ENQUEUES), plane.stat(Stat.MATCHES)) == (1, 7)
    plane.run(programs)
    assert (plane.stat(Stat.ENQUEUES), plane.stat(Stat.MATCHES)) == (1, 7 + 32)
    assert plane.stat(Stat.BLOCKING_ASTS) == plane.stat(Stat.CANCELS) == 0


def test_each_change_of_hands_costs_one_blocking_ast() -> None:
    plane = SmallPlane(2)
    plane.add_files()
    plane.run([[WRITE], []])
    assert plane.stat(Stat.BLOCKING_ASTS) == 0
    for hands in range(1, 7):
        plane.run([[], [WRITE]] if hands % 2 else [[WRITE], []])
        assert plane.stat(Stat.BLOCKING_ASTS) == hands
        assert plane.stat(Stat.CANCELS) == hands
        assert plane.stat(Stat.ENQUEUES) == 1 + hands
    # Each left what it had written to the next, on disk and synced.
    assert plane.stat(Stat.CANCEL_SYNCS) == 6


@pytest.mark.parametrize("calls", [4, 64])
def test_ranks_of_one_node_take_locks_from_each_other_at_the_first_calls_only(calls: int) -> None:
    """Both ask before the node has a lock; the server does not look whose the first one is."""
    plane = SmallPlane(1, 2)
    plane.add_files()
    plane.run([[Step(Op.WRITE, 0, i * PAGE, PAGE, calls, 2 * PAGE)] for i in (0, 1)])
    assert 1 <= plane.stat(Stat.BLOCKING_ASTS) <= 2
    assert plane.stat(Stat.ENQUEUES) <= 5


def test_writers_of_two_halves_of_an_object_part_for_good() -> None:
    """While one waits, the other is granted no more than up to what the first one asks for."""
    plane = SmallPlane(2)
    plane.add_files()
    halves = [[Step(Op.WRITE, 0, i * 8 * RPC, RPC, 8, RPC)] for i in (0, 1)]
    counts = []
    for _ in range(6):
        plane.run(halves)
        counts.append(plane.stat(Stat.BLOCKING_ASTS))
    assert 1 <= counts[2] < 6
    assert counts[2:] == [counts[2]] * 4


def test_a_lock_on_a_part_of_a_call_is_not_enough() -> None:
    plane = SmallPlane(2)
    plane.add_files()
    halves = [[Step(Op.WRITE, 0, i * 8 * RPC, RPC, 8, RPC)] for i in (0, 1)]
    for _ in range(2):
        plane.run(halves)
    asked = plane.stat(Stat.ENQUEUES)
    plane.run([[Step(Op.WRITE, 0, 7 * RPC, RPC)], []])
    assert plane.stat(Stat.ENQUEUES) == asked
    plane.run([[Step(Op.WRITE, 0, 7 * RPC, 2 * RPC)], []])
    assert plane.stat(Stat.ENQUEUES) == asked + 1


def test_a_lock_that_is_asked_back_is_used_no_more() -> None:
    """Else readers that take turns at it would keep a writer waiting to their end."""
    plane = SmallPlane(2, 4)
    plane.add_files(size=8 * RPC)
    busy = [Step(Op.READ, 0, 0, 4 * RPC, 400)]
    late = [Step(Op.THINK, seconds=20e-3), WRITE]
    ends = plane.run([*[busy] * 4, late, [], [], []])
    assert ends[4] < 0.5 * ends[:4].min()


def test_readers_share_and_a_writer_takes_from_all() -> None:
    plane = SmallPlane(3)
    plane.add_files(size=RPC)
    plane.run([[READ], [READ], [READ]])
    assert plane.stat(Stat.BLOCKING_ASTS) == 0
    assert sorted(locks_of(plane).mode.tolist()) == [MODE_PR] * 3
    plane.run([[WRITE], [], []])
    assert plane.stat(Stat.BLOCKING_ASTS) == 3
    assert plane.stat(Stat.CANCEL_SYNCS) == 0  # nothing had been written
    assert locks_of(plane).mode.tolist() == [MODE_PW]
    plane.run([[READ], [], []])  # a writer may read
    assert plane.stat(Stat.ENQUEUES) == 4


@pytest.mark.parametrize("synced", [False, True])
def test_a_blocking_ast_flushes_what_is_dirty_below_the_lock(synced: bool) -> None:
    plane = SmallPlane(2)
    plane.add_files()
    small = Step(Op.WRITE, length=8 * KIB)
    plane.run([[small, Step(Op.FSYNC)] if synced else [small], []])
    plane.run([[], [small]])
    assert plane.stat(Stat.FLUSHED_BYTES) == (0 if synced else 8 * KIB)
    assert plane.stat(Stat.CANCEL_SYNCS) == (0 if synced else 1)


def test_a_conflict_costs_a_journal_commit() -> None:
    took = []
    for commit in ("1 ms", "41 ms"):
        plane = SmallPlane(2, lustre__journal_commit=commit, lustre__ost_spread=0)
        plane.add_files()
        plane.run([[WRITE], []])
        took.append(plane.run([[], [WRITE]])[0])
    assert took[1] - took[0] == pytest.approx(40e-3, rel=1e-6)


def test_unused_locks_go_when_there_are_too_many() -> None:
    """Each node keeps a number of locks for an OST; the one unused longest goes first."""
    plane = SmallPlane(1, nodes__cores=4, lustre__unused_locks_per_core=2)
    files = plane.add_files(40, size=PAGE)
    plane.run([[Step(Op.READ, file, length=PAGE) for file in files]])
    assert plane.stat(Stat.ENQUEUES) == 40
    assert plane.tables.osc.obds.lru_count.tolist() == [8] * 4
    assert plane.stat(Stat.LRU_CANCELS) == plane.stat(Stat.CANCELS) == 40 - 4 * 8
    assert sorted(locks_of(plane).resource.tolist()) == list(files[8:])
    # What lay below a lock that went is read again, the rest is in the cache.
    plane.run([[Step(Op.READ, file, length=PAGE) for file in reversed(files)]])
    assert plane.stat(Stat.HIT_BYTES) == 32 * PAGE


def test_a_stat_asks_every_object_and_its_writer() -> None:
    plane = SmallPlane(2)
    plane.add_files(1, 3)
    plane.run([[Step(Op.WRITE, length=3 * RPC)], []])
    plane.run([[Step(Op.STAT)], []])
    # Its own node's locks tell nothing new.
    assert (plane.stat(Stat.GLIMPSES), plane.stat(Stat.GLIMPSE_ASTS)) == (3, 0)
    plane.run([[], [Step(Op.STAT)]])
    assert (plane.stat(Stat.GLIMPSES), plane.stat(Stat.GLIMPSE_ASTS)) == (6, 3)
    assert plane.stat(Stat.BLOCKING_ASTS) == 0
