"""Two-phase collective buffering against byte-by-byte bookkeeping, and what its steps cost."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import pairwise

import numpy as np
import pytest
from collective_plans import (
    EVERYONE,
    INNER,
    RANKS,
    bytes_of,
    collective_file,
    exchanged,
    files_and_accesses,
    gaps_between,
    given_bytes,
    pieces_of,
    plan,
    rounds_by_hand,
    stripes_of,
)
from hypothesis import given
from open_files import of_pieces

from xc40io.mpi.hints import Switch
from xc40io.mpi.onesided import write_all as one_sided_write_all
from xc40io.mpi.stats import Timer
from xc40io.mpi.twophase import read_all, write_all
from xc40io.plane.operations import Op


def window_by_hand(target, given_, stripe):
    """Return the range that an aggregator takes a stripe to hold data in."""
    domain = stripe % len(target.aggregators)
    own = [
        byte
        for byte in given_
        if byte // target.layout.stripe_size % len(target.aggregators) == domain
    ]
    low = min(stripes_of(given_, target.layout.stripe_size)[stripe])
    return range(low, min((stripe + 1) * target.layout.stripe_size, max(own) + 1))


def sees_hole(window, own, sent, pieces):
    """Tell whether an aggregator sees a hole: what is sent twice, it counts twice.

    It also sees one behind a piece that ends before the next one begins. Of those that begin at one
    place any may be the last: None, if it depends on that.
    """
    runs = 1 + sum(byte + 1 not in own for byte in sorted(own)[:-1])
    if runs > 1 or sum(sent[byte] for byte in own) < len(window):
        return True
    ends = {}
    for _, start, stop in pieces:
        if max(start, window.start) < min(stop, window.stop):
            ends.setdefault(max(start, window.start), set()).add(min(stop, window.stop))
    gaps = [{end < after for end in ends[start]} for start, after in pairwise(sorted(ends))]
    return None if {False, True} in gaps and {True} not in gaps else {True} in gaps


@given(files_and_accesses())
def test_a_write_writes_what_is_given_and_the_holes_it_has_read_before(drawn):
    target, accesses = drawn
    one = plan(write_all, target, accesses)
    given_, sent = (
        given_bytes(accesses),
        Counter(byte for _, start, stop in pieces_of(accesses) for byte in range(start, stop)),
    )
    expected = [set() for _ in target.aggregators]
    modified = []
    read = [call for calls in one.calls(Op.READ, Timer.MODIFY_READ) for call in calls]
    for stripe, own in stripes_of(given_, target.layout.stripe_size).items():
        window = window_by_hand(target, given_, stripe)
        holes = sees_hole(window, own, sent, pieces_of(accesses))
        if holes is None:
            holes = (window[0], window[-1] + 1) in read
        sieved = holes and target.hints.romio_lustre_ds_in_coll is Switch.ENABLE
        expected[stripe % len(expected)] |= own if holes and not sieved else set(window)
        modified += [(window, own)] if sieved else []
    written = [bytes_of(calls) for calls in one.calls(Op.WRITE, Timer.RAW_WRITE)]
    assert [sorted(own) for own in written] == [sorted(own) for own in expected]
    assert sorted(read) == sorted((window[0], window[-1] + 1) for window, _ in modified)
    counts = one.counts.writes
    assert counts.modified == len(modified)
    assert counts.modify_read_bytes == sum(len(window) for window, _ in modified)
    assert counts.rewritten_bytes == sum(len(window) - len(own) for window, own in modified)
    assert counts.system_bytes == sum(map(len, expected))
    if len(sent) == accesses.bytes:  # no byte is sent twice: nothing is written that was not read
        assert counts.system_bytes == len(given_) + counts.rewritten_bytes


@given(files_and_accesses())
def test_a_write_is_counted(drawn):
    target, accesses = drawn
    one = plan(write_all, target, accesses)
    counts, given_ = one.counts.writes, given_bytes(accesses)
    calls = [stop - start for own in one.calls(Op.WRITE) for start, stop in own]
    assert (counts.system, counts.system_bytes) == (len(calls), sum(calls))
    assert counts.stripe_sized == calls.count(target.layout.stripe_size)
    assert (counts.gaps, counts.gap_bytes) == gaps_between(given_)
    assert (counts.collective, counts.bytes) == (RANKS, accesses.bytes)
    assert counts.active.sum() == (RANKS if given_ else 0)
    assert one.counts.reads.system == one.counts.reads.collective == 0


@given(files_and_accesses())
def test_every_given_byte_goes_from_its_node_to_its_aggregator_in_its_round(drawn):
    target, accesses = drawn
    one = plan(write_all, target, accesses)
    moved = Counter()
    for position, aggregator in enumerate(target.aggregators.tolist()):
        for step in one.of_aggregator(position, Op.EXCHANGE):
            assert len({transfer.turn for transfer in step.transfers}) <= 1
            for transfer in step.transfers:
                assert transfer.target == target.communicator.node[aggregator]
                moved[transfer.source, position, transfer.turn] += transfer.size
    assert moved == exchanged(target, accesses)
    assert sum(transfer.size for transfer in one.transfers) == accesses.bytes


@given(files_and_accesses())
def test_aggregators_send_in_rounds_of_their_own(drawn):
    target, accesses = drawn
    one = plan(write_all, target, accesses)
    owed = Counter((t.source, t.turn) for t in one.transfers if t.senders)
    senders: Counter[tuple[int, int]] = Counter()
    for rank, steps in enumerate(one.steps):
        sending = [step for step in steps if step.one_sent is not None]
        assert not sending or rank in target.aggregators
        turns = [step.one_sent.turn for step in sending]
        assert turns == sorted(set(turns))
        for step, turn in zip(sending, turns, strict=True):
            place = step.one_sent.source, turn
            assert step.one_sent.senders
            assert place[0] == target.communicator.node[rank]
            assert step.sends == owed[place]
            assert {transfer.turn for transfer in step.transfers} <= {turn}
            senders[place] += 1
    assert all(t.senders in (0, senders[t.source, t.turn]) for t in one.transfers)


@given(files_and_accesses())
def test_other_ranks_wait_for_what_they_have_sent_and_for_nothing_else(drawn):
    target, accesses = drawn
    one = plan(write_all, target, accesses)
    round_of = rounds_by_hand(target, accesses)
    begins: defaultdict[tuple[int, int], set[bool]] = defaultdict(set)
    for rank in set(range(RANKS)) - set(target.aggregators.tolist()):
        given_ = [piece for piece in pieces_of(accesses) if piece[0] == rank]
        stripes = {
            byte // target.layout.stripe_size for _, *ends in given_ for byte in range(*ends)
        }
        rounds = {round_of(stripe) for stripe in stripes}
        for turn in rounds:
            begins[int(target.communicator.node[rank]), turn].add(turn > min(rounds))
    for transfer in one.transfers:
        if transfer.after and not transfer.senders:
            assert True in begins[transfer.source, transfer.turn]
    lines = {(t.source, t.turn, t.after) for t in one.transfers if not t.senders}
    for (node, turn), waits in begins.items():
        assert all((node, turn, wait) in lines for wait in waits)


@given(files_and_accesses())
def test_data_of_a_round_come_before_it_is_written_and_rounds_follow_each_other(drawn):
    target, accesses = drawn
    one = plan(write_all, target, accesses)
    round_of = rounds_by_hand(target, accesses)
    for rank in target.aggregators.tolist():
        turn, last = -1, -1
        for step in one.steps[rank]:
            if step.kind is Op.EXCHANGE:
                turn = (step.transfers or [step.one_sent])[0].turn
                assert turn > last
                last = turn
            stripes = {start // target.layout.stripe_size for start, _ in step.calls}
            rounds = {round_of(stripe) for stripe in stripes}
            if step.kind is Op.WRITE:
                assert rounds == {turn}
            elif step.kind is Op.READ:
                assert min(rounds) > turn


@given(files_and_accesses())
def test_all_ranks_meet_at_the_beginning_and_the_end(drawn):
    target, accesses = drawn
    for method in (write_all, read_all):
        one = plan(method, target, accesses)
        meetings = one.meetings(EVERYONE)
        assert all(own == meetings[0] for own in meetings)
        assert [members for _, members in meetings[0]] == [RANKS, RANKS]
        for steps in one.steps:
            assert steps[0].kind is steps[-1].kind is Op.MEET
            assert (steps[0].timer, steps[-1].timer) == (Timer.PLAN, Timer.FINISH)


@given(files_and_accesses())
def test_a_read_fetches_what_is_asked_for_in_one_call_a_window(drawn):
    target, accesses = drawn
    one = plan(read_all, target, accesses)
    asked = given_bytes(accesses)
    calls = one.calls(Op.READ, Timer.RAW_READ)
    every = Counter(byte for own in calls for byte in bytes_of(own))
    assert asked <= set(every)
    assert set(every.values()) <= {1}
    sizes = [stop - start for own in calls for start, stop in own]
    counts = one.counts.reads
    assert (counts.system, counts.system_bytes) == (len(sizes), sum(sizes))
    assert (counts.gaps, counts.gap_bytes) == gaps_between(asked)
    assert counts.bytes == accesses.bytes
    if target.mpi.library == "cray":
        hulls = [[] for _ in calls]
        for stripe, own in sorted(stripes_of(asked, target.layout.stripe_size).items()):
            hulls[stripe % len(hulls)].append((min(own), max(own) + 1))
        assert calls == hulls
        return
    for own in calls:
        assert all(0 < stop - start <= target.hints.cb_buffer_size for start, stop in own)
        assert all(asked.intersection(range(start, stop)) for start, stop in own)
        if own:
            assert own[0][0] in asked
            assert own[-1][1] - 1 in asked


@given(files_and_accesses())
def test_what_is_read_goes_to_the_nodes_that_ask_for_it(drawn):
    target, accesses = drawn
    one = plan(read_all, target, accesses)
    asked = Counter()
    for rank, length in zip(accesses.rank.tolist(), accesses.length.tolist(), strict=True):
        asked[int(target.communicator.node[rank])] += length
    moved = Counter()
    for transfer in one.transfers:
        assert transfer.source in target.nodes
        assert transfer.turn == -1
        moved[transfer.target] += transfer.size
    assert moved == asked
    for rank in range(RANKS):
        for before, step in pairwise(one.steps[rank]):
            if step.kind is Op.EXCHANGE:
                assert before.kind is Op.WORK


@given(files_and_accesses())
def test_aggregators_meet_in_every_round_of_a_read_for_an_alltoall(drawn):
    target, accesses = drawn
    meetings = plan(read_all, target, accesses).meetings(INNER)
    others = set(range(RANKS)) - set(target.aggregators.tolist())
    assert not any(meetings[rank] for rank in others)
    own = [meetings[rank] for rank in target.aggregators.tolist()]
    assert all(rounds == own[0] for rounds in own)
    alltoall = target.costs.alltoall(4)
    assert set(own[0]) == ({(alltoall, len(own))} if len(accesses.rank) else set())


@given(files_and_accesses())
def test_nobody_meets_in_the_rounds_of_a_write(drawn):
    target, accesses = drawn
    assert not any(plan(write_all, target, accesses).meetings(INNER))


@pytest.mark.parametrize("method", [write_all, read_all])
def test_a_call_without_data_costs_the_collectives_alone(method):
    one = plan(method, collective_file([0, 3]), of_pieces([]))
    assert all([step.kind for step in steps] == [Op.MEET, Op.MEET] for steps in one.steps)
    assert not one.transfers
    assert one.counts.writes.collective + one.counts.reads.collective == RANKS


def test_two_pieces_with_a_hole_between_them_are_read_modified_and_written():
    # The example in ROMIO's ad_lustre_wrcoll.c: [0, 30) and [60, 90) of a stripe of 100 bytes.
    accesses = of_pieces([(0, 0, 30), (1, 60, 30)])
    one = plan(write_all, collective_file([5], stripe_size=100), accesses)
    kinds = [(step.kind, step.calls) for step in one.steps[5] if step.calls]
    assert kinds == [(Op.READ, [(0, 90)]), (Op.WRITE, [(0, 90)])]
    assert one.counts.writes.rewritten_bytes == 30


@pytest.mark.parametrize("switch", [Switch.DISABLE, Switch.AUTOMATIC])
def test_without_sieving_equal_pieces_are_one_operation_of_many_calls(switch):
    target = collective_file([5], stripe_size=1000, romio_lustre_ds_in_coll=switch)
    pieces = [(rank, 100 * rank, 20) for rank in range(RANKS)]
    one = plan(write_all, target, of_pieces(pieces))
    writes = [step for step in one.steps[5] if step.kind is Op.WRITE]
    assert [len(step.calls) for step in writes] == [RANKS]
    assert writes[0].calls == [(offset, offset + size) for _, offset, size in pieces]
    assert one.counts.writes.modified == one.counts.writes.modify_read_bytes == 0


def test_bytes_that_nobody_gives_at_the_end_of_a_stripe_are_a_hole_but_for_the_last_one():
    accesses = of_pieces([(0, 0, 80), (1, 200, 80)])
    one = plan(write_all, collective_file([0], stripe_size=100), accesses)
    assert one.calls(Op.READ) == [[(0, 100)]]
    assert one.calls(Op.WRITE) == [[(0, 100), (200, 280)]]


def test_the_ranks_look_through_the_communicator_in_every_round_even_where_nothing_is_to_do():
    # The first aggregator has the even stripes; of these it gets the third alone.
    target = collective_file([3, 1], stripe_size=100)
    accesses = of_pieces([(1, 800, 50), (3, 100, 100), (3, 500, 100), (3, 850, 50)])
    one = plan(write_all, target, accesses)
    work = [step.seconds for step in one.steps[3] if step.kind is Op.WORK]
    scan = RANKS * target.mpi.scan_time
    message, piece = target.mpi.message_time + target.mpi.handling_time, target.mpi.piece_time
    # Rounds begin with stripe 1: stripe 8 is in the fourth. It takes a message from rank 1 and a
    # piece of its own.
    assert work == pytest.approx([4 * scan + 3 * piece + message])


def test_calls_of_65536_ranks_of_theta_take_their_rounds_and_two_seconds():
    """17 calls with 41,632 rounds took 752.3 s, the longest, with 10,992, 191.6 s (Darshan log)."""
    mpi = collective_file([0]).mpi
    call = 65536 * 3 * (mpi.message_time + mpi.handling_time)
    rounds = 264.1 / 41632 + 65536 * mpi.scan_time
    assert call == pytest.approx(2.0, rel=0.05)
    assert 17 * call + 41632 * rounds == pytest.approx(752.3, rel=0.01)
    assert call + 10992 * rounds == pytest.approx(191.6, rel=0.01)


@pytest.mark.parametrize(("release", "messages"), [("3", 2), ("4", 1)])
def test_an_aggregator_gets_offsets_and_lengths_of_each_rank_as_two_messages_before_mpich_33(
    release, messages
):
    """The ranks have the same pieces, so that only the number of lists tells two calls apart."""
    seconds = []
    for ranks in (range(1, 4), range(1, 8)):
        target = collective_file([0], stripe_size=1000, library="romio", release=release)
        pieces = [(rank, 10 * rank, 10) for rank in ranks]
        seconds.append(plan(write_all, target, of_pieces(pieces)).meetings(EVERYONE)[0][0][0])
    mpi = target.mpi
    each = messages * (mpi.message_time + mpi.handling_time) + mpi.piece_time + 16 / mpi.step_rate
    assert seconds[1] - seconds[0] == pytest.approx(4 * each)


def fetching(target, size):
    """Return what a byte of a call costs more if others have sent all of it: seconds."""
    return 1.0 / target.mpi.fetch_rate + target.mpi.round_time / size


@pytest.mark.parametrize(
    ("giver", "fetched"), [((0, 1), 0.0), ((2, 5), 1.0), ((1, 5), 0.5), ((5, 0), 0.5)]
)
@pytest.mark.parametrize("method", [write_all, one_sided_write_all])
def test_an_aggregator_fetches_from_memory_what_other_nodes_have_sent(method, giver, fetched):
    """Ranks 0 and 1 are on one node, and rank 0 writes for all."""
    target = collective_file([0], stripe_size=1000)
    one = plan(method, target, of_pieces([(giver[0], 0, 500), (giver[1], 500, 500)]))
    (write,) = one.of_aggregator(0, Op.WRITE)
    assert write.seconds == pytest.approx(fetched * fetching(target, 1000))


@pytest.mark.parametrize(("taker", "share"), [((0, 1), 0.0), ((2, 5), 1.0), ((1, 5), 0.5)])
def test_a_round_of_which_other_nodes_have_a_share_takes_an_aggregator_longer_to_read(taker, share):
    """Ranks 0 and 1 are on one node, and rank 0 reads for all."""
    target = collective_file([0], stripe_size=1000)
    one = plan(read_all, target, of_pieces([(taker[0], 0, 500), (taker[1], 500, 500)]))
    (read,) = one.of_aggregator(0, Op.READ)
    assert read.seconds * 1000 == pytest.approx(share * target.mpi.round_time)


def test_what_is_read_to_be_modified_need_not_be_fetched():
    target = collective_file([0], stripe_size=1000, romio_lustre_ds_in_coll=Switch.ENABLE)
    one = plan(write_all, target, of_pieces([(4, 0, 100), (6, 900, 100)]))
    (write,) = one.of_aggregator(0, Op.WRITE)
    assert write.calls == [(0, 1000)]
    assert write.seconds == pytest.approx(0.2 * fetching(target, 1000))


def test_an_aggregator_waits_for_the_slowest_rank_that_has_anything_for_it():
    target = collective_file([0, 1], stripe_size=1000)
    busy = [(7, 2 * i, 1) for i in range(900)]  # 500 pieces for one aggregator, 400 for the other
    one = plan(write_all, target, of_pieces([(2, 11, 1), *busy]))
    mpi = target.mpi
    scan = RANKS * mpi.scan_time
    for rank in (0, 1):
        work = [step.seconds for step in one.steps[rank] if step.kind is Op.WORK]
        assert work == pytest.approx([scan + 900 * mpi.piece_time + 2 * mpi.message_time])


def test_planning_costs_more_with_more_pieces():
    target = collective_file([0, 1])
    cost = [
        plan(write_all, target, of_pieces([(0, 2 * i, 1) for i in range(pieces)])).meetings(
            EVERYONE
        )[0][0][0]
        for pieces in (0, 10, 20)
    ]
    assert cost[0] > target.costs.alltoall(4)
    each = 3 * target.mpi.piece_time + 16 / target.mpi.step_rate
    assert cost[2] - cost[1] == pytest.approx(10 * each)


def test_the_offsets_are_gathered_by_an_allreduce_or_by_two_allgathers():
    accesses = of_pieces([(0, 0, 1)])
    planning = [
        plan(write_all, collective_file([0], tune_gather=tuned), accesses).meetings(EVERYONE)[0][0]
        for tuned in (True, False)
    ]
    costs = collective_file([0]).costs
    difference = costs.allreduce(16 * RANKS) - 2 * costs.allgather(8)
    assert planning[0][0] - planning[1][0] == pytest.approx(difference)


def test_a_single_aggregator_ends_the_call_with_a_broadcast():
    accesses = of_pieces([(0, 0, 1)])
    for aggregators, cost in (([0], "bcast"), ([0, 1], "allreduce")):
        target = collective_file(aggregators)
        end = plan(write_all, target, accesses).meetings(EVERYONE)[0][-1]
        assert end[0] == getattr(target.costs, cost)(4)


def test_the_library_asks_for_500_stripes_ahead_and_again_when_it_leaves_them():
    size, aggregators = 10, [0, 1]
    target = collective_file(aggregators, stripe_size=size, cray_cb_write_lock_mode=2)
    step = size * len(aggregators)
    reach = 500 * step
    first = plan(write_all, target, of_pieces([(0, 0, 3 * step), (1, reach + 5, 2 * step)]))
    asked = [step.calls for step in first.of_aggregator(0, Op.LOCK_AHEAD)]
    assert [calls[0] for calls in asked] == [(0, size), (reach, reach + size)]
    assert {len(calls) for calls in asked} == {500}
    assert asked[0][-1] == (reach - step, reach - step + size)
    for rank in aggregators:
        order = [step.kind for step in first.steps[rank] if step.calls]
        assert order[:2] == [Op.LOCK_AHEAD, Op.WRITE]
    # What has been asked for holds from call to call, until somebody goes back.
    again = plan(write_all, target, of_pieces([(0, reach + 3 * step, step)]))
    assert not again.of_aggregator(0, Op.LOCK_AHEAD)
    back = plan(write_all, target, of_pieces([(0, 2 * step + 3, 2)]))
    assert [step.calls[0][0] for step in back.of_aggregator(0, Op.LOCK_AHEAD)] == [2 * step]


@pytest.mark.parametrize("mode", [0, 1])
def test_other_lock_modes_ask_for_no_locks_ahead(mode):
    target = collective_file([0], cray_cb_write_lock_mode=mode)
    one = plan(write_all, target, of_pieces([(0, 0, 1000)]))
    assert not one.of_aggregator(0, Op.LOCK_AHEAD)


def test_a_large_call_is_planned_at_once():
    # 4,096 pieces of one stripe each: no more than a few operations for each of them.
    target = collective_file(list(range(RANKS)), stripe_size=1 << 20)
    stripe = np.arange(4096)
    pieces = np.stack([stripe // 512, stripe << 20, np.full(4096, 1 << 20)], axis=1)
    one = plan(write_all, target, of_pieces(pieces.tolist()))
    assert one.counts.writes.stripe_sized == 4096
    assert sum(len(steps) for steps in one.steps) == 3 * 4096 + 2 * RANKS
