"""One-sided collective writes against byte-by-byte bookkeeping, and the order of their rounds."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

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
    plan,
    rounds_by_hand,
)
from hypothesis import assume, given
from open_files import of_pieces

from xc40io.config.errors import InputError
from xc40io.mpi.onesided import write_all
from xc40io.mpi.stats import Timer
from xc40io.plane.operations import Op


def possible(target):
    """Tell whether a stripe fits into the collective buffer."""
    return target.mpi.library == "cray" or target.hints.cb_buffer_size >= target.layout.stripe_size


def stripes_by_hand(target, given_):
    """Return all stripes from the first to the last given byte, as ranges within these."""
    size = target.layout.stripe_size
    return [
        range(max(stripe * size, min(given_)), min((stripe + 1) * size, max(given_) + 1))
        for stripe in range(min(given_) // size, max(given_) // size + 1)
    ]


def owner_by_hand(target, stripes):
    """Return what tells the aggregator of a stripe: the first has that with the first byte."""
    size, count = target.layout.stripe_size, len(target.aggregators)
    return lambda stripe: (stripe[0] // size - stripes[0][0] // size) % count


@given(files_and_accesses(one_sided_rmw="inform"))
def test_holes_make_the_library_do_it_all_again_with_read_modify_write(drawn):
    target, accesses = drawn
    assume(possible(target))
    one = plan(write_all, target, accesses)
    given_ = given_bytes(accesses)
    stripes = stripes_by_hand(target, given_) if given_ else []
    round_of = rounds_by_hand(target, accesses, one_sided=True)
    own = owner_by_hand(target, stripes)
    torn = {
        (own(stripe), round_of(stripe[0] // target.layout.stripe_size))
        for stripe in stripes
        if not given_.issuperset(stripe)
    }
    whole = [
        stripe
        for stripe in stripes
        if (own(stripe), round_of(stripe[0] // target.layout.stripe_size)) not in torn
    ]
    again = stripes if len(whole) < len(stripes) else []
    expected = [[] for _ in target.aggregators]
    for stripe in [*whole, *again]:
        expected[own(stripe)].append((stripe[0], stripe[-1] + 1))
    assert one.calls(Op.WRITE, Timer.RAW_WRITE) == expected
    read = [call for calls in one.calls(Op.READ, Timer.MODIFY_READ) for call in calls]
    assert sorted(read) == [(stripe[0], stripe[-1] + 1) for stripe in again]
    counts = one.counts.writes
    written = sum(len(bytes_of(calls)) for calls in expected)
    assert counts.system == len(whole) + len(again)
    assert counts.system_bytes == written == len(given_) + counts.rewritten_bytes
    assert (counts.modified, counts.modify_read_bytes) == (len(again), sum(map(len, again)))
    assert (counts.gaps, counts.gap_bytes) == gaps_between(given_)
    assert (counts.collective, counts.bytes) == (RANKS, accesses.bytes)
    passes = (2 if again else 1) if given_ else 0
    assert sum(transfer.size for transfer in one.transfers) == passes * accesses.bytes


@given(files_and_accesses(one_sided_rmw="always"))
def test_forced_read_modify_write_reads_every_stripe_first(drawn):
    target, accesses = drawn
    assume(possible(target))
    one = plan(write_all, target, accesses)
    given_ = given_bytes(accesses)
    stripes = stripes_by_hand(target, given_) if given_ else []
    expected = [[] for _ in target.aggregators]
    own = owner_by_hand(target, stripes)
    for stripe in stripes:
        expected[own(stripe)].append((stripe[0], stripe[-1] + 1))
    assert one.calls(Op.WRITE) == one.calls(Op.READ) == expected
    counts = one.counts.writes
    assert counts.rewritten_bytes == sum(map(len, stripes)) - len(given_)
    assert counts.modify_read_bytes == counts.system_bytes == sum(map(len, stripes))


@given(files_and_accesses(one_sided_rmw="always"))
def test_every_given_byte_goes_from_its_node_to_its_aggregator_in_its_round(drawn):
    target, accesses = drawn
    assume(possible(target))
    one = plan(write_all, target, accesses)
    moved = Counter()
    for position, rank in enumerate(target.aggregators.tolist()):
        barriers = 0
        for step in one.steps[rank]:
            barriers += step.meeting == INNER
            for transfer in step.transfers:
                assert (transfer.target, transfer.turn) == (target.communicator.node[rank], -1)
                moved[transfer.source, position, barriers // 2] += transfer.size
    assert moved == exchanged(target, accesses, one_sided=True)


@given(files_and_accesses(one_sided_rmw="inform"))
def test_no_data_of_a_round_come_before_all_have_written_the_one_before(drawn):
    target, accesses = drawn
    assume(possible(target))
    one = plan(write_all, target, accesses)
    round_of = rounds_by_hand(target, accesses, one_sided=True)
    meetings = one.meetings(INNER)
    own = [meetings[rank] for rank in target.aggregators.tolist()]
    assert all(barriers == own[0] for barriers in own)
    assert {members for _, members in own[0]} <= {len(own)}
    others = set(range(RANKS)) - set(target.aggregators.tolist())
    assert not any(meetings[rank] for rank in others)
    for rank in target.aggregators.tolist():
        steps = [step for step in one.steps[rank] if step.kind is not Op.WORK]
        for before, step in pairwise(steps):
            if step.kind is Op.EXCHANGE:
                assert before.kind is Op.MEET
                assert before.meeting in (INNER, EVERYONE)
            if before.kind is Op.EXCHANGE:
                assert (step.kind, step.meeting) == (Op.MEET, INNER)
        # Between two barriers, whatever is written is of one round.
        rounds = [set()]
        for step in one.steps[rank]:
            if step.meeting == INNER:
                rounds.append(set())
            if step.kind is Op.WRITE:
                rounds[-1] |= {
                    round_of(start // target.layout.stripe_size) for start, _ in step.calls
                }
        assert all(len(together) <= 1 for together in rounds)


def test_behind_a_hole_whatever_is_written_is_read_before():
    """The next call of the same file reads its stripes once, or twice if it leaves a hole, too."""
    target = collective_file([0, 1], stripe_size=10)
    assert plan(write_all, target, of_pieces([(0, 0, 20)])).calls(Op.READ) == [[], []]
    plan(write_all, target, of_pieces([(0, 0, 10), (1, 13, 7)]))
    whole = plan(write_all, target, of_pieces([(0, 20, 20)]))
    assert whole.calls(Op.READ) == whole.calls(Op.WRITE) == [[(20, 30)], [(30, 40)]]
    torn = plan(write_all, target, of_pieces([(0, 30, 10), (1, 43, 7)]))
    assert torn.calls(Op.READ) == [[(30, 40)] * 2, [(40, 50)] * 2]
    assert torn.calls(Op.WRITE) == [[(30, 40)] * 2, [(40, 50)]]


def test_holes_are_refused_where_read_modify_write_is_forbidden():
    target = collective_file([0, 1], one_sided_rmw="never")
    with pytest.raises(InputError, match=r"ROMIO_ONESIDED_NO_RMW=1.* 3 B of the stripes"):
        plan(write_all, target, of_pieces([(0, 0, 10), (1, 13, 5)]))


def test_whoever_knows_that_there_are_no_holes_saves_the_search_for_them():
    accesses = of_pieces([(rank, 100 * rank, 100) for rank in range(RANKS)])
    seconds = {}
    for rmw in ("never", "inform"):
        target = collective_file([0, 1], stripe_size=200, one_sided_rmw=rmw)
        one = plan(write_all, target, accesses)
        assert one.calls(Op.WRITE) == [[(0, 200), (400, 600)], [(200, 400), (600, 800)]]
        assert not one.counts.writes.modified
        seconds[rmw] = [step.seconds for step in one.steps[0] if step.kind is Op.WORK]
        assert len(one.meetings(INNER)[0]) == (3 if rmw == "never" else 4)
    put = collective_file([0]).mpi.put_time
    assert seconds["never"] == pytest.approx([put, put])
    assert seconds["inform"] == pytest.approx([2 * put, 2 * put])


def test_a_put_for_each_piece_or_one_with_a_datatype_for_each_stripe():
    pieces = [(0, 20 * i, 10) for i in range(50)] + [(1, 20 * i + 10, 10) for i in range(50)]
    work = {}
    for datatypes in (False, True):
        target = collective_file(
            [4, 5], stripe_size=500, put_datatypes=datatypes, one_sided_rmw="never"
        )
        one = plan(write_all, target, of_pieces(sorted(pieces)))
        (work[datatypes],) = {
            step.seconds for rank in (4, 5) for step in one.steps[rank] if step.kind is Op.WORK
        }
    mpi = target.mpi
    assert work[False] == pytest.approx(50 * mpi.put_time)
    assert work[True] == pytest.approx(2 * mpi.put_time + 50 * mpi.piece_time)


def test_there_is_no_planning_but_the_gathering_of_offsets():
    target = collective_file([0, 1])
    begin = plan(write_all, target, of_pieces([(0, 0, 64), (0, 64, 64)])).meetings(EVERYONE)[0][0]
    expected = target.costs.allreduce(16 * RANKS) + 2 * target.mpi.piece_time
    assert begin[0] == pytest.approx(expected)


def test_a_buffer_smaller_than_a_stripe_is_refused():
    target = collective_file([0], library="romio", stripe_size=64, cb_buffer_size=63)
    with pytest.raises(InputError, match=r"cb_buffer_size=63: .* at least one stripe, 64 B"):
        plan(write_all, target, of_pieces([(0, 0, 1)]))


def test_it_does_not_go_together_with_aggregation_inside_the_nodes():
    with pytest.raises(InputError, match="ROMIO_WRITE_AGGMETHOD"):
        plan(write_all, collective_file([0], intra_node=True), of_pieces([(0, 0, 1)]))


def test_a_call_without_data_costs_the_collectives_alone():
    one = plan(write_all, collective_file([0, 3]), of_pieces([]))
    assert all([step.kind for step in steps] == [Op.MEET, Op.MEET] for steps in one.steps)
