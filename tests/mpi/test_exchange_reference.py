"""The compiled exchange beside the plain one: every rank goes on at the same time."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from hypothesis import assume, given, settings
from hypothesis import strategies as st
from reference_client import FAST, SIMPLE
from reference_exchange import Costs, Exchanges, Round, Transfer
from small_plane import KIB, SmallPlane, Step

from xc40io.plane.counters import Stat
from xc40io.plane.operations import Op

NODES, PER_NODE = 3, 2
RANKS = NODES * PER_NODE
TICK = 26617 / 2**28  # s, apart from all other times
MESSAGE = 2 * 22543 / 2**28  # both NICs
COPY = 2**-30  # s/byte


class Drawn(NamedTuple):
    """Transfers, each rank's in a row, and what every rank does with them."""

    transfers: list[Transfer]
    programs: list[list[Round]]


@st.composite
def exchanges(draw: st.DrawFn) -> Drawn:
    """Draw rounds in which ranks receive from any nodes, and aggregators of these send."""
    transfers: list[Transfer] = []
    receives = defaultdict(list)
    senders = {
        (node, turn): draw(st.sets(st.integers(0, PER_NODE - 1), min_size=1))
        for node in range(NODES)
        for turn in range(4)
    }
    rounds = draw(st.integers(1, 4))
    for turn in range(rounds):
        for rank in range(RANKS):
            for _ in range(draw(st.integers(0, 3))):
                source, line = draw(st.integers(0, NODES - 1)), draw(st.integers(0, 3))
                receives[rank, turn].append(len(transfers))
                transfers.append(
                    Transfer(
                        source,
                        rank // PER_NODE,
                        draw(st.integers(1, 40)) * KIB + 1,
                        -1 if line == 3 else turn,
                        line > 0,
                        len(senders[source, turn]) if line == 2 else 0,
                    )
                )
    programs = []
    for rank in range(RANKS):
        node, local = divmod(rank, PER_NODE)
        program = []
        for turn in range(rounds):
            sends = [
                i
                for i, one in enumerate(transfers)
                if one.senders and (one.source, one.turn) == (node, turn)
            ]
            own = sends if local in senders[node, turn] else []
            ticks = draw(st.integers(0, 9)) + (rank * rank + 1) / 64 * (turn == 0)
            program.append(Round(ticks * TICK, receives[rank, turn], own))
        programs.append(program)
    return Drawn(transfers, programs)


@settings(max_examples=40, derandomize=True)
@given(exchanges(), st.sampled_from([1, 2, 4]))
def test_every_rank_goes_on_when_it_does_in_the_plain_model(drawn: Drawn, under_way: int) -> None:
    transfers, programs = drawn
    plane = SmallPlane(
        NODES,
        PER_NODE,
        **SIMPLE
        | {
            "network__nic_latency": MESSAGE / 2,
            "network__nic_rate": FAST,
            "lnet__message_size": 4 * KIB,
            "mpi__messages_under_way": under_way,
            "mpi__copy_rate": 1 / COPY,
        },
    )
    model = Exchanges(Costs(MESSAGE, COPY, 4 * KIB, under_way), transfers)
    ended = model.run(programs)
    assume(not model.tied)
    steps = [
        [
            step
            for one in program
            for step in (
                Step(Op.THINK, seconds=one.thinks),
                Step(
                    Op.EXCHANGE,
                    transfer=one.receives[0] if one.receives else 0,
                    received=len(one.receives),
                    sent=len(one.sends),
                    sent_first=one.sends[0] if one.sends else 0,
                ),
            )
        ]
        for program in programs
    ]
    # Those of a rank in a round stand in a row.
    assert plane.run(steps, transfers=transfers).tolist() == ended
    local = sum(one.size for one in transfers if one.source == one.target)
    assert plane.stat(Stat.LOCAL_BYTES) == local
    assert plane.stat(Stat.EXCHANGED_BYTES) == sum(one.size for one in transfers) - local
