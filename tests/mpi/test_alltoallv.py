"""Bytes that ranks of groups send each other: all arrive, from the node that has them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from open_files import THETA

from xc40io.mpi.alltoallv import Messages, alltoallv, permute
from xc40io.mpi.communicator import Communicator
from xc40io.plane.batch import Batch
from xc40io.plane.operations import Op

RANKS = np.arange(8)
WORLD = Communicator(RANKS, (RANKS // 2).astype(np.int32), 0)
GROUPS = np.array([[0, 2, 4, 6], [1, 3, 5, 7]])
MPI = THETA.mpi


def batch_of(messages: Messages) -> Batch:
    batch = Batch(RANKS)
    alltoallv(batch, WORLD, MPI, messages, RANKS % 2, np.array([5, 6]))
    return batch


@given(st.lists(st.integers(0, 1000), min_size=32, max_size=32))
def test_a_rank_waits_for_the_bytes_of_each_node_that_has_some_for_it(sizes: list[int]) -> None:
    table = np.array(sizes).reshape(2, 4, 4)  # group, sender, receiver
    group, sender, receiver = np.nonzero(table)
    messages = Messages(GROUPS[group, sender], GROUPS[group, receiver], table[table > 0])
    if not len(messages.size):
        return
    batch = batch_of(messages)
    operations, bounds = batch.listing()
    (transfers,) = batch.transfers
    assert transfers.size.sum() == table.sum()
    for number, ranks in enumerate(GROUPS):
        for member, rank in enumerate(ranks.tolist()):
            mine = operations[bounds[rank] : bounds[rank + 1]]
            assert (mine["meeting"][0], mine["members"][0]) == (5 + number, 4)
            both = (table[number, member], table[number, :, member])
            others = sum(np.count_nonzero(np.delete(way, member)) for way in both)
            assert mine["seconds"][1] == pytest.approx(others * MPI.message_time)
            came = np.zeros(4, np.int64)  # by the node it comes from, where the sender is alone
            for one in mine[mine["kind"] == int(Op.EXCHANGE)]:
                part = slice(one["transfer"], one["transfer"] + one["received"])
                assert (transfers.target[part] == member).all()
                came[transfers.source[part]] = transfers.size[part]
            assert came.tolist() == table[number, :, member].tolist()


def test_what_came_goes_back() -> None:
    messages = Messages(np.array([0, 2]), np.array([2, 4]), np.array([10, 20]))
    (transfers,) = batch_of(messages.back()).transfers
    assert transfers.source.tolist() == [1, 2]
    assert transfers.target.tolist() == [0, 1]
    assert transfers.size.tolist() == [10, 20]


def test_another_order_in_memory_takes_a_copy() -> None:
    batch = Batch(RANKS)
    permute(batch, WORLD, MPI, 1000 * RANKS)
    operations, _ = batch.listing()
    assert operations["seconds"].tolist() == pytest.approx((1000 * RANKS / MPI.copy_rate).tolist())
