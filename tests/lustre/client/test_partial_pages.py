"""Pages of which a write has only a part: who has to read them first."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_plane import PAGE, RPC, SmallPlane, Step

from xc40io.plane.causes import Cause
from xc40io.plane.counters import Stat
from xc40io.plane.operations import Op

HALF = PAGE // 2


def write(file: int, offset: int, length: int, count: int = 1) -> Step:
    return Step(Op.WRITE, file, offset=offset, length=length, stride=length, count=count)


def read_first(nodes: int, *programs: list[Step]) -> int:
    """Return the bytes that are read when programs write one after the other, on nodes in turn."""
    plane = SmallPlane(nodes, 1)
    plane.add_files(1)
    for number, program in enumerate(programs):
        plane.run([program if node == number % nodes else [] for node in range(nodes)])
    return plane.stat(Stat.MISS_BYTES)


@settings(max_examples=20)
@given(st.integers(1, 3 * PAGE), st.integers(1, 40))
def test_a_file_written_in_order_reads_nothing(size: int, calls: int) -> None:
    assert read_first(1, [write(0, 0, size, calls)]) == 0


def test_a_piece_within_a_file_reads_the_pages_at_its_ends() -> None:
    whole = [write(0, 0, RPC)]
    for offset, length, pages in [
        (HALF, PAGE, 2),
        (HALF, HALF, 1),
        (HALF, 5 * PAGE, 2),
        (PAGE, HALF, 1),
        (PAGE + 10, 20, 1),
        (PAGE, 3 * PAGE, 0),
        (RPC, HALF, 0),
        (RPC - HALF, PAGE, 1),
    ]:
        assert read_first(2, whole, [write(0, offset, length)]) == pages * PAGE


def test_a_node_that_has_the_page_reads_nothing() -> None:
    assert read_first(1, [write(0, 0, RPC)], [write(0, HALF, PAGE)]) == 0
    assert read_first(2, [write(0, 0, RPC)], [write(0, HALF, 10), write(0, HALF, 20)]) == PAGE


def test_the_neighbour_of_another_node_reads_the_page_that_both_write() -> None:
    assert read_first(2, [write(0, 0, PAGE + HALF)], [write(0, PAGE + HALF, PAGE)]) == PAGE


def test_direct_writes_read_nothing() -> None:
    plane = SmallPlane(2, 1)
    (file,) = plane.add_files(1, direct=True)
    plane.run([[write(file, 0, RPC)], []])
    plane.run([[], [write(file, HALF, PAGE)]])
    assert plane.stat(Stat.MISS_BYTES) == 0


@pytest.mark.parametrize(
    ("offset", "length", "pages"), [(HALF, 10, 1), (HALF, HALF, 1), (HALF, PAGE, 2), (0, PAGE, 0)]
)
def test_the_page_is_waited_for_as_a_read_is(offset: int, length: int, pages: int) -> None:
    """Heads take a second to move, to one page after the other."""
    plane = SmallPlane(2, 1)
    (file,) = plane.add_files(1)
    plane.run([[write(file, 0, RPC), Step(Op.FSYNC, file)], []])
    plane.tables.disks.slowest = np.ones_like(plane.tables.disks.slowest)
    (took,) = plane.run([[], [write(file, offset, length)]])
    programs = plane.tables.programs
    waited = programs.waits[:, 1]
    assert pages <= waited[Cause.TRANSFER] < pages + 0.1
    assert programs.behind[Cause.SEEK, 1] == pytest.approx(pages)
    assert waited.sum() == pytest.approx(took, rel=1e-6)
