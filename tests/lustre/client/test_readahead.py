"""Read-ahead: windows that grow by steps."""

from __future__ import annotations

import pytest
from small_plane import KIB, PAGE, RPC, SmallPlane, Step

from sim.plane.operations import Op


def reader(file: int, unit: int, size: int) -> list[Step]:
    """Read a file in order, in calls of ``unit`` bytes."""
    return [Step(Op.READ, file, 0, unit, size // unit, unit)]


@pytest.mark.parametrize("unit", [PAGE, 12 * KIB, RPC // 2, RPC])
def test_small_reads_in_order_come_in_rpcs_as_large_as_those_of_large_reads(unit: int) -> None:
    size = 48 * 12 * RPC
    plane = SmallPlane(1, lustre__readahead=16 * RPC, lustre__readahead_step=4 * RPC)
    plane.add_files(1, 1, 1 << 30, size=size)
    plane.run([reader(0, unit, size)])
    # An RPC is cut in two where a step begins in the middle of it, with the first calls.
    assert plane.plane.tables.programs.counts[1] <= size / RPC * 1.5 + 8
