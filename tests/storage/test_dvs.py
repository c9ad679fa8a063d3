"""Files behind service nodes: blocks, their limit, the disks, and an allocation that is full."""

from __future__ import annotations

import numpy as np
import pytest
from small_plane import KIB, SmallPlane, Step

from xc40io.plane.causes import Cause
from xc40io.plane.counters import Stat
from xc40io.plane.operations import Op
from xc40io.plane.stations import StationKind

MIB, TIB = 1 << 20, 1 << 40


class Remote(SmallPlane):
    """Theta's home directories, fast enough that one thing at a time binds."""

    def __init__(self, nodes: int = 1, per_node: int = 1, **changes: object) -> None:
        quick: dict[str, object] = {
            "home__read_latency": "0 us",
            "home__write_latency": "0 us",
            "home__request_time": "0 us",
            "home__client_read_rate": "100 GB/s",
            "home__client_write_rate": "100 GB/s",
            "home__shared_read_rate": "100 GB/s",
            "home__shared_write_rate": "100 GB/s",
            "home__file_write_time": "0 us",
        }
        super().__init__(nodes, per_node, **(quick | changes))
        self.volume = self.plane.namespace.add_volume(TIB)

    def add_remote(self, servers: list[list[int]], size: int = 0, stripe: int = MIB) -> list[int]:
        table = np.array(servers, np.int32)
        first = self.plane.namespace.add_remote_files(stripe, table, self.volume, size=size)
        return list(range(first, first + len(table)))


def test_a_service_node_serves_at_its_rate() -> None:
    plane = Remote(nodes=2, per_node=2)
    files = plane.add_remote([[0]] * 4)
    took = plane.run([[Step(Op.WRITE, f, 0, 8 * MIB, 4, 8 * MIB)] for f in files])
    assert took.max() == pytest.approx(128 * MIB / 2e9, rel=0.05)
    assert plane.served(StationKind.STORE)[0] == 128 * MIB
    assert plane.tables.programs.behind[Cause.STORE, :4].max() > 0.3 * took.max()


