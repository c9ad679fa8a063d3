"""The page cache: no dirty byte is lost, none is written twice, and the node keeps its limits."""

from __future__ import annotations

import numpy as np
import pytest
from cache_contents import cached_runs
from hypothesis import given, settings
from hypothesis import strategies as st
from plans import Plan, disjoint_writes, plans
from small_plane import KIB, OSTS, PAGE, RPC, SmallPlane, Step

from xc40io.engine.pool import Pool, live_rows
from xc40io.lustre.ldlm import LockState
from xc40io.plane.causes import Cause
from xc40io.plane.counters import Stat
from xc40io.plane.operations import Op
from xc40io.plane.stations import StationKind

some = settings(max_examples=60)
writes = plans(Op.WRITE, Op.WRITE, Op.FSYNC, Op.THINK)
anything = plans(Op.READ, Op.WRITE, Op.FSYNC, Op.STAT, Op.THINK)


def on_disk(plane: SmallPlane) -> int:
    return int(plane.served(StationKind.OST).sum())


def written_back(plane: SmallPlane, plan: Plan) -> int:
    """Return the bytes that were written to disk when programs did nothing but write.

    What else the disks served are pages at the ragged ends of writes, each read before it is
    written: who writes whole pages, or behind the end of the file, reads nothing.
    """
    read = plane.stat(Stat.MISS_BYTES)
    assert read % PAGE == 0
    assert read <= len(plan.ragged_ends()) * PAGE
    assert plane.stat(Stat.HIT_BYTES) == plane.stat(Stat.AHEAD_BYTES) == 0
    return on_disk(plane) - read


def free(pool: Pool) -> int:
    return int(pool.counts[0])


def assert_clean(plane: SmallPlane) -> None:
    """Nothing is dirty, nothing is under way, and all room has been given back."""
    tables = plane.tables
    cache = tables.cache
    osc_objects = cache.osc_objects[live_rows(cache.spare_osc_objects)]
    assert not osc_objects.unsent.any()
    assert not osc_objects.outstanding.any()
    assert not tables.cache.inodes.outstanding.any()
    assert not tables.osc.clients.dirty.any()
    assert not tables.osc.obds.dirty.any()
    assert not tables.osc.obds.in_flight.any()
    assert not tables.osc.obds.pressing.any()
    assert free(tables.cache.spare_osc_extents) == len(tables.cache.osc_extents)
    assert free(tables.bulk.spare_rpcs) == len(tables.bulk.rpcs)
    assert free(tables.network.spare_messages) == len(tables.network.messages)


@some
@given(disjoint_writes())
def test_every_byte_is_written_once(plan: Plan) -> None:
    plane = plan.plane()
    plane.run(plan.programs)
    # What has not been written yet is dirty.
    dirty = int(plane.tables.osc.obds.dirty.sum())
    assert written_back(plane, plan) + dirty == plan.written() == plan.covered()
    plane.run(plan.synced())
    assert written_back(plane, plan) == plan.written()
    assert_clean(plane)


@some
@given(disjoint_writes())
def test_every_byte_reaches_the_ost_that_it_belongs_to(plan: Plan) -> None:
    plane = plan.plane()
    plane.run(plan.programs)
    plane.run(plan.synced())
    expected = np.zeros(OSTS)
    for program in plan.programs:
        for step in program:
            byte = np.arange(step.offset, step.offset + step.length)
            stripe = byte // plan.stripe_size % plan.stripes
            expected += np.bincount(stripe, minlength=OSTS)
    read = plane.served(StationKind.OST) - expected
    ragged = np.array(plan.ragged_ends(), np.int64) // plan.stripe_size % plan.stripes
    assert not (read % PAGE).any()
    assert (read >= 0).all()
    assert (read <= PAGE * np.bincount(ragged, minlength=OSTS)).all()
    assert read.sum() == plane.stat(Stat.MISS_BYTES)


@some
@given(writes)
def test_bytes_written_over_before_they_left_are_written_once(plan: Plan) -> None:
    plane = plan.plane()
    plane.run(plan.programs)
    plane.run(plan.synced())
    assert plan.covered() <= written_back(plane, plan) <= plan.written()
    assert_clean(plane)


@some
@given(writes)
def test_direct_io_writes_all_that_is_asked_for(plan: Plan) -> None:
    plane = plan.plane(direct=True)
    plane.run(plan.programs)
    assert on_disk(plane) == plan.written()
    assert_clean(plane)


