"""What a client of an older release does otherwise, and what its node can take in."""

from __future__ import annotations

import pytest
from small_plane import RPC, SmallPlane, Step

from xc40io.plane.causes import Cause
from xc40io.plane.operations import Op

RANKS = 4


@pytest.mark.parametrize(
    ("version", "waits"), [("2.7", False), ("2.5.2", True), ("2.15", False), ("1.8.6", True)]
)
def test_writers_of_one_file_on_a_node_exclude_each_other_before_2_7(
    version: str, waits: bool
) -> None:
    """From 2.7 on they do so where bytes overlap alone; who writes another file never does."""
    plane = SmallPlane(1, RANKS, lustre__version=version)
    plane.add_files(RANKS, stripes=2)
    shared = [[Step(Op.WRITE, 0, rank * RPC, RPC)] for rank in range(RANKS)]
    plane.run(shared)
    waited = plane.tables.programs.waits[Cause.RANGE].copy()
    assert (waited.max() > 0) == waits
    assert (waited > 0).sum() == (RANKS - 1 if waits else 0)
    plane.run([[Step(Op.WRITE, rank, RPC, RPC)] for rank in range(RANKS)])
    assert plane.tables.programs.waits[Cause.RANGE].sum() == pytest.approx(waited.sum())


def test_a_node_takes_in_cold_data_at_a_pace_of_its_own() -> None:
    """Pages that are in the cache already, and pages that are written, do not wait for it."""
    slow, size = 1e6, RANKS * RPC

    def seconds(**changes: object) -> tuple[float, float, float]:
        plane = SmallPlane(2, 1, **changes)
        plane.add_files()
        write = plane.run([[Step(Op.WRITE, length=size)], []])[0]
        warm = plane.run([[Step(Op.READ, length=size)], []])[0]
        cold = plane.run([[], [Step(Op.READ, length=size)]])[0]
        return write, warm, cold

    free, limited = seconds(), seconds(nodes__node_fetch_rate=slow)
    assert limited[:2] == pytest.approx(free[:2])
    assert limited[2] == pytest.approx(size / slow, rel=0.1)
    assert free[2] < 0.1 * limited[2]
