"""Operations at the MDS: turns of a node, precreated objects, directories, fsync; and ranges."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_plane import KIB, OSTS, PAGE, RPC, Program, SmallPlane, Step

from xc40io.plane.causes import Cause
from xc40io.plane.counters import Stat
from xc40io.plane.operations import Op
from xc40io.plane.stations import StationKind

IN_TURN = [Op.OPEN, Op.CREATE, Op.UNLINK, Op.MKDIR]


def round_trip(plane: SmallPlane) -> float:
    """Return what an operation takes at least, in seconds: there and back, and the MDS's own."""
    return 2 * plane.tables.mds.latency + plane.machine.lustre.mds.op_latency


@pytest.mark.parametrize("kind", [*IN_TURN, Op.CLOSE])
def test_a_node_has_one_rpc_in_flight_that_modifies_or_opens(kind: Op) -> None:
    ranks = 12
    together, apart = SmallPlane(1, ranks), SmallPlane(ranks, 1)
    slowest = [
        plane.run([[Step(kind, file)] for file in plane.add_files(ranks)]).max()
        for plane in (together, apart)
    ]
    assert slowest[0] >= ranks * round_trip(together)
    assert slowest[1] < 3 * round_trip(apart)


@pytest.mark.parametrize(("places", "ranks"), [(8, 3), (8, 8), (8, 9), (8, 24), (3, 12), (1, 5)])
def test_a_node_has_so_many_stats_in_flight(places: int, ranks: int) -> None:
    """The next goes when the MDT has answered one, while that asks the OSTs for its size."""
    plane = SmallPlane(1, ranks, lustre__mds__max_rpcs_in_flight=places)
    files = plane.add_files(ranks, shared_directory=False)
    took = plane.run([[Step(Op.STAT, file)] for file in files])
    rounds = -(-ranks // places)
    assert rounds * round_trip(plane) <= took.max() < (rounds + 1.5) * round_trip(plane)
    assert (plane.tables.mds.mdcs.in_flight == 0).all()
    assert (plane.tables.mds.mdcs.stats.head == -1).all()


def test_stats_of_two_nodes_and_of_directories_are_in_flight_together() -> None:
    """A directory has no objects to be asked: its place is free all the same."""
    plane = SmallPlane(2, 2, lustre__mds__max_rpcs_in_flight=1)
    first = plane.plane.namespace.add_names(np.zeros(4, np.int32))
    directories = range(first, first + 4)
    took = plane.run([[Step(Op.STAT, directory)] * 3 for directory in directories])
    assert took.max() == pytest.approx(6 * round_trip(plane), rel=0.1)


def test_a_stat_does_not_wait_for_an_operation_that_modifies() -> None:
    plane = SmallPlane(1, 2, lustre__mds__max_rpcs_in_flight=1)
    files = plane.add_files(2)
    steps = [[Step(Op.MKDIR, files[0])] * 9, [Step(Op.STAT, files[1])]]
    took = plane.run(steps)
    assert took[1] < 3 * round_trip(plane)


@settings(max_examples=40)
@given(
    st.integers(1, 12),
    st.integers(1, 4),
    st.integers(1, OSTS),
    st.sampled_from([100, 1000, 20_000]),
    st.integers(1, 50),
)
def test_a_storm_of_creates_takes_what_the_osts_need_for_the_objects(
    nodes: int, rounds: int, stripes: int, rate: int, stock: int
) -> None:
    few, many = (
        SmallPlane(nodes, 1, lustre__mds__precreated=there, lustre__mds__precreate_rate=rate)
        for there in (stock, 10_000)
    )
    took = []
    for plane in (few, many):
        files = plane.add_files(nodes * rounds, stripes)
        programs: list[Program] = [
            [Step(Op.CREATE, file) for file in files[node::nodes]] for node in range(nodes)
        ]
        took.append(plane.run(programs).max())
    objects = few.tables.files.objects
    needed = (np.bincount(objects.ost).max() - stock) / rate
    assert took[0] >= max(took[1], needed)


def test_creates_stall_when_the_objects_run_out_and_recover() -> None:
    plane = SmallPlane(1, 1, lustre__mds__precreated=4, lustre__mds__precreate_rate=1000)
    files = plane.add_files(4 * 200)
    storm = [Step(Op.CREATE, file) for file in files[::4]]
    first = plane.run([storm[:100]])[0]
    pause = [Step(Op.THINK, seconds=1.0)]
    later = plane.run([pause + storm[100:]])[0] - 1.0
    # The stock has grown meanwhile: the same number of creates finds enough.
    assert later < first
    assert later < 100 * 1.5 * round_trip(plane)


@pytest.mark.parametrize("kind", [Op.CREATE, Op.UNLINK])
def test_a_wide_file_pays_for_every_stripe(kind: Op) -> None:
    took = []
    for stripes in (1, OSTS):
        plane = SmallPlane(1)
        plane.add_files(1, stripes)
        took.append(plane.run([[Step(kind)]])[0])
    expected = (OSTS - 1) * plane.machine.lustre.mds.stripe_time
    assert took[1] - took[0] == pytest.approx(expected)


def test_creators_of_one_directory_queue_for_it() -> None:
    took = []
    for shared in (True, False):
        plane = SmallPlane(16, 1, lustre__mds__directory_rate=1000)
        files = plane.add_files(16, shared_directory=shared)
        took.append(plane.run([[Step(Op.CREATE, file)] for file in files]).max())
    assert took[0] >= 16 / 1000
    assert took[1] < 16 / 1000


def test_several_mdts_share_the_work() -> None:
    took = []
    for mdts in (1, 4):
        plane = SmallPlane(16, 1, lustre__mds__mdts=mdts, lustre__mds__create_rate=1000)
        dealt = np.arange(16, dtype=np.int32) % mdts
        files = plane.add_files(16, shared_directory=False, mdts=dealt)
        took.append(plane.run([[Step(Op.CREATE, file)] for file in files]).max())
    assert took[0] == pytest.approx(4 * took[1], rel=0.2)


@pytest.mark.parametrize("ranks", [1, 5])
def test_an_fsync_asks_the_mds_and_every_object(ranks: int) -> None:
    plane = SmallPlane(1, ranks)
    plane.add_files(1, 3)
    plane.run([[Step(Op.FSYNC)]] * ranks)
    assert plane.stat(Stat.MDS_SYNCS) == ranks
    assert plane.stat(Stat.OST_SYNCS) == 3 * ranks


def test_ranks_of_a_node_sync_one_after_another() -> None:
    took = []
    for nodes, per_node in ((1, 8), (8, 1)):
        plane = SmallPlane(nodes, per_node)
        plane.add_files()
        took.append(plane.run([[Step(Op.FSYNC)]] * 8).max())
        assert (plane.tables.programs.waits[Cause.MUTEX].max() > 0) == (per_node > 1)
    assert took[0] > 6 * took[1]


def test_an_fsync_waits_for_what_others_of_the_node_have_dirty_and_not_for_other_nodes() -> None:
    plane = SmallPlane(2, 2, lustre__ost_write_rate="10 MB/s")
    plane.add_files(2)
    later = Step(Op.THINK, seconds=2e-3)
    small = Step(Op.WRITE, length=8 * KIB)
    other_file = Step(Op.WRITE, 1, length=8 * KIB)
    plane.run([[small], [later, Step(Op.FSYNC)], [other_file], []])
    assert plane.tables.programs.waits[Cause.FLUSH, 1] > 0
    assert plane.tables.osc.clients.dirty.tolist() == [0, 8 * KIB]


def test_a_second_fsync_commits_nothing() -> None:
    plane = SmallPlane(1)
    plane.add_files()
    write = Step(Op.WRITE, length=RPC)
    first = plane.run([[write, Step(Op.FSYNC)]])[0]
    again = plane.run([[Step(Op.FSYNC)]])[0]
    assert first > plane.machine.lustre.journal_commit > again


@settings(max_examples=40)
@given(st.lists(st.tuples(st.integers(0, 20), st.integers(1, 8)), min_size=2, max_size=6))
def test_writers_of_a_node_exclude_each_other_where_they_overlap(
    extents: list[tuple[int, int]],
) -> None:
    """Direct writes: nobody's call is under way while an overlapping one is."""
    plane = SmallPlane(1, len(extents), lustre__ost_write_rate="10 MB/s", nodes__call_time=0)
    plane.add_files(1, 2, direct=True)
    programs: list[Program] = [
        [Step(Op.WRITE, offset=start * PAGE, length=size * PAGE)] for start, size in extents
    ]
    took = plane.run(programs)
    waits = plane.tables.programs.waits
    began = waits[Cause.RANGE]  # all start together
    for i, (start, size) in enumerate(extents):
        for j, (other, length) in enumerate(extents[:i]):
            if start < other + length and other < start + size:
                assert began[i] >= took[j] - 1e-12 or began[j] >= took[i] - 1e-12
    if all(
        start + size <= other or other + length <= start
        for i, (start, size) in enumerate(extents)
        for other, length in extents[:i]
    ):
        assert not began.any()


def test_the_same_range_of_two_files_or_of_two_nodes_is_free() -> None:
    write = Step(Op.WRITE, length=RPC)
    for nodes, per_node, programs in (
        (1, 2, [[write], [write._replace(file=1)]]),
        (2, 1, [[write], [write]]),
    ):
        plane = SmallPlane(nodes, per_node)
        plane.add_files(2, direct=True)
        plane.run(programs)
        assert not plane.tables.programs.waits[Cause.RANGE].any()
        assert plane.served(StationKind.OST).sum() == 2 * RPC


def test_a_directory_has_no_size_to_be_asked_for() -> None:
    plane = SmallPlane(1)
    (file,) = plane.add_files()
    directory = plane.plane.namespace.add_names(np.zeros(1, np.int32))
    took = plane.run([[Step(Op.MKDIR, directory), Step(Op.STAT, directory)]])[0]
    assert plane.stat(Stat.GLIMPSES) == 0
    assert took < 2 * 1.5 * round_trip(plane)
    plane.run([[Step(Op.STAT, file)]])
    assert plane.stat(Stat.GLIMPSES) == 1


def test_renames_go_one_after_another_in_the_whole_file_system() -> None:
    plane = SmallPlane(16, 1, lustre__mds__directory_rate=1000)
    first = plane.plane.namespace.add_names(np.zeros(16, np.int32), shared_directory=False)
    took = plane.run([[Step(Op.RENAME, first + node)] for node in range(16)])
    assert took.max() >= 16 * 2 / 1000  # one name is taken out, another put in


@pytest.mark.parametrize("files", [1, 7])
def test_a_sync_writes_back_all_files_at_once_and_commits_nothing(files: int) -> None:
    plane = SmallPlane(1)
    numbers = plane.add_files(files)
    dirty = [Step(Op.WRITE, file, length=PAGE) for file in numbers]
    sync = Step(Op.WRITE_OUT, numbers[0], count=files)
    took = plane.run([[*dirty, sync]])[0]
    assert plane.served(StationKind.OST).sum() == files * PAGE
    assert plane.stat(Stat.MDS_SYNCS) == plane.stat(Stat.OST_SYNCS) == 0
    one = SmallPlane(1)
    alone = one.run([[Step(Op.WRITE, *one.add_files(), length=PAGE), Step(Op.WRITE_OUT, count=1)]])
    assert took < 5 * alone[0]
    assert plane.run([[sync]])[0] == 0.0


def test_a_sync_of_very_many_files_that_nobody_has_used_takes_no_time() -> None:
    plane = SmallPlane(1)
    first = plane.plane.namespace.add_names(np.zeros(5000, np.int32))
    assert plane.run([[Step(Op.WRITE_OUT, first, count=5000)]])[0] == 0.0


def test_readers_of_directories_wait_for_the_mds_that_has_all_the_names() -> None:
    plane = SmallPlane(4, 3, lustre__mds__readdir_rate=1000)
    first = plane.plane.namespace.add_names(np.zeros(1, np.int32))
    took = plane.run([[Step(Op.READDIR, first, count=50)] for _ in range(12)])
    assert sorted(took.tolist())[0] == pytest.approx(0.05 + round_trip(plane), rel=0.05)
    assert took.max() == pytest.approx(12 * 0.05 + round_trip(plane), rel=0.05)


@settings(max_examples=15)
@given(st.integers(1, 30), st.floats(0.05, 0.95))
def test_items_end_at_the_first_that_begins_too_late(items: int, share: float) -> None:
    plane, deadline = SmallPlane(1), share * items
    program = [Step(Op.MARK, mark=1)]
    for left in range(items, 0, -1):
        # What is left out: the second this item takes, and both steps of those that follow.
        program.append(Step(Op.ITEM, mark=1, seconds=deadline, count=2 * left - 1))
        program.append(Step(Op.THINK, seconds=1.0))
    took = plane.run([program])[0]
    assert took == plane.tables.programs.rows.calls[0] == int(deadline) + 1


def test_a_node_sends_to_several_mdts_at_a_time() -> None:
    took = []
    for mdts in (1, 4):
        plane = SmallPlane(1, 4, lustre__mds__mdts=mdts)
        dealt = np.arange(4, dtype=np.int32) % mdts
        files = plane.add_files(4, mdts=dealt, shared_directory=False)
        took.append(plane.run([[Step(Op.CREATE, file)] for file in files]).max())
    assert took[0] > 3.5 * took[1]