def assert_cache_is_under_locks(plane: SmallPlane) -> None:
    """What a node caches lies below locks that it holds, and is as much as it counts."""
    tables = plane.tables
    locks = tables.locks.locks[live_rows(tables.locks.spare_locks)]
    with_client = [LockState.HELD, LockState.ASKED_BACK, LockState.FLUSHING]
    held = locks[np.isin(locks.state, with_client)]
    cached = np.zeros(plane.nodes, np.int64)
    for osc_object_id, start, stop in cached_runs(plane):
        osc_object = tables.cache.osc_objects[osc_object_id]
        cached[osc_object.node] += stop - start
        own = held[(held.resource == osc_object["object"]) & (held.owner == osc_object.node)]
        at = start
        for lock in own[np.argsort(own.start)]:
            if lock.start <= at <= lock.end:
                at = int(lock.end) + 1
        assert at >= stop, f"bytes {at} to {stop} are cached without a lock"
    assert cached.tolist() == tables.cache.nodes.cached.tolist()


@some
@given(anything)
def test_only_what_a_lock_covers_is_cached(plan: Plan) -> None:
    plan.plane(size=1 << 20).run(plan.programs, assert_cache_is_under_locks)


def test_a_read_lock_is_kept_while_pages_below_it_are_read_under_another() -> None:
    plane = SmallPlane(2, 3)
    plane.add_files(stripe_size=RPC, size=1 << 20)
    write = [Step(Op.FSYNC), Step(Op.WRITE, 0, 32 * KIB, 12 * KIB)]
    one = [Step(Op.THINK, seconds=4e-4), Step(Op.READ, 0, 16 * KIB, 4 * KIB)]
    ahead = [
        Step(Op.READ, 0, 4 * KIB, 16 * KIB, 2, 20 * KIB),
        Step(Op.STAT),
        Step(Op.THINK, seconds=1e-4),
        Step(Op.READ, 0, 8 * KIB, 16 * KIB, 2, 12 * KIB),
        Step(Op.THINK, seconds=1.7e-3),
    ]
    plane.run([write, one, write, write, write, ahead], assert_cache_is_under_locks)


SMALL_MEMORY = 16 * RPC  # half of it for the cache


def assert_memory_suffices(plane: SmallPlane) -> None:
    cache, osc = plane.tables.cache, plane.tables.osc
    assert cache.nodes.cached.max() <= cache.max_node_cache
    assert osc.clients.dirty.max() <= osc.max_node_dirty


@some
@given(anything)
def test_a_node_never_caches_more_than_it_may(plan: Plan) -> None:
    plane = plan.plane(size=1 << 20, nodes__memory=SMALL_MEMORY)
    plane.run(plan.programs, assert_memory_suffices)


@some
@given(anything, st.booleans())
def test_all_time_of_a_program_has_one_cause(plan: Plan, direct: bool) -> None:
    plane = plan.plane(size=1 << 20, direct=direct)
    took = plane.run(plan.programs)
    busy = np.flatnonzero([bool(program) for program in plan.programs])
    waits = plane.tables.programs.waits[:, busy]
    np.testing.assert_allclose(waits.sum(axis=0), took, rtol=1e-9, atol=1e-15)
    assert waits.min() >= -1e-15


@pytest.mark.parametrize("later", [1e-3, 10e-3, 30e-3])
def test_who_joins_a_read_under_way_waits_for_the_rest_of_it(later: float) -> None:
    """The read of file 4 queues for 26 ms behind that of file 0, on the same OST."""
    slow = {"lustre__ost_read_rate": "10 MB/s", "lustre__max_rpcs_in_flight": 8}
    plane = SmallPlane(2, 2, lustre__ost_spread=0.0, nodes__read_page_time=0.0, **slow)
    plane.add_files(5, 1, 4 * RPC, size=4 * RPC)
    before, read = Step(Op.READ, 0, length=4 * RPC), Step(Op.READ, 4, length=RPC)
    think = Step(Op.THINK, seconds=1e-3)
    plane.run([[before], [], [think, read], [think._replace(seconds=1e-3 + later), read]])
    first, joined = plane.plane.waited(np.array([2, 3])).causes
    assert joined.sum() == pytest.approx(first.sum())  # they get it at the same time
    assert joined.min() >= -1e-15
    assert first[Cause.OST] > 20e-3
    assert joined[Cause.OST] <= first[Cause.OST]


