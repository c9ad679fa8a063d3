"""The disk arrays: what lies together is read at the full rate, and heads move to all else."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_plane import KIB, RPC, SmallPlane, Step

from xc40io.lustre.server.disks import first_of, slowest_of
from xc40io.plane.counters import Stat
from xc40io.plane.operations import Op
from xc40io.plane.stations import StationKind

MOVE = 0.010
CHUNK = RPC // 8
TURN = 0.008
ARRAY = {
    "lustre__disk_seek": MOVE,
    "lustre__ost_disks": 40,
    "lustre__raid_chunk": CHUNK,
    "lustre__ost_spread": 0.0,
}


def reading(*offsets: int, length: int = RPC) -> list[Step]:
    return [Step(Op.READ, 0, offset, length, 1, length) for offset in offsets]


def array_of(nodes: int, **changes: object) -> SmallPlane:
    """Return a plane with a file of one object that is read past the page caches."""
    plane = SmallPlane(nodes, 1, **(ARRAY | changes))
    plane.add_files(size=1 << 30, direct=True)
    return plane


def busy_with_heads(length: int, **changes: object) -> float:
    """Return for how long the arrays are busy with moving heads to one read."""
    busy = []
    for still in ({}, {"lustre__disk_seek": 0.0, "lustre__disk_turn": 0.0}):
        plane = array_of(1, **({"lustre__disk_turn": TURN} | changes | still))
        plane.run([reading(0, length=length)])
        stations = plane.tables.network.stations
        busy.append(float(stations.busy[stations.kind == StationKind.OST].sum()))
    return busy[0] - busy[1]


def moves(plane: SmallPlane) -> int:
    return plane.stat(Stat.HEAD_MOVES)


@pytest.mark.parametrize(
    ("length", "chunks"), [(4 * KIB, 1), (CHUNK, 1), (CHUNK + 4 * KIB, 2), (RPC, 8)]
)
def test_an_array_is_busy_with_as_many_heads_as_a_read_has_chunks(length: int, chunks: int) -> None:
    assert busy_with_heads(length) == pytest.approx(chunks * (MOVE + TURN / 2) / 40, rel=1e-4)


def test_more_than_a_stripe_moves_no_more_heads_than_a_stripe_has() -> None:
    busy = busy_with_heads(RPC, lustre__raid_stripe=RPC // 2)
    assert busy == pytest.approx(4 * (MOVE + TURN / 2) / 40, rel=1e-4)


disk_times = st.floats(0, 0.02)


@settings(max_examples=20, deadline=None)
@given(disk_times, disk_times, disk_times, st.sampled_from([1, 2, 5, 8]), st.integers(0, 99))
def test_a_read_takes_as_long_as_the_slowest_of_its_disks(
    settle: float, way: float, turn: float, disks: int, seed: int
) -> None:
    """Against heads and data at random places of a stroke, and platters at random angles."""
    lustre = SmallPlane(1, **ARRAY, lustre__disk_turn=turn).machine.lustre
    lustre = lustre.model_copy(update={"disk_seek": settle + way, "disk_settle": settle})
    heads, data, angle = np.random.default_rng(seed).random((3, 20_000, disks))
    seconds = settle + way * np.sqrt(abs(heads - data)) * (15 / 8)  # the mean root is 8/15
    seconds += turn * angle
    slowest = seconds.max(axis=1)
    drawn = slowest_of(lustre)[disks - 1]
    assert drawn.mean() == pytest.approx(slowest.mean(), rel=0.02, abs=1e-12)
    assert drawn.std() == pytest.approx(slowest.std(), rel=0.06, abs=1e-12)
    assert drawn.max() <= settle + way * (15 / 8) + turn


@settings(max_examples=10, deadline=None)
@given(disk_times, disk_times, disk_times, st.sampled_from([1, 2, 7, 32]), st.integers(0, 99))
def test_a_head_moves_to_what_it_comes_to_first(
    settle: float, way: float, turn: float, places: int, seed: int
) -> None:
    """Against a head and some reads at random places of a stroke, and platters at random angles."""
    lustre = SmallPlane(1, **ARRAY, lustre__disk_turn=turn).machine.lustre
    lustre = lustre.model_copy(update={"disk_seek": settle + way, "disk_settle": settle})
    ways, angles = np.random.default_rng(seed).random((2, 20_000, places))
    ways = 1 - np.sqrt(1 - ways)
    first = (settle + way * np.sqrt(ways) * (15 / 8) + turn * angles).min(axis=1).mean()
    assert first_of(lustre)[places - 1] == pytest.approx(first, rel=0.03, abs=1e-12)


def busy_with_line(queue: int, readers: int) -> float:
    """Return for how long an array is busy with the heads of reads that come at a time."""
    changes = {"lustre__disk_queue": queue, "lustre__disk_turn": TURN}
    plane = array_of(readers, **changes)
    plane.run([reading(i * 9 * RPC) for i in range(readers)])
    still = array_of(readers, lustre__disk_seek=0.0)
    still.run([reading(i * 9 * RPC) for i in range(readers)])
    assert moves(plane) == moves(still) == readers
    kind = plane.tables.network.stations.kind == StationKind.OST
    busy = [one.tables.network.stations.busy[kind].sum() for one in (plane, still)]
    return float(busy[0] - busy[1]) / readers


def test_heads_move_less_the_more_reads_wait() -> None:
    """Sixteen readers at 8 of 40 disks are some three a disk, and fewer towards the end."""
    alone = busy_with_line(128, 1)
    assert alone == pytest.approx(8 * (MOVE + TURN / 2) / 40, rel=1e-4)
    assert busy_with_line(1, 16) == pytest.approx(alone, rel=1e-6)
    assert 0.6 * alone < busy_with_line(128, 16) < busy_with_line(128, 4) < alone


def test_a_disk_chooses_from_no_more_than_its_queue_holds() -> None:
    assert busy_with_line(2, 16) > busy_with_line(4, 16) == pytest.approx(busy_with_line(128, 16))


def test_an_ost_that_is_slower_moves_its_heads_as_much_slower() -> None:
    """It is busy for longer; a read waits longer only where it is slow for a while."""
    took, busy = {}, {}
    for rate, moving in ((1.0, 1.0), (0.5, 1.0), (1.0, 3.0)):
        plane = array_of(1, lustre__disk_turn=TURN, lustre__ost_jitter=0.0)
        disks, stations = plane.tables.disks, plane.tables.network.stations
        disks.seconds /= rate
        disks.moving[:] = moving
        took[rate, moving] = plane.run([reading(*(9 * i * RPC for i in range(200)))])[0]
        busy[rate, moving] = float(stations.busy[stations.kind == StationKind.OST].sum())
    overhead = 200 * plane.machine.lustre.ost_request_overhead
    assert busy[0.5, 1.0] - overhead == pytest.approx(2 * (busy[1.0, 1.0] - overhead))
    assert took[0.5, 1.0] == pytest.approx(took[1.0, 1.0], rel=0.05)
    assert busy[1.0, 3.0] == busy[1.0, 1.0]
    assert took[1.0, 3.0] == pytest.approx(3 * took[1.0, 1.0], rel=0.1)


def test_a_read_that_needs_more_disks_waits_longer_for_the_platters() -> None:
    """On average n in n + 1 of a turn, whatever the arrays are busy with meanwhile."""
    means = []
    for length in (CHUNK, 2 * CHUNK, RPC):
        plane = array_of(1, lustre__disk_seek=0.0, lustre__disk_turn=TURN)
        still = array_of(1, lustre__disk_seek=0.0)
        apart = [[Step(Op.READ, 0, 0, length, 400, 9 * RPC)]]
        means.append((plane.run(apart)[0] - still.run(apart)[0]) / 400 / TURN)
    assert means == pytest.approx([1 / 2, 2 / 3, 8 / 9], rel=0.06)


def test_a_stream_with_rpcs_in_flight_moves_the_heads_once() -> None:
    plane = array_of(1, lustre__max_rpcs_in_flight=8)
    plane.run([reading(0, length=8 * RPC)])
    assert moves(plane) == 1


def test_a_stream_that_waits_for_each_call_moves_them_for_each() -> None:
    plane = array_of(1)
    took = plane.run([reading(*(i * RPC for i in range(8)))])
    assert moves(plane) == 8
    assert took[0] > 8 * MOVE


@pytest.mark.parametrize("order", [(0, 1, 2, 3, 4, 5), (5, 4, 3, 2, 1, 0), (3, 0, 5, 1, 4, 2)])
def test_what_waits_side_by_side_is_read_in_one_go_whatever_came_first(order: tuple[int]) -> None:
    """All come while the first is served; what lies before that is one more place to go to."""
    plane = array_of(6)
    plane.run([reading(i * RPC) for i in order])
    assert moves(plane) <= 2
    apart = array_of(6)
    apart.run([reading(100 * i * RPC) for i in order])
    assert moves(apart) == 6


def test_a_small_gap_passes_below_the_heads() -> None:
    """It takes as long as if it were read, and no longer than to move."""
    busy = {}
    for gap in (0, 1, 2, 100):
        plane = array_of(3, lustre__ost_read_rate=40e6, lustre__disk_queue=1)
        late = [Step(Op.THINK, seconds=1e-4 * i) for i in range(3)]
        plane.run([[late[i], *reading(i * (gap + 1) * RPC)] for i in range(3)])
        stations = plane.tables.network.stations
        busy[gap] = float(stations.busy[stations.kind == StationKind.OST].sum())
        assert moves(plane) == (3 if gap == 100 else 1)
    assert busy[1] - busy[0] == pytest.approx(2 * RPC / 40e6, rel=0.1)
    assert busy[0] < busy[1] < busy[2] <= busy[100] * (1 + 1e-9)


def test_two_nodes_that_read_each_their_own_file_take_the_heads_from_each_other() -> None:
    plane = SmallPlane(2, 1, **ARRAY)
    plane.plane.namespace.add_files(RPC, np.zeros((2, 1), np.int32), direct=True, size=1 << 30)
    programs = [[Step(Op.READ, node, 0, RPC, 16, RPC)] for node in range(2)]
    plane.run(programs)
    assert moves(plane) == 32


def test_writes_move_no_heads() -> None:
    plane = array_of(2)
    plane.run(
        [[Step(Op.WRITE, 0, (2 * i + node) * 99 * RPC, RPC) for i in range(4)] for node in range(2)]
    )
    assert moves(plane) == 0


@settings(max_examples=50)
@given(
    st.lists(
        st.lists(st.tuples(st.integers(0, 40), st.booleans(), st.integers(1, 3)), max_size=6),
        min_size=1,
        max_size=5,
    )
)
def test_nothing_is_lost_and_the_array_is_busy_with_bytes_and_moves(
    plans: list[list[tuple[int, bool, int]]],
) -> None:
    plane = array_of(len(plans))
    programs = [
        [
            Step(Op.WRITE if writes else Op.READ, 0, at * RPC, units * RPC)
            for at, writes, units in plan
        ]
        for plan in plans
    ]
    if not any(programs):
        return
    plane.run(programs)
    rpcs = sum(units for plan in plans for _, _, units in plan)
    stations = plane.tables.network.stations
    osts = stations[stations.kind == StationKind.OST]
    assert osts.bytes.sum() == rpcs * RPC
    lustre = plane.machine.lustre
    each = lustre.ost_request_overhead + RPC / (
        0.5 * min(lustre.ost_read_rate, lustre.ost_write_rate)
    )
    reads = sum(units for plan in plans for _, writes, units in plan if not writes)
    assert moves(plane) <= reads
    assert osts.busy.sum() <= rpcs * each + reads * 8 * MOVE / 40
    nearest = plane.tables.disks.head_move[-1]
    assert osts.busy.sum() >= moves(plane) * 8 * nearest / 40
    assert (plane.tables.disks.arrays.waiting.head == -1).all()
    assert (plane.tables.disks.arrays.moves == 0).all()
    assert (plane.tables.disks.waiting_reads == -1).all()
