"""Where the patterns of a skeleton put the pieces of the ranks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xc40io.config.errors import InputError
from xc40io.engine.randomness import stream
from xc40io.workloads.skeleton.patterns import Sharing, place

PATTERNS = ("contiguous", "boxes", "random")


def placed(pattern, file, size, piece, base=0, **options):
    """Place pieces; ``base`` and ``piece`` are the same for all."""
    size = np.asarray(size)
    every = np.ones_like(size)
    return place(
        pattern,
        Sharing.of(np.asarray(file)),
        size,
        piece * every,
        base * every,
        draws=stream(1, "test"),
        **options,
    )


def test_contiguous_ranks_follow_one_another_in_their_file():
    found = placed("contiguous", [0, 0, 1, 1], [10, 25, 0, 7], 10, base=100)
    assert found.rank.tolist() == [0, 1, 1, 1, 3]
    assert found.offset.tolist() == [100, 110, 120, 130, 100]
    assert found.length.tolist() == [10, 10, 10, 5, 7]
    assert found.end.tolist() == [135, 107]


def test_strided_ranks_take_turns():
    found = placed("strided", [0, 0, 0], [20, 20, 20], 10)
    assert found.offset.tolist() == [0, 30, 10, 40, 20, 50]
    apart = placed("strided", [0, 0], [20, 20], 10, stride=1000)
    assert apart.offset.tolist() == [0, 1000, 10, 1010]


def test_boxes_are_taken_in_the_order_of_the_file_and_random_ones_are_not():
    boxes = placed("boxes", [0] * 4, [80] * 4, 8)
    for rank in range(4):
        assert (np.diff(boxes.offset[boxes.rank == rank]) > 0).all()
    anywhere = placed("random", [0] * 4, [80] * 4, 8)
    assert sorted(anywhere.offset.tolist()) == sorted(boxes.offset.tolist())
    assert (np.diff(anywhere.offset[anywhere.rank == 0]) < 0).any()


def test_groups_need_not_be_neighbours():
    sharing = Sharing.of(np.array([7, 3, 7, 3]))
    assert sharing.group.tolist() == [1, 0, 1, 0]
    assert sharing.position.tolist() == [0, 0, 1, 1]
    assert sharing.before(np.array([1, 10, 100, 1000])).tolist() == [0, 0, 1, 10]


def test_too_many_calls_are_refused():
    with pytest.raises(InputError, match="calls in one phase"):
        placed("contiguous", [0], [10**9], 1)


@given(
    st.sampled_from(PATTERNS),
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 200)), min_size=1, max_size=12),
    st.integers(1, 50),
    st.integers(0, 1000),
)
def test_every_byte_of_a_file_belongs_to_one_piece(pattern, ranks, piece, base):
    file, size = (np.array(column) for column in zip(*ranks, strict=True))
    found = placed(pattern, file, size, piece, base)
    assert np.bincount(found.rank, found.length, len(size)).tolist() == size.tolist()
    assert (found.length <= piece).all()
    for group, number in enumerate(np.unique(file)):
        mine = file[found.rank] == number
        order = np.argsort(found.offset[mine])
        begin, length = found.offset[mine][order], found.length[mine][order]
        ends = begin + length
        assert (begin[1:] == ends[:-1]).all()
        assert found.end[group] == base + size[file == number].sum()


@given(st.integers(1, 8), st.integers(1, 6), st.integers(1, 30))
def test_equal_strided_ranks_fill_the_file(ranks, count, piece):
    found = placed("strided", [0] * ranks, [count * piece] * ranks, piece)
    order = np.argsort(found.offset)
    assert found.offset[order].tolist() == [piece * turn for turn in range(ranks * count)]


def test_own_offsets_are_taken_as_they_are():
    size = np.array([20, 5])
    found = place("own", Sharing.of(np.zeros(2)), size, np.array([10, 10]), np.array([100, 7]))
    assert found.offset.tolist() == [100, 110, 7]
    assert found.end.tolist() == [120]
