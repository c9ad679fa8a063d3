"""Data on the MDT (DoM): small files without an OST."""

from __future__ import annotations

import numpy as np
import pytest
from small_plane import RPC, SmallPlane, Step

from xc40io.config.setstripe import EOF
from xc40io.plane.causes import Cause
from xc40io.plane.counters import Stat
from xc40io.plane.files import Shape, ost_object_count
from xc40io.plane.operations import Op
from xc40io.plane.stations import StationKind

DOM: dict[str, object] = {
    "lustre__dom_size": "1 MiB",
    "lustre__mds__mdt_write_rate": "1 GB/s",
    "lustre__mds__mdt_read_rate": "2 GB/s",
}


def small(nodes: int = 2, per_node: int = 1, **changes: object) -> SmallPlane:
    """Return a small plane whose MDT takes data."""
    return SmallPlane(nodes, per_node, **DOM, **changes)


def on_mdt(plane: SmallPlane, count: int = 1, size: int = 0) -> tuple[int, ...]:
    """Add files of which the MDT has the first 128 KiB, and two OSTs the rest."""
    shapes = [Shape(2 * RPC, 2 * RPC, 1), Shape(EOF, RPC, 2)]
    osts = np.tile(np.array([-1, 0, 1], np.int32), (count, 1))
    first = plane.plane.namespace.add_files(RPC, osts, shapes=shapes, on_mdt=True, size=size)
    return tuple(range(first, first + count))


def ost_bytes(plane: SmallPlane) -> tuple[float, float]:
    """Return what OSTs and MDTs have served in bulk."""
    served = plane.served(StationKind.OST)
    osts = plane.machine.lustre.osts
    return float(served[:osts].sum()), float(served[osts:].sum())


def test_a_small_file_needs_no_ost() -> None:
    plane = small(1)
    (file,) = on_mdt(plane)
    before = plane.tables.precreation.stocks.available.copy()
    written = [Step(Op.CREATE, file), Step(Op.WRITE, file, 0, RPC), Step(Op.FSYNC, file)]
    plane.run([[*written, Step(Op.STAT, file), Step(Op.CLOSE, file)]])
    assert ost_bytes(plane) == (0.0, RPC)
    assert (plane.tables.precreation.stocks.available == before).all()
    assert ost_object_count(plane.tables.files, file) == 0
    for stat in (Stat.ENQUEUES, Stat.GLIMPSES, Stat.OST_SYNCS, Stat.LAYOUT_INTENTS):
        assert plane.stat(stat) == 0, stat
    assert plane.stat(Stat.MDS_SYNCS) == 1


def test_a_file_that_grows_goes_on_on_osts() -> None:
    plane = small(1)
    (file,) = on_mdt(plane)
    steps = [Step(Op.CREATE, file), Step(Op.WRITE, file, 0, RPC, count=6, stride=RPC)]
    plane.run([[*steps, Step(Op.FSYNC, file), Step(Op.STAT, file)]])
    assert ost_bytes(plane) == (4.0 * RPC, 2.0 * RPC)
    assert plane.stat(Stat.LAYOUT_INTENTS) == 1
    assert plane.stat(Stat.OST_SYNCS) == 2
    assert plane.plane.files.end[file] == 6 * RPC


def test_the_lock_of_the_data_comes_with_the_open_and_covers_all_of_them() -> None:
    plane = small(2)
    (file,) = on_mdt(plane)
    first = [Step(Op.CREATE, file), Step(Op.WRITE, file, 0, 4096)]
    later = [Step(Op.THINK, seconds=0.01), Step(Op.OPEN, file), Step(Op.WRITE, file, RPC, 4096)]
    plane.run([first, later])
    assert plane.stat(Stat.ENQUEUES) == 1  # of the second node: the first has it from its create
    assert plane.stat(Stat.BLOCKING_ASTS) == 1  # though the two write other bytes
    assert plane.stat(Stat.FLUSHED_BYTES) == 4096