def test_stripes_are_dealt_to_the_service_nodes_in_turn() -> None:
    plane = Remote()
    (file,) = plane.add_remote([[3, 1, 2]])
    plane.run([[Step(Op.WRITE, file, MIB // 2, 4 * MIB)]])
    served = plane.served(StationKind.STORE) / MIB
    assert served[[3, 1, 2]].tolist() == [1.5, 1.5, 1.0]


def test_a_client_is_bound_by_its_own_dvs() -> None:
    plane = Remote(home__client_write_rate="500 MB/s")
    (file,) = plane.add_remote([list(range(8))])
    (took,) = plane.run([[Step(Op.WRITE, file, 0, 64 * MIB)]])
    assert took == pytest.approx(64 * MIB / 500e6, rel=0.05)


def test_writers_of_one_file_exclude_each_other_and_readers_do_not() -> None:
    plane = Remote(nodes=2, home__file_write_time="5 ms")
    (shared,) = plane.add_remote([[0]], stripe=TIB)
    halves = [[Step(Op.WRITE, shared, i * 16 * MIB, 16 * MIB)] for i in range(2)]
    slow = plane.run(halves).max()
    own = plane.add_remote([[0], [0]], stripe=TIB)
    quick = plane.run([[Step(Op.WRITE, file, 0, 16 * MIB)] for file in own]).max()
    assert slow == pytest.approx(32 * (5e-3 + MIB / 2e9), rel=0.05)  # block after block
    assert quick == pytest.approx(slow / 2, rel=0.05)
    read = plane.run([[step._replace(kind=Op.READ)] for (step,) in halves]).max()
    assert read < slow / 4


def test_blocks_under_way_hide_the_latency() -> None:
    took = {}
    for blocks in (1, 16):
        plane = Remote(home__blocks_in_flight=blocks, home__read_latency="1 ms")
        (file,) = plane.add_remote([[0]], size=16 * MIB, stripe=TIB)
        (took[blocks],) = plane.run([[Step(Op.READ, file, 0, 16 * MIB)]])
    assert took[1] > 16 * 1e-3
    assert took[16] < took[1] / 1.8


def test_what_all_share_binds_all() -> None:
    plane = Remote(nodes=2, home__shared_write_rate="300 MB/s")
    files = plane.add_remote([[0], [1]])
    took = plane.run([[Step(Op.WRITE, file, 0, 16 * MIB)] for file in files])
    assert took.max() == pytest.approx(32 * MIB / 300e6, rel=0.05)


@pytest.mark.parametrize("kind", [Op.READ, Op.WRITE])
def test_who_asks_an_idle_service_node_does_not_wait_for_those_who_ask_a_busy_one(kind: Op) -> None:
    plane = Remote(nodes=5)
    files = plane.add_remote([[0]] * 4 + [[1]], size=16 * MIB)
    waiting = [[Step(kind, file, 0, 16 * MIB)] for file in files[:4]]
    last = [Step(Op.THINK, seconds=1e-3), Step(kind, files[4], 0, MIB)]
    took = plane.run([*waiting, last])
    assert took[4] - 1e-3 < took[:4].min() / 8


def test_a_full_allocation_refuses_the_rest() -> None:
    plane = Remote(per_node=2)
    plane.volume = plane.plane.namespace.add_volume(10 * MIB)
    files = plane.add_remote([[0], [1]])
    plane.run([[Step(Op.WRITE, f, 0, 2 * MIB, 4, 2 * MIB)] for f in files])
    assert plane.tables.dvs.volumes.used[plane.volume] == 10 * MIB
    assert plane.tables.programs.refused[:, 0].sum() == plane.stat(Stat.NO_SPACE_BYTES) == 6 * MIB
    assert plane.served(StationKind.STORE)[:2].sum() == 10 * MIB
    plane.run([[Step(Op.UNLINK, files[0])]])
    assert plane.tables.dvs.volumes.used[plane.volume] < 10 * MIB


def test_a_read_ends_where_the_file_ends() -> None:
    plane = Remote()
    (file,) = plane.add_remote([[0]], size=3 * MIB + 5)
    plane.run([[Step(Op.READ, file, 2 * MIB, 4 * MIB)]])
    assert plane.served(StationKind.STORE)[0] == MIB + 5


def test_small_requests_and_syncs_take_a_round_trip() -> None:
    plane = Remote(home__sync_time="7 ms", home__open_time="1 ms")
    (file,) = plane.add_remote([[0, 1]])
    (opened,) = plane.run([[Step(Op.CREATE, file)]])
    (synced,) = plane.run([[Step(Op.FSYNC, file)]])
    assert opened > 1e-3
    assert synced > opened + 6e-3


def test_every_byte_passes_both_network_interfaces() -> None:
    plane = Remote()
    (file,) = plane.add_remote([[5]], size=4 * MIB)
    plane.run([[Step(Op.READ, file, 0, 4 * MIB), Step(Op.WRITE, file, 0, 64 * KIB)]])
    nics = plane.served(StationKind.NIC)
    assert nics[nics > 0].tolist() == [64 * KIB, 4 * MIB, 64 * KIB, 4 * MIB]


def test_readers_that_begin_on_one_service_node_come_to_keep_all_busy() -> None:
    # Blocks of whole turns around the service nodes: all processes begin on the first of these.
    # Who is served first there goes ahead, and has the next one for itself.
    servers, readers = 8, 64

    def busy(turns: int) -> float:
        """Return which share of the time the service nodes serve."""
        plane = Remote(nodes=4, per_node=readers // 4)
        block = turns * servers * MIB
        (file,) = plane.add_remote([list(range(servers))], size=readers * block)
        step = 128 * KIB
        calls = block // step
        took = plane.run(
            [[Step(Op.READ, file, rank * block, step, calls, step)] for rank in range(readers)]
        )
        share = readers * turns * MIB
        assert plane.served(StationKind.STORE)[:servers].tolist() == [share] * servers
        return share / took.max() / plane.machine.home.read_rate

    short, long = busy(1), busy(16)
    assert short < 0.5, "one turn around is the way of a convoy"
    assert long > 0.75, "which dissolves when it goes around again and again"


def test_a_hole_takes_room_too_and_no_write_takes_more_than_there_is() -> None:
    plane = Remote()
    plane.volume = plane.plane.namespace.add_volume(3 * MIB)
    (file,) = plane.add_remote([[0]])
    plane.run([[Step(Op.WRITE, file, 2 * MIB, 2 * MIB)]])
    assert plane.tables.dvs.volumes.used[plane.volume] == 3 * MIB
    plane.run([[Step(Op.WRITE, file, 4 * MIB, MIB), Step(Op.WRITE, file, 0, 2 * MIB)]])
    assert plane.tables.dvs.volumes.used[plane.volume] == 3 * MIB
    assert plane.tables.programs.refused[:, 0].sum() == 2 * MIB