def test_a_file_that_does_not_fit_is_read_again_and_one_that_does_is_not() -> None:
    for size, again in ((4 * RPC, 0), (12 * RPC, 12 * RPC)):
        plane = SmallPlane(1, nodes__memory=SMALL_MEMORY, lustre__readahead=0)
        plane.add_files(2, size=size)
        read = [[Step(Op.READ, file, length=RPC, count=size // RPC, stride=RPC) for file in (0, 1)]]
        plane.run(read)
        before = plane.stat(Stat.MISS_BYTES)
        assert before == 2 * size
        plane.run([read[0][:1]])
        assert plane.stat(Stat.MISS_BYTES) - before == again
        assert (plane.stat(Stat.EVICTED_BYTES) > 0) == (again > 0)


def test_what_is_dirty_stays_in_a_cache_that_is_too_small() -> None:
    plane = SmallPlane(1, nodes__memory=4 * RPC)
    plane.add_files()
    plane.run([[Step(Op.WRITE, length=2 * RPC), Step(Op.FSYNC), Step(Op.WRITE, 0, 2 * RPC, PAGE)]])
    assert plane.tables.osc.clients.dirty[0] == PAGE
    assert plane.tables.cache.nodes.cached[0] >= PAGE


def test_pages_that_are_on_their_way_are_not_asked_for_again() -> None:
    """The first page of an extent is on its way for 4 ms when six ask for the ninth."""
    plane = SmallPlane(1, 7, lustre__readahead=0, lustre__ost_read_rate="1 MB/s")
    plane.add_files(size=8 << 20)
    first = [Step(Op.READ, 0, 4 << 20, PAGE), Step(Op.READ, 0, 0, PAGE)]
    late = [Step(Op.THINK, seconds=5.5e-3), Step(Op.READ, 0, 8 * PAGE, PAGE)]
    plane.run([first, *([late] * 6)])
    assert on_disk(plane) == 3 * PAGE


def test_what_a_node_wrote_it_reads_from_its_memory() -> None:
    plane = SmallPlane(2)
    plane.add_files()
    write, read = Step(Op.WRITE, length=2 * RPC), Step(Op.READ, length=2 * RPC)
    plane.run([[write, read], []])
    assert plane.stat(Stat.HIT_BYTES) == 2 * RPC
    plane.run([[], [read]])
    assert plane.stat(Stat.HIT_BYTES) == 2 * RPC
    assert plane.stat(Stat.MISS_BYTES) == 2 * RPC
    assert plane.stat(Stat.FLUSHED_BYTES) <= 2 * RPC
    assert on_disk(plane) == 2 * RPC + 2 * RPC


def test_a_write_back_drops_nothing_until_the_lock_goes() -> None:
    plane = SmallPlane(2)
    plane.add_files()
    plane.run([[Step(Op.WRITE, length=RPC), Step(Op.FSYNC)], []])
    assert plane.tables.cache.nodes.cached.tolist() == [RPC, 0]
    plane.run([[], [Step(Op.WRITE, length=PAGE)]])
    assert plane.tables.cache.nodes.cached.tolist() == [0, PAGE]


@pytest.mark.parametrize("unit", [1000, PAGE, 5000, RPC, 100 * KIB])
def test_a_page_is_read_from_the_ost_once(unit: int) -> None:
    plane = SmallPlane(1)
    plane.add_files(1, 2, size=1 << 24)
    plane.run([[Step(Op.READ, length=unit, count=40, stride=unit)]])
    needed = -(-40 * unit // PAGE) * PAGE
    ahead = plane.stat(Stat.AHEAD_BYTES)
    assert needed <= on_disk(plane) <= needed + ahead
    assert plane.stat(Stat.HIT_BYTES) + plane.stat(Stat.MISS_BYTES) == 40 * unit


def test_a_reader_in_order_has_its_pages_read_ahead() -> None:
    sizes = {"lustre__readahead": 64 * RPC, "lustre__readahead_step": 64 * RPC}
    took = {}
    for jumps in (0, 1):
        plane = SmallPlane(1, **sizes)
        plane.add_files(1, 1, size=1 << 27)
        starts = [(i + jumps * i * i) * RPC for i in range(30)]  # in order, or ever further on
        took[jumps] = plane.run([[Step(Op.READ, offset=start, length=RPC) for start in starts]])[0]
        assert (plane.stat(Stat.AHEAD_BYTES) > 0) == (jumps == 0)
    assert took[0] < took[1]


def test_a_long_read_has_its_pages_on_their_way_together() -> None:
    took = {}
    for ahead in (0, 64 * RPC):
        plane = SmallPlane(1, lustre__readahead=ahead)
        plane.add_files(1, 4, size=1 << 27)
        locked = [Step(Op.READ, offset=i * RPC, length=PAGE) for i in range(4)]  # each object
        plane.run([locked])
        took[ahead] = plane.run([[Step(Op.READ, offset=8 * RPC, length=32 * RPC)]])[0]
        assert plane.stat(Stat.HIT_BYTES) + plane.stat(Stat.MISS_BYTES) == 32 * RPC + 4 * PAGE
    assert 2 * took[64 * RPC] < took[0]


@pytest.mark.parametrize(
    ("offset", "length", "rounds"),
    [
        (0, 128, 1),
        (4096, 128, 1),
        (4096 - 64, 128, 2),
        (4096 - 4, 8192, 3),
        (0, 4096 + 4, 2),
    ],
)
def test_of_a_read_across_a_boundary_of_4_mib_the_rest_is_asked_for_when_its_reader_gets_there(
    offset: int, length: int, rounds: int
) -> None:
    """Nothing is read ahead, and heads take a second to move."""
    plane = SmallPlane(1, lustre__readahead=0, lustre__max_rpcs_in_flight=256)
    plane.add_files(stripes=1, stripe_size=16 << 20, size=16 << 20)
    plane.tables.disks.slowest = np.ones_like(plane.tables.disks.slowest)
    (took,) = plane.run([[Step(Op.READ, 0, offset * KIB, length * KIB)]])
    assert rounds <= took < rounds + 0.5


# ---------------------------------------------------------------- the tree of a file's cached pages


@pytest.mark.parametrize(("kind", "turns"), [(Op.WRITE, 4), (Op.READ, 1)])
def test_who_use_one_file_share_its_tree_of_pages_and_who_use_many_do_not(
    kind: Op, turns: int
) -> None:
    seconds = 400e-6  # of a page that is written
    times = []
    for files in (1, 4):
        plane = SmallPlane(
            1,
            4,
            nodes__tree_page_time=seconds,
            nodes__spinlock_handover_time=0.0,
            lustre__max_dirty=64 * RPC,
        )
        plane.add_files(files, stripes=4, size=32 * RPC)
        programs = [[Step(kind, i % files, i * 8 * RPC, 8 * RPC)] for i in range(4)]
        times.append(plane.run(programs).max())
    assert times[0] >= 32 * RPC / PAGE * seconds * turns / 4
    assert times[1] < 0.5 * times[0]


def test_the_threads_of_a_rank_wait_for_the_tree_as_one_core() -> None:
    """Three ranks hand its lock over for each page of those that are not first, threads do not."""

    def longest(handover: float, programs: list[list[Step]]) -> float:
        plane = SmallPlane(1, 4, nodes__spinlock_handover_time=handover, lustre__max_dirty=64 * RPC)
        plane.add_files(stripes=4)
        return float(plane.run(programs).max())

    write = [Step(Op.WRITE, 0, i * 4 * RPC, 4 * RPC) for i in range(3)]
    ranks: list[list[Step]] = [[], *([step] for step in write)]
    threads = [[Step(Op.FORK, count=3), Step(Op.JOIN)], *([Step(Op.PARK), step] for step in write)]
    assert longest(1e-3, threads) == longest(0.0, threads)
    assert longest(1e-3, ranks) > longest(0.0, ranks) + 4 * RPC / PAGE * 1e-3


def _take_away(seconds: float, others: int = 0) -> float:
    """Return how long a node waits to write a page of an object that another one has 64 pages of.

    Meanwhile ``others`` of the holder's ranks write 1,024 pages each of other objects.
    """
    plane = SmallPlane(
        2,
        3,
        nodes__tree_page_time=seconds,
        nodes__spinlock_handover_time=0.0,
        lustre__max_dirty=256 * RPC,
        lustre__initial_grant=256 * RPC,
    )
    plane.add_files(stripes=4, stripe_size=64 * RPC)
    plane.run([[Step(Op.WRITE, 0, 0, 4 * RPC), Step(Op.FSYNC)]])
    assert plane.tables.cache.nodes.cached[0] == 4 * RPC
    busy = [[Step(Op.WRITE, 0, (i + 1) * 64 * RPC, 64 * RPC)] for i in range(others)]
    late = [Step(Op.THINK, seconds=1e-3), Step(Op.WRITE, 0, 0, PAGE)]
    took = plane.run([*busy, *([[]] * (3 - others)), late])
    assert plane.stat(Stat.BLOCKING_ASTS) == 1
    return float(took[-1])


def test_pages_below_a_lock_that_is_given_up_leave_the_tree_one_by_one() -> None:
    """64 pages at a turn each, then the four turns of the page that is written."""
    turn = 25e-6
    longer = _take_away(4 * turn) - _take_away(1e-12)
    assert (64 + 3) * turn <= longer <= (64 + 4) * turn


def test_who_drops_pages_waits_for_as_many_turns_of_each_writer() -> None:
    """An RPC of a writer is 16 pages of four turns each: as many turns as the 64 dropped pages."""
    turn = 250e-6
    alone, beside = _take_away(4 * turn), _take_away(4 * turn, others=2)
    assert 64 * turn < beside - alone < (2 * 64 + 2 * 4) * turn