def test_a_reader_finds_what_another_node_wrote() -> None:
    plane = small(2)
    (file,) = on_mdt(plane)
    written = [Step(Op.CREATE, file), Step(Op.WRITE, file, 0, RPC), Step(Op.CLOSE, file)]
    read = [Step(Op.THINK, seconds=0.01), Step(Op.OPEN, file), Step(Op.READ, file, 0, RPC)]
    plane.run([written, read])
    assert ost_bytes(plane) == (0.0, 2.0 * RPC)  # written back, and read


def test_a_read_beyond_the_end_asks_no_ost() -> None:
    plane = small(1)
    (file,) = on_mdt(plane, size=100)
    plane.run([[Step(Op.OPEN, file), Step(Op.READ, file, 0, RPC)]])
    assert plane.stat(Stat.GLIMPSES) == 0
    assert ost_bytes(plane)[1] == 4096.0


def test_a_stat_asks_who_has_the_data_in_his_cache() -> None:
    """The MDT asks the writer before it answers: there and back, and the writer's thread."""
    took = []
    for write in (False, True):
        plane = small(2)
        (file,) = on_mdt(plane)
        steps = [Step(Op.CREATE, file), *[Step(Op.WRITE, file, 0, RPC)] * write]
        steps += [Step(Op.FSYNC, file)] * (not write)
        other = [Step(Op.THINK, seconds=0.1), Step(Op.STAT, file)]
        plane.run([steps if write else steps[:1], other])
        assert plane.stat(Stat.GLIMPSE_ASTS) == 1
        assert plane.stat(Stat.GLIMPSES) == 0
        took.append(plane.tables.programs.waits[Cause.METADATA, 1])
    assert took[0] == pytest.approx(took[1])
    alone = small(2)
    (file,) = on_mdt(alone)
    alone.run([[Step(Op.CREATE, file), Step(Op.STAT, file)], []])
    assert alone.stat(Stat.GLIMPSE_ASTS) == 0  # his own lock says it


def test_a_truncate_of_data_on_the_mdt_asks_the_mdt_alone() -> None:
    plane = small(1)
    (file,) = on_mdt(plane)
    steps = [Step(Op.CREATE, file), Step(Op.WRITE, file, 0, RPC), Step(Op.TRUNCATE, file, 100)]
    plane.run([steps])
    assert plane.plane.files.end[file] == 100
    assert plane.served(StationKind.SERVICE).sum() == 0.0  # small requests have no bytes
    requests = plane.plane.stations.requests[plane.plane.stations.kind == StationKind.SERVICE]
    assert requests.sum() == 0


def test_data_on_the_mdt_are_committed_with_its_journal() -> None:
    plane = small(1, lustre__journal_commit=1.0, lustre__shared_commit=1.0)
    (file,) = on_mdt(plane)
    steps = [Step(Op.CREATE, file), Step(Op.WRITE, file, 0, RPC), Step(Op.FSYNC, file)]
    (took,) = plane.run([steps])
    commit = plane.machine.lustre.mds.journal_commit
    assert commit < took < 0.1


def test_more_mdts_have_more_storage() -> None:
    plane = small(2, lustre__mds__mdts=2)
    mdts = np.array([0, 1], np.int32)
    shapes = [Shape(2 * RPC, 2 * RPC, 1), Shape(EOF, RPC, 2)]
    osts = np.array([[-1, 0, 1]] * 2, np.int32)
    first = plane.plane.namespace.add_files(RPC, osts, shapes=shapes, on_mdt=True, mdts=mdts)
    steps = [
        [Step(Op.CREATE, first + i), Step(Op.WRITE, first + i, 0, RPC), Step(Op.FSYNC, first + i)]
        for i in range(2)
    ]
    plane.run(steps)
    assert plane.served(StationKind.OST).tolist() == [0.0] * 4 + [RPC, RPC]


def test_a_machine_without_data_on_mdts_has_no_such_station() -> None:
    plain, data = SmallPlane(1), small(1)
    assert len(data.served(StationKind.OST)) == len(plain.served(StationKind.OST)) + 1
    assert len(data.served(StationKind.OSS)) == len(plain.served(StationKind.OSS)) + 2
