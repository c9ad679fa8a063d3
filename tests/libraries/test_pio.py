"""I/O tasks of PIO: who hands them what, and what they write."""

from __future__ import annotations

from math import prod
from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xc40io.libraries.pio import boxes, io_tasks, rearranged
from xc40io.mpi.accesses import Accesses

How: TypeAlias = Literal["box", "subset"]


class Case(NamedTuple):
    """A variable, whose element is whose, and the I/O tasks."""

    dims: tuple[int, ...]
    element: int
    owner: list[int]
    ranks: int
    stride: int

    def own(self) -> Accesses:
        """Return what each rank has: runs of elements, sorted by rank."""
        owner = np.array(self.owner)
        first = np.flatnonzero(np.diff(owner, prepend=-1))
        length = np.diff(np.append(first, len(owner)))
        order = np.argsort(owner[first], kind="stable")
        pieces = owner[first], first * self.element, length * self.element
        return Accesses(*(column[order] for column in pieces))


@st.composite
def cases(draw: st.DrawFn) -> Case:
    dims = tuple(draw(st.lists(st.integers(1, 7), min_size=1, max_size=3)))
    ranks = draw(st.integers(1, 9))
    owner = draw(st.lists(st.integers(0, ranks - 1), min_size=prod(dims), max_size=prod(dims)))
    return Case(dims, draw(st.sampled_from([4, 600])), owner, ranks, draw(st.integers(1, 9)))


@given(cases(), st.sampled_from(get_args(How)))
@settings(max_examples=300)
def test_each_byte_comes_from_who_has_it_to_one_task_that_writes_it(case: Case, how: How) -> None:
    tasks = io_tasks(case.ranks, case.stride)
    plan = rearranged(how, case.own(), case.dims, case.element, case.ranks, tasks)
    writer = np.full(len(case.owner) * case.element, -1)
    for task, offset, length in zip(*plan.written, strict=True):
        part = writer[offset : offset + length]
        assert (part == -1).all(), "two tasks write a byte"
        part[:] = tasks[task]
    assert (writer >= 0).all()
    wanted, sent = np.zeros((2, case.ranks, case.ranks), np.int64)
    np.add.at(wanted, (np.repeat(case.owner, case.element), writer), 1)
    np.add.at(sent, (plan.messages.sender, plan.messages.receiver), plan.messages.size)
    assert (sent == wanted).all()
    assert (plan.group[plan.messages.sender] == plan.group[plan.messages.receiver]).all()
    assert plan.pieces.sum() >= len(case.own().rank)


@given(cases())
def test_with_subset_a_rank_hands_everything_to_one_task(case: Case) -> None:
    tasks = io_tasks(case.ranks, case.stride)
    messages = rearranged("subset", case.own(), case.dims, case.element, case.ranks, tasks).messages
    assert len(messages.sender) == len(set(messages.sender.tolist()))
    given_to = dict(zip(messages.sender.tolist(), messages.receiver.tolist(), strict=True))
    assert set(given_to.values()) <= set(tasks.tolist())
    assert all(given_to[task] == task for task in tasks.tolist() if task in given_to)


@given(
    st.lists(st.integers(1, 9), min_size=1, max_size=4),
    st.sampled_from([4, 1024]),
    st.integers(1, 40),
)
def test_boxes_have_whole_outer_elements_and_differ_by_one_in_what_is_cut(
    dims: list[int], element: int, tasks: int
) -> None:
    bounds = boxes(dims, element, tasks)
    sizes = np.diff(bounds)
    assert (bounds[0], bounds[-1]) == (0, prod(dims) * element)
    assert 1 <= len(sizes) <= tasks
    assert (sizes > 0).all()
    inner = max(  # what one step along the dimension that is cut has
        prod(dims[place + 1 :]) * element
        for place in range(len(dims))
        if not (bounds % (prod(dims[place + 1 :]) * element)).any()
    )
    assert np.ptp(sizes) in (0, inner)


@pytest.mark.parametrize(
    ("dims", "element", "tasks", "begin"),
    [
        ([100], 1024, 3, [0, 33, 66, 100]),  # what is left over goes to the last
        ([4, 10], 1024, 10, [0, 5, 10, 15, 20, 25, 30, 35, 40]),  # 8 of 10: 4 times 2
        ([72, 1000], 4, 8, list(range(0, 72_001, 9000))),  # whole levels
        ([100], 4, 8, [0, 100]),  # 400 bytes are for one
        ([3], 1024, 8, [0, 1, 2, 3]),
    ],
)
def test_boxes_by_hand(dims: list[int], element: int, tasks: int, begin: list[int]) -> None:
    assert (boxes(dims, element, tasks) // element).tolist() == begin


def test_ranks_are_shared_out_to_the_tasks_beside_them() -> None:
    own = Accesses(np.arange(7), 4 * np.arange(7), np.full(7, 4))
    plan = rearranged("subset", own, (7,), 4, 7, io_tasks(7, 3))
    assert plan.group.tolist() == [0, 0, 0, 1, 1, 2, 2]
