"""Ranges of bytes that programs take by fcntl."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_plane import SmallPlane, Step

from xc40io.plane.operations import Op

HELD = 0.5


def hold(start: int, length: int, file: int = 0) -> list[Step]:
    return [
        Step(Op.FLOCK, file, start, length),
        Step(Op.THINK, seconds=HELD),
        Step(Op.FUNLOCK, file),
    ]


def test_ranges_that_overlap_are_held_one_after_the_other() -> None:
    plane = SmallPlane(3, 1)
    plane.add_files()
    took = sorted(plane.run([hold(0, 10), hold(5, 10), hold(9, 2)]))
    assert took == pytest.approx([HELD, 2 * HELD, 3 * HELD], abs=0.01)


def test_ranges_side_by_side_do_not_wait_for_each_other() -> None:
    plane = SmallPlane(3, 1)
    plane.add_files()
    assert plane.run([hold(0, 10), hold(10, 10), hold(20, 1)]) == pytest.approx(
        3 * [HELD], abs=0.01
    )


def test_other_files_are_other_ranges() -> None:
    plane = SmallPlane(2, 1)
    plane.add_files(2)
    assert plane.run([hold(0, 10), hold(0, 10, file=1)]) == pytest.approx(2 * [HELD], abs=0.01)


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(1, 20)), min_size=1, max_size=8))
def test_nobody_waits_for_ever_and_no_byte_is_held_twice(ranges: list[tuple[int, int]]) -> None:
    plane = SmallPlane(2, 4)
    plane.add_files()
    took = plane.run([hold(start, length) * 2 for start, length in ranges])
    busiest = max(
        sum(start <= byte < start + length for start, length in ranges) for byte in range(50)
    )
    assert took.max() >= 2 * busiest * HELD
    assert took.max() <= 2 * len(ranges) * (HELD + 0.01)
    assert plane.tables.files.rows.flock_held[0] == -1
    assert plane.tables.files.rows.flock_waiting.head[0] == -1
