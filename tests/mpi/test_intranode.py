"""Two-layer aggregation: the same bytes in the file, by way of one rank of each node."""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np
import pytest
from collective_plans import (
    EVERYONE,
    INNER,
    RANKS,
    bytes_of,
    collective_file,
    files_and_accesses,
    given_bytes,
    pieces_of,
    plan,
)
from hypothesis import given
from hypothesis import strategies as st
from open_files import of_pieces

from xc40io.mpi import intranode, twophase
from xc40io.mpi.stats import Timer
from xc40io.plane.operations import Op

drawn_files = st.sampled_from([1, 2, 3]).flatmap(lambda n: files_and_accesses(intra_node=n))
"""Files of which one, two or three ranks of a node act for the others, and what is accessed."""


def local_aggregator_of_each(target):
    """Return for each rank who acts for it: the first of its part of the node's ranks."""
    found = {}
    for node in set(target.communicator.node.tolist()):
        ranks = np.flatnonzero(target.communicator.node == node).tolist()
        for part in np.array_split(ranks, min(target.hints.intra_node, len(ranks))):
            found |= dict.fromkeys(part.tolist(), int(part[0]))
    return found


def bytes_of_nodes(target, accesses):
    """Return the bytes that the groups of each node have, one after the other."""
    groups, nodes = defaultdict(set), Counter()
    for rank, start, stop in pieces_of(accesses):
        groups[local_aggregator_of_each(target)[rank]] |= set(range(start, stop))
    for local, own in groups.items():
        nodes[int(target.communicator.node[local])] += len(own)
    return nodes


@given(drawn_files)
def test_the_file_gets_what_it_gets_without_it(drawn):
    target, accesses = drawn
    one = plan(intranode.write_all, target, accesses)
    other = plan(twophase.write_all, target, accesses)
    given_ = given_bytes(accesses)
    if len(given_) < accesses.bytes:  # what ranks of a node give twice, it sends once
        assert given_ <= {b for calls in one.calls(Op.WRITE) for b in bytes_of(calls)}
        return
    for kind in (Op.READ, Op.WRITE):
        assert one.calls(kind) == other.calls(kind)
    assert vars(one.counts.writes).keys() == vars(other.counts.writes).keys()
    for name, value in vars(other.counts.writes).items():
        assert getattr(one.counts.writes, name) == pytest.approx(value), name


@given(drawn_files)
def test_a_read_reads_what_it_reads_without_it(drawn):
    target, accesses = drawn
    one = plan(intranode.read_all, target, accesses)
    other = plan(twophase.read_all, target, accesses)
    assert one.calls(Op.READ) == other.calls(Op.READ)
    assert given_bytes(accesses) <= {b for calls in one.calls(Op.READ) for b in bytes_of(calls)}
    assert one.counts.reads.system_bytes == other.counts.reads.system_bytes
    assert one.counts.reads.bytes == accesses.bytes


@given(drawn_files)
def test_each_rank_hands_its_data_over_in_memory_and_its_node_sends_each_byte_once(drawn):
    target, accesses = drawn
    local = local_aggregator_of_each(target)
    handed = Counter()
    for rank, start, stop in pieces_of(accesses):
        if rank != local[rank]:
            handed[local[rank]] += stop - start
    between = bytes_of_nodes(target, accesses)
    for method, outward in ((intranode.write_all, False), (intranode.read_all, True)):
        one = plan(method, target, accesses)
        exchanges = {
            rank: [step for step in steps if step.kind is Op.EXCHANGE]
            for rank, steps in enumerate(one.steps)
        }
        found = Counter()
        for rank in set(local.values()):
            if handed[rank]:
                at = -1 if outward else 0
                (over,) = exchanges[rank].pop(at).transfers
                node = target.communicator.node[rank]
                assert (over.source, over.target, over.turn) == (node, node, -1)
                found[rank] = over.size
        assert found == +handed
        sent = Counter()
        for rank, own in exchanges.items():
            for sent_one in (transfer for step in own for transfer in step.transfers):
                here, there = (sent_one.source, sent_one.target)[:: 1 if outward else -1]
                assert here == target.communicator.node[rank]
                sent[there] += sent_one.size
        assert sent == between


@given(drawn_files)
def test_the_others_wait_while_the_local_aggregators_plan(drawn):
    target, accesses = drawn
    inner = set(local_aggregator_of_each(target).values()) | set(target.aggregators.tolist())
    for method in (intranode.write_all, intranode.read_all):
        one = plan(method, target, accesses)
        everyone = one.meetings(EVERYONE)
        assert all(own == everyone[0] for own in everyone)
        assert {members for _, members in everyone[0]} == {RANKS}
        planning = [own[:1] for own in one.meetings(INNER)]
        for rank, own in enumerate(planning):
            assert [members for _, members in own] == ([len(inner)] if rank in inner else [])
        # Whatever else happens at the inner meeting, the aggregators do it among themselves.
        rounds = [own[1:] for own in one.meetings(INNER)]
        aggregators = target.aggregators.tolist()
        assert all(rounds[rank] == rounds[aggregators[0]] for rank in aggregators)
        assert not any(rounds[rank] for rank in set(range(RANKS)) - set(aggregators))
        assert {m for own in rounds for _, m in own} <= {len(aggregators)}


def test_neighbours_in_the_file_on_one_node_become_one_piece_and_one_message():
    node = [0] * 4 + [1] * 4
    target = collective_file([0], node=node, stripe_size=800)
    accesses = of_pieces([(rank, 100 * rank, 100) for rank in range(RANKS)])
    work = {}
    for method in (twophase.write_all, intranode.write_all):
        steps = plan(method, target, accesses).steps[0]
        *_, work[method] = (step.seconds for step in steps if step.kind is Op.WORK)
    mpi = target.mpi
    scans, message, piece = mpi.scan_time, mpi.message_time + mpi.handling_time, mpi.piece_time
    # Rank 0 has all pieces, one of them its own, which it has to pack as well.
    assert work[twophase.write_all] == pytest.approx(8 * scans + 9 * piece + 7 * message)
    # Two ranks remain, with a piece of 400 bytes each.
    assert work[intranode.write_all] == pytest.approx(2 * scans + 3 * piece + message)


def test_a_local_aggregator_handles_the_pieces_and_lists_of_its_node():
    target = collective_file([7], node=[0] * 4 + [1] * 4)
    accesses = of_pieces([(0, 0, 5), (1, 10, 5), (1, 20, 5), (3, 30, 5)])
    steps = plan(intranode.write_all, target, accesses).steps[0]
    work = next(step for step in steps if step.kind is Op.WORK)
    mpi = target.mpi
    expected = 4 * mpi.piece_time + 2 * mpi.message_time + 3 * 16 / mpi.copy_rate
    assert (work.seconds, work.timer) == (pytest.approx(expected), Timer.EXCHANGE)


@pytest.mark.parametrize("method", [intranode.write_all, intranode.read_all])
def test_a_call_without_data_moves_nothing(method):
    one = plan(method, collective_file([0, 3]), of_pieces([]))
    assert {step.kind for steps in one.steps for step in steps} == {Op.MEET}
    assert not one.transfers
