"""Read-ahead in strides: a reader of every n-th part gets its next parts ahead, and only these."""

from __future__ import annotations

import pytest
from small_plane import KIB, RPC, SmallPlane, Step

from xc40io.plane.counters import Stat
from xc40io.plane.operations import Op
from xc40io.plane.stations import StationKind

PARTS = 96


def read(stride: int, calls: int) -> SmallPlane:
    plane = SmallPlane(1)
    (file,) = plane.add_files(stripe_size=PARTS * RPC, size=PARTS * RPC)
    plane.run([[Step(Op.READ, file, 0, RPC, calls, stride * RPC)]])
    return plane


@pytest.mark.parametrize("stride", [2, 3, 5])
def test_a_reader_in_strides_has_its_next_parts_read_ahead(stride: int) -> None:
    plane = read(stride, 16)
    assert plane.stat(Stat.AHEAD_BYTES) >= 10 * RPC
    # Nothing in between is read: the calls' own bytes, and what is ahead at the end.
    assert plane.served(StationKind.OST).sum() <= (16 + 4) * RPC


def test_in_strides_it_is_nearly_as_fast_as_in_order() -> None:
    in_order, strided = read(1, 16), read(3, 16)
    assert strided.plane.now < 1.3 * in_order.plane.now


def test_two_reads_apart_are_no_stride_yet() -> None:
    assert read(7, 2).stat(Stat.AHEAD_BYTES) == 0


def test_a_reader_that_jumps_about_has_nothing_read_ahead() -> None:
    plane = SmallPlane(1)
    (file,) = plane.add_files(stripe_size=PARTS * RPC, size=PARTS * RPC)
    at = [40, 3, 71, 12, 90, 55, 20, 64]
    plane.run([[Step(Op.READ, file, part * RPC, RPC) for part in at]])
    assert plane.stat(Stat.AHEAD_BYTES) == 0


def test_many_small_strides_at_once_have_the_rows_that_they_need() -> None:
    """Each stride is an extent of its own: thousands of 4 KiB in the window of one read."""
    size, calls, stride = 4 * KIB, 6000, 64 * KIB
    plane = SmallPlane(1, lustre__readahead=64 * KIB * KIB, lustre__readahead_step=64 * KIB * KIB)
    (file,) = plane.add_files(stripe_size=stride * calls, size=stride * calls)
    plane.run([[Step(Op.READ, file, 0, size, calls, stride)]])
    assert plane.stat(Stat.AHEAD_BYTES) + plane.stat(Stat.MISS_BYTES) == size * calls
