"""Brigade aggregation, played through by hand: every block is written once, and memory suffices."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xc40io.libraries.adios_aggregate import Brigade, split
from xc40io.plane.batch import Batch
from xc40io.plane.operations import Op


class Play:
    """Lets the ranks of a batch go on, one operation at a time, until all have ended.

    Whoever comes first in ``order`` goes on if it can.
    """

    def __init__(self, batch: Batch, order: Sequence[int]) -> None:
        operations, self.bounds = batch.listing()
        self.operations = operations
        (self.hops,) = batch.transfers or [None]
        self.at = self.bounds[:-1].copy()
        self.log: list[tuple[int, int, object]] = []
        while any(self._step(rank) for rank in order):
            pass
        assert (self.at == self.bounds[1:]).all(), "somebody waits for ever"

    def _step(self, rank: int) -> bool:
        if self.at[rank] == self.bounds[rank + 1]:
            return False
        operation = self.operations[self.at[rank]]
        if operation["kind"] == Op.MEET:
            return self._meet(rank, operation)
        self.log.append((rank, int(operation["kind"]), operation.copy()))
        self.at[rank] += 1
        return True

    def _meet(self, rank: int, operation: np.void) -> bool:
        """Both neighbours must stand before the same meeting."""
        others = [
            other
            for other in (rank - 1, rank + 1)
            if 0 <= other < len(self.at) and self.at[other] < self.bounds[other + 1]
        ]
        for other in others:
            theirs = self.operations[self.at[other]]
            if theirs["kind"] == Op.MEET and theirs["meeting"] == operation["meeting"]:
                self.at[rank] += 1
                self.at[other] += 1
                return True
        return False


def played(
    groups: int,
    members: int,
    size: list[int],
    *,
    threaded: bool,
    chance: random.Random | None = None,
) -> Play:
    ranks = groups * members
    leader = np.arange(groups) * members
    batch = Batch(np.arange(ranks))
    brigade = Brigade(leader, members, threaded, 0.0)
    node = np.arange(ranks, dtype=np.int32) // 2
    meetings = 100 + np.arange(ranks)
    brigade.close(batch, node, np.array(size), meetings, 7 + np.arange(groups))
    order = list(reversed(range(ranks)))
    if chance is not None:
        chance.shuffle(order)
    play = Play(batch, order)
    assert brigade.hops == sum(kind == Op.EXCHANGE for _, kind, _ in play.log)
    return play


shapes = st.tuples(st.integers(1, 3), st.integers(1, 9)).flatmap(
    lambda shape: st.tuples(
        st.just(shape),
        st.lists(st.integers(1, 99), min_size=shape[0] * shape[1], max_size=shape[0] * shape[1]),
    )
)


@given(shapes, st.booleans(), st.randoms(use_true_random=False))
def test_every_block_is_written_once_and_in_order(
    shape: tuple[tuple[int, int], list[int]], threaded: bool, chance: random.Random
) -> None:
    (groups, members), size = shape
    play = played(groups, members, size, threaded=threaded, chance=chance)
    for group in range(groups):
        mine = size[group * members : (group + 1) * members]
        written = [
            op for rank, kind, op in play.log if rank == group * members and kind == Op.WRITE
        ]
        assert [int(op["length"]) for op in written] == mine
        assert [int(op["offset"]) for op in written] == [sum(mine[:i]) for i in range(members)]
        assert {int(op["file"]) for op in written} == {7 + group}


@given(shapes, st.booleans(), st.randoms(use_true_random=False))
def test_nobody_holds_more_blocks_than_it_has_buffers(
    shape: tuple[tuple[int, int], list[int]], threaded: bool, chance: random.Random
) -> None:
    """Ranks hold one block of others beside their own, aggregators two that arrive or are written.

    A block arrives while its hop is under way and leaves when it has gone on.
    """
    (groups, members), size = shape
    play = played(groups, members, size, threaded=threaded, chance=chance)
    held: Counter[int] = Counter()
    most: Counter[int] = Counter()
    sent: Counter[int] = Counter()
    for rank, kind, operation in play.log:
        aggregator = rank % members == 0
        if kind == Op.EXCHANGE:
            hop = int(operation["transfer"])
            assert play.hops.source[hop] == rank // 2
            assert play.hops.target[hop] == (rank - 1) // 2
            held[rank - 1] += 1
            most[rank - 1] = max(most[rank - 1], held[rank - 1])
            sent[rank] += 1
            held[rank] -= sent[rank] > 1  # the first is its own
        elif aggregator and operation["offset"] > 0:
            held[rank] -= 1
    assert all(most[rank] <= (2 if rank % members == 0 else 1) for rank in most)


@given(shapes)
def test_hops_carry_each_block_to_the_first_rank(
    shape: tuple[tuple[int, int], list[int]],
) -> None:
    (groups, members), size = shape
    play = played(groups, members, size, threaded=True)
    moved = 0 if play.hops is None else int(play.hops.size.sum())
    assert moved == sum(length * (rank % members) for rank, length in enumerate(size))


@pytest.mark.parametrize("threaded", [True, False])
def test_only_a_thread_lets_the_next_block_come_during_a_write(threaded: bool) -> None:
    play = played(1, 3, [8, 8, 8], threaded=threaded)
    order = [(rank, kind) for rank, kind, _ in play.log if rank < 2]
    second_hop = [i for i, entry in enumerate(order) if entry == (1, Op.EXCHANGE)][1]
    writes_before = order[:second_hop].count((0, Op.WRITE))
    assert writes_before == (1 if threaded else 2)


def test_neighbours_are_busy_with_every_word_between_them() -> None:
    batch = Batch(np.arange(3))
    brigade = Brigade(np.array([0]), 3, True, 4e-6)
    brigade.close(batch, np.zeros(3, np.int32), np.full(3, 8), np.arange(3), np.array([7]))
    operations, bounds = batch.listing()
    for rank in range(3):
        own = operations[bounds[rank] : bounds[rank + 1]]
        meets = np.flatnonzero(own["kind"] == Op.MEET)
        assert (own["kind"][meets + 1] == Op.WORK).all()
        assert (own["seconds"][meets + 1] == 4e-6).all()
        assert (own["seconds"][meets] == 0.0).all()  # what a barrier's skew could shorten


@given(st.integers(1, 500), st.integers(1, 600))
def test_groups_are_contiguous_and_nearly_even(ranks: int, wanted: int) -> None:
    groups = split(ranks, wanted)
    assert len(groups.leader) == min(ranks, wanted)
    assert groups.size.sum() == ranks
    assert groups.size.max() - groups.size.min() <= 1
    assert (np.diff(groups.size) <= 0).all()
    assert (np.flatnonzero(np.diff(groups.of, prepend=-1)) == groups.leader).all()
