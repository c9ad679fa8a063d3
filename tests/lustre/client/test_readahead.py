"""Read-ahead: windows that grow by steps, and the budget that the readers of a node share."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_plane import KIB, PAGE, RPC, SmallPlane, Step

from xc40io.lustre.client.readahead import granted
from xc40io.plane.counters import Stat
from xc40io.plane.operations import Op

MIB = 1 << 20


def reader(file: int, unit: int, size: int) -> list[Step]:
    """Read a file in order, in calls of ``unit`` bytes."""
    return [Step(Op.READ, file, 0, unit, size // unit, unit)]


def on_its_way(plane: SmallPlane) -> int:
    """Return what the first node has on its way at this time."""
    return int(plane.tables.cache.nodes.coming[0])


def most_on_its_way(plane: SmallPlane, programs: list[list[Step]]) -> int:
    """Return the most that the first node has on its way at a time while programs run."""
    most: list[int] = []
    plane.run(programs, lambda plane: most.append(on_its_way(plane)))
    return max(most)


@pytest.mark.parametrize("unit", [PAGE, 12 * KIB, RPC // 2, RPC])
def test_small_reads_in_order_come_in_rpcs_as_large_as_those_of_large_reads(unit: int) -> None:
    size = 48 * 12 * RPC
    plane = SmallPlane(1, lustre__readahead=16 * RPC, lustre__readahead_step=4 * RPC)
    plane.add_files(1, 1, 1 << 30, size=size)
    plane.run([reader(0, unit, size)])
    # An RPC is cut in two where a step begins in the middle of it, with the first calls.
    assert plane.plane.tables.programs.counts[1] <= size / RPC * 1.5 + 8


@pytest.mark.parametrize("step", [RPC // 2, 3 * RPC // 2])
def test_a_window_ends_at_a_boundary_between_rpcs(step: int) -> None:
    """Whatever the step by which it grows, no RPC is cut in two."""
    ahead = {"lustre__readahead_step": step, "lustre__readahead_alignment": RPC}
    plane = SmallPlane(1, lustre__readahead=16 * RPC, **ahead)
    plane.add_files(1, 1, 1 << 30, size=64 * RPC)
    plane.run([reader(0, RPC, 64 * RPC)])
    assert plane.tables.programs.counts[1] == 64


@settings(max_examples=8, deadline=None)
@given(
    st.integers(1, 6),
    st.integers(0, 2 * RPC // PAGE),
    st.integers(4, 60),
    st.sampled_from([PAGE, 3 * PAGE, RPC, 5 * RPC // 2]),
)
def test_a_node_never_has_more_on_its_way_than_its_budget_and_long_calls(
    readers: int, apart: int, calls: int, unit: int
) -> None:
    """Never refused is what a call reads up to the next boundary between RPCs."""
    plane = SmallPlane(1, readers, lustre__readahead=6 * RPC, lustre__readahead_alignment=RPC)
    files = plane.add_files(readers, 2, RPC, size=1 << 28)
    steps = [[Step(Op.READ, f, 0, unit, calls, unit + apart * PAGE)] for f in files]
    assert most_on_its_way(plane, steps) <= 6 * RPC + readers * (min(unit, RPC) + PAGE)
    assert on_its_way(plane) == 0


def test_readers_of_one_node_read_less_far_ahead_than_one_alone() -> None:
    """Their pages take a second each to come: what is read ahead by then is the budget's."""
    ahead = {}
    for readers in (1, 4):
        plane = SmallPlane(1, readers, lustre__readahead=8 * RPC, lustre__readahead_step=8 * RPC)
        files = plane.add_files(readers, size=64 * RPC)
        ahead[readers] = most_on_its_way(plane, [reader(f, RPC, 32 * RPC) for f in files])
    assert 4 * RPC <= ahead[1] <= 8 * RPC
    assert ahead[4] <= 8 * RPC + 4 * RPC  # and what each calls for


@pytest.mark.parametrize(
    ("taken", "asked", "given"),
    [
        (0, 12, 12),
        (0, 50, 40),
        (30, 8, 8),
        (36, 8, 4),  # what is left is an RPC of the largest size
        (37, 8, 0),  # less than that
        (37, 3, 3),  # all that is asked for
        (38, 3, 0),
        (44, 1, 0),  # calls themselves have taken more
    ],
)
def test_who_asks_for_more_than_is_left_gets_the_rest_or_nothing_below_4_mib(
    taken: int, asked: int, given: int
) -> None:
    plane = SmallPlane(1, lustre__readahead=40 * MIB)
    plane.tables.cache.nodes.coming[0] = taken * MIB
    assert granted(plane.tables.readahead, 0, asked * MIB) == given * MIB


def test_a_budget_that_is_spent_leaves_readers_what_they_call_for() -> None:
    plane = SmallPlane(1, lustre__readahead=8 * RPC)
    plane.add_files(size=64 * RPC)
    plane.tables.cache.nodes.coming[0] = 8 * RPC
    plane.run([reader(0, RPC, 32 * RPC)])
    assert plane.stat(Stat.AHEAD_BYTES) == 0
    assert plane.stat(Stat.MISS_BYTES) == 32 * RPC


def test_pages_that_a_lock_took_with_it_are_read_ahead_once_more() -> None:
    """Not one by one, up to where they had been read ahead before."""
    plane = SmallPlane(2, lustre__readahead=16 * RPC, lustre__readahead_step=4 * RPC)
    plane.add_files(size=64 * RPC)
    first = Step(Op.READ, 0, 0, PAGE, 8, PAGE)
    rest = Step(Op.READ, 0, 8 * PAGE, PAGE, 32 * RPC // PAGE - 8, PAGE)
    other = [Step(Op.THINK, seconds=0.5), Step(Op.WRITE, 0, 60 * RPC, PAGE)]
    plane.run([[first, Step(Op.THINK, seconds=1.0), rest], other])
    assert plane.stat(Stat.CANCELS) == 2  # the lock of the one, then that of the other
    assert plane.tables.programs.counts[1] <= (32 + 16) * 1.5


@pytest.mark.parametrize("unit", [PAGE, RPC, 5 * RPC // 2, 9 * RPC])
def test_the_window_of_who_reads_in_order_grows_with_each_read(unit: int) -> None:
    plane = SmallPlane(1, lustre__readahead=64 * RPC, lustre__readahead_step=2 * RPC)
    plane.add_files(1, 2, 4 * RPC, size=400 * RPC)
    plane.run([[Step(Op.READ, 0, 0, unit, 21, unit)]])
    assert plane.tables.programs.rows.ahead[0] == 40 * RPC
