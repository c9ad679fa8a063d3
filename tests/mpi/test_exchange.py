"""Ranks that meet, and data on their way from rank to rank."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_plane import KIB, RPC, SmallPlane, Step

from xc40io.plane.causes import Cause
from xc40io.plane.counters import Stat
from xc40io.plane.operations import POSTS, Op

MIB = 1 << 20


def meet(members: int, seconds: float = 0.0, timer: int = 0) -> Step:
    return Step(Op.MEET, members=members, seconds=seconds, timer=timer)


def exchange(first: int, count: int, timer: int = 0, *, sends: int = 0, one: int = 0) -> Step:
    return Step(
        Op.EXCHANGE, transfer=first, received=count, sent=sends, sent_first=one, timer=timer
    )


def test_all_leave_a_meeting_when_the_last_has_come_and_the_collective_is_done() -> None:
    plane = SmallPlane(3, 1, mpi__barrier_skew=1e-4)
    plane.plane.batches.add_meetings()
    programs = [[Step(Op.THINK, seconds=0.1 * i), meet(3, 0.01)] for i in range(3)]
    left = plane.run(programs)
    # The last has begun up to a skew late; all leave within one.
    assert np.all((left > 0.2099) & (left < 0.2101))
    assert len(set(left)) == 3
    waited = plane.tables.programs.waits[Cause.MEETING, :3]
    assert waited == pytest.approx(left - [0.0, 0.1, 0.2], abs=1e-4)


def test_who_leaves_a_meeting_first_is_chance_and_comes_from_the_seed() -> None:
    orders = set()
    for seed in (1, 2, 3, 1):
        plane = SmallPlane(8, 1, seed=seed, mpi__barrier_skew=1e-4)
        plane.plane.batches.add_meetings()
        left = plane.run([[Step(Op.THINK, seconds=0.1 * i), meet(8, 0.01)] for i in range(8)])
        orders.add(tuple(np.argsort(left).tolist()))
    assert len(orders) == 3


def test_a_collective_is_never_over_before_the_last_has_come() -> None:
    plane = SmallPlane(4, 1, mpi__barrier_skew=0.02)
    plane.plane.batches.add_meetings()
    left = plane.run([[Step(Op.THINK, seconds=0.1 * i), meet(4, 0.01)] for i in range(4)])
    assert np.all((left >= 0.3) & (left <= 0.33))
    assert np.ptp(left) <= 0.01


def test_a_meeting_takes_place_again_and_again() -> None:
    plane = SmallPlane(2, 2, mpi__barrier_skew=0.0)
    plane.plane.batches.add_meetings()
    programs = [[meet(4, 0.01)] * 10 for _ in range(4)]
    assert plane.run(programs) == pytest.approx([0.1] * 4)


def test_two_meetings_have_nothing_to_do_with_each_other() -> None:
    plane = SmallPlane(2, 2, mpi__barrier_skew=0.0)
    plane.plane.batches.add_meetings(2)
    pair = [Step(Op.MEET, meeting=1, members=2, seconds=0.5)]
    assert plane.run([[meet(2)], [meet(2)], pair, pair]) == pytest.approx([0.0, 0.0, 0.5, 0.5])


@pytest.mark.parametrize(("posts_after", "waits_until"), [(0.3, 0.31), (0.1, 0.21)])
def test_who_posts_at_a_meeting_goes_on_at_once(posts_after: float, waits_until: float) -> None:
    """The other waits for it if it is there first; else it has the message when it comes."""
    plane = SmallPlane(2, 1, mpi__barrier_skew=0.0)
    plane.plane.batches.add_meetings()
    post = Step(Op.MEET, members=2, seconds=0.01, within=POSTS)
    first = [Step(Op.THINK, seconds=posts_after), post, Step(Op.THINK, seconds=1.0)]
    left = plane.run([first, [Step(Op.THINK, seconds=0.2), meet(2, 0.01)]])
    assert left[1] == pytest.approx(waits_until)
    assert left[0] == pytest.approx(posts_after + 1.0, abs=0.011)


def test_a_transfer_moves_at_the_pace_of_the_nic() -> None:
    plane = SmallPlane(2, 1)
    (took,) = plane.run([[exchange(0, 1)]], transfers=[(1, 0, 64 * MIB, -1)])
    rate = plane.machine.network.nic_rate
    assert 64 * MIB / rate < took < 1.02 * 64 * MIB / rate
    assert plane.stat(Stat.EXCHANGED_BYTES) == 64 * MIB


def test_senders_to_one_node_share_its_nic() -> None:
    plane = SmallPlane(5, 1)
    sends = [(source, 0, 16 * MIB, -1) for source in range(1, 5)]
    (took,) = plane.run([[exchange(0, 4)]], transfers=sends)
    rate = plane.machine.network.nic_rate
    assert 64 * MIB / rate < took < 1.05 * 64 * MIB / rate


def test_within_a_node_the_core_of_the_receiver_copies() -> None:
    plane = SmallPlane(1, 2)
    programs = [[exchange(0, 2)], [exchange(2, 1)]]
    copies = [(0, 0, MIB, -1), (0, 0, MIB, -1), (0, 0, MIB, -1)]
    one = MIB / plane.machine.mpi.copy_rate
    assert plane.run(programs, transfers=copies) == pytest.approx([2 * one, one])
    assert plane.stat(Stat.LOCAL_BYTES) == 3 * MIB


def test_file_traffic_and_exchange_compete_for_the_nic() -> None:
    write = Step(Op.WRITE, 0, 0, RPC, 512, RPC)
    times = []
    for size in (1, 128 * MIB):
        plane = SmallPlane(2, 1, network__nic_rate=0.5e9)
        plane.add_files(stripes=4, direct=True)
        times.append(plane.run([[write], [exchange(0, 1)]], transfers=[(0, 1, size, -1)])[0])
    assert times[1] > 1.2 * times[0]


def test_a_node_turns_to_its_next_round_when_its_sends_of_this_one_have_ended() -> None:
    """Node 2 sends to node 0 in the first round; node 0 is late, so node 1 waits too."""
    plane = SmallPlane(3, 1)
    late = [Step(Op.THINK, seconds=0.5), exchange(0, 1)]
    transfers = [(2, 0, KIB, 0), (2, 1, KIB, 1)]
    first, second = plane.run([late, [exchange(1, 1)]], transfers=transfers)
    assert second > first > 0.5

    free = SmallPlane(3, 1)
    _, second = free.run([late, [exchange(1, 1)]], transfers=[(2, 0, KIB, -1), (2, 1, KIB, -1)])
    assert second < 0.01


def test_a_rank_that_sends_for_the_first_time_waits_for_no_other_of_its_node() -> None:
    plane = SmallPlane(3, 1)
    late = [Step(Op.THINK, seconds=0.5), exchange(0, 1)]
    transfers = [(2, 0, KIB, 0, False), (2, 1, KIB, 1, False)]
    first, second = plane.run([late, [exchange(1, 1)]], transfers=transfers)
    assert first > 0.5
    assert second < 0.01

    third = SmallPlane(4, 1)  # of a third round, and it has sent before
    transfers.append((2, 3, KIB, 2, True))
    assert third.run([late, [exchange(1, 1)], [], [exchange(2, 1)]], transfers=transfers)[2] > 0.5


def test_what_an_aggregator_sends_waits_for_it_and_it_for_what_it_sends() -> None:
    """One of them is late; whichever it is, both end together."""
    for late in range(2):
        plane = SmallPlane(2, 1)
        programs = [[exchange(0, 0, sends=1)], [exchange(0, 1)]]
        programs[late].insert(0, Step(Op.THINK, seconds=0.5))
        sender, receiver = plane.run(programs, transfers=[(0, 1, MIB, 0, True, 1)])
        assert sender == receiver > 0.5
        assert plane.stat(Stat.EXCHANGED_BYTES) == MIB


def test_what_aggregators_of_a_node_send_in_a_round_waits_for_all_of_them() -> None:
    plane = SmallPlane(2, 2)
    early, late = exchange(0, 0, sends=1), [Step(Op.THINK, seconds=0.5), exchange(0, 0, sends=1)]
    took = plane.run([[early], late, [exchange(0, 1)]], transfers=[(0, 1, MIB, 0, True, 2)])
    assert took.min() == took.max() > 0.5


@given(
    rounds=st.lists(
        st.lists(st.tuples(st.integers(0, 3), st.integers(1, 3 * MIB)), max_size=5),
        min_size=1,
        max_size=4,
    )
)
def test_every_byte_arrives_and_no_sooner_than_a_nic_allows(
    rounds: list[list[tuple[int, int]]],
) -> None:
    """Nodes 2 to 5 send to two aggregators on nodes 0 and 1, round after round."""
    plane = SmallPlane(6, 1)
    transfers: list[tuple[int, int, int, int]] = []
    programs: list[list[Step]] = [[], []]
    for turn, sends in enumerate(rounds):
        for target in range(2):
            mine = [(2 + node, target, size, turn) for node, size in sends[target::2]]
            programs[target].append(exchange(len(transfers), len(mine)))
            transfers += mine
    took = plane.run(programs, transfers=transfers)
    total = sum(size for _, _, size, _ in transfers)
    assert plane.stat(Stat.EXCHANGED_BYTES) == total
    rate, table = plane.machine.network.nic_rate, np.array(transfers or [(2, 0, 0, 0)])
    for column in range(2):
        nics = np.bincount(table[:, column], table[:, 2])
        assert took.max() >= nics.max() / rate * (1 - 1e-9)
    assert took.max() <= total / rate + 1e-4 * (1 + len(transfers)) + 4e-9 * total
    assert not plane.tables.exchange.gates.left.any()
    assert not plane.tables.exchange.transfers.left.any()
    assert not plane.tables.exchange.transfers.under_way.any()


def test_timers_show_what_each_operation_took() -> None:
    plane = SmallPlane(2, 1)
    plane.plane.batches.add_meetings()
    programs = [
        [Step(Op.WORK, seconds=0.25, timer=1), meet(2, 0.5, timer=2), Step(Op.WORK, seconds=1.0)],
        [Step(Op.THINK, seconds=0.125, timer=3), meet(2, 0.5, timer=2)],
    ]
    plane.run(programs)
    assert plane.tables.programs.timers[:4, 0] == pytest.approx([1.0, 0.25, 0.5, 0.0])
    assert plane.tables.programs.timers[:4, 1] == pytest.approx([0.0, 0.0, 0.625, 0.125])
    assert plane.tables.programs.waits[Cause.LIBRARY, 0] == pytest.approx(1.25)


def test_truncate_takes_the_end_of_every_object_from_all_others() -> None:
    plane = SmallPlane(3, 1)
    plane.add_files(stripes=4)
    writes = [[Step(Op.WRITE, 0, node * RPC, RPC // 2)] for node in range(3)]
    plane.run(writes)
    assert plane.stat(Stat.BLOCKING_ASTS) == 0
    (took,) = plane.run([[Step(Op.TRUNCATE, 0, 10 * RPC)]])
    # Node 0 has its own lock on the first object; nobody has one on the fourth.
    assert plane.stat(Stat.BLOCKING_ASTS) == plane.stat(Stat.CANCEL_SYNCS) == 2
    assert plane.stat(Stat.FLUSHED_BYTES) == RPC
    assert plane.tables.files.rows.end[0] == 10 * RPC
    assert took > plane.machine.lustre.journal_commit


def test_a_thread_that_ends_wakes_its_leader_only_where_it_waits_for_threads() -> None:
    plane = SmallPlane(1, 3)
    plane.plane.batches.add_meetings()
    leader = [Step(Op.FORK, count=1), meet(2), Step(Op.JOIN), Step(Op.THINK, seconds=0.25)]
    thread = [Step(Op.PARK), Step(Op.THINK, seconds=0.125)]
    other = [Step(Op.THINK, seconds=1.0), meet(2)]
    took = plane.run([leader, thread, other])
    assert took == pytest.approx([1.25, 0.125, 1.0])
