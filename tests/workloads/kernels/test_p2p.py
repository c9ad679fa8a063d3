"""Messages between nodes: what binds a latency, a message rate and a bandwidth."""

from __future__ import annotations

from typing import Any

import pytest
from small_jobs import run_kernel

from xc40io.config.errors import InputError
from xc40io.config.machine import load_machine
from xc40io.plane.counters import Stat
from xc40io.run.result import Result
from xc40io.workloads.job_results import Row

THETA = load_machine("theta")
KIB, MIB = 1 << 10, 1 << 20


def run(nodes: int = 2, ppn: int = 1, machine: str = "theta", **options: Any) -> Result:
    job = {"machine": machine, "changes": options.pop("changes", {})}
    return run_kernel("p2p", nodes, ppn, job=job, **options)


def only_row(result: Result) -> Row:
    (row,) = result.rows
    return row


def latency(**options: Any) -> float:
    row = only_row(run(mode="ping-pong", messages=20, **options))
    return row.figures["latency"].value


def test_a_small_message_takes_the_software_and_the_wires() -> None:
    small = latency(size=8)
    assert small > THETA.mpi.message_time
    assert small < THETA.mpi.message_time + 2e-6, "two interfaces and some hops are no more"


def test_a_long_message_takes_its_bytes_at_the_interface_too() -> None:
    apart = latency(size=4 * MIB) - latency(size=8)
    assert apart == pytest.approx(4 * MIB / THETA.network.nic_rate, rel=0.1)


def test_a_core_sends_as_many_small_messages_as_its_software_lets_it() -> None:
    row = only_row(run(mode="one-way", size=8, messages=512))
    assert row.figures["messages/s"].value == pytest.approx(1 / THETA.mpi.message_time, rel=0.05)


@pytest.mark.parametrize("size", [64 * KIB, MIB, 4 * MIB])
def test_a_stream_of_large_messages_goes_at_the_pace_of_a_rank(size: int) -> None:
    row = only_row(run(mode="one-way", size=size, window=8))
    assert THETA.mpi.rank_rate is not None
    assert row.bandwidth == pytest.approx(THETA.mpi.rank_rate, rel=0.03)
    assert row.bytes == 256 * size


def test_several_ranks_fill_the_interface_of_their_node() -> None:
    row = only_row(run(ppn=2, mode="one-way", size=MIB))
    assert row.bandwidth == pytest.approx(THETA.network.nic_rate, rel=0.05)


def test_a_rank_without_a_rate_of_its_own_has_that_of_its_node() -> None:
    machine = load_machine("cori-haswell")
    assert machine.mpi.rank_rate is None
    row = only_row(run(machine="cori-haswell", mode="one-way", size=MIB))
    assert row.bandwidth == pytest.approx(machine.network.nic_rate, rel=0.05)


@pytest.mark.parametrize(("both", "rate"), [("16 GB/s", 16e9), ("40 GB/s", 20.4e9)])
def test_the_two_ways_of_an_interface_share_what_it_moves_both_ways(both: str, rate: float) -> None:
    changes = {"network.nic_both_rate": both}
    row = only_row(run(ppn=8, changes=changes, mode="both-ways", size=MIB, messages=16))
    assert row.bandwidth == pytest.approx(rate, rel=0.05)


def test_ranks_of_a_node_share_its_interface() -> None:
    two, eight = (only_row(run(ppn=ppn, mode="one-way", messages=64)) for ppn in (2, 8))
    assert eight.bytes == 4 * two.bytes
    assert eight.bandwidth == pytest.approx(two.bandwidth, rel=0.1)


def test_all_nodes_send_to_all_others() -> None:
    nodes, ppn, messages = 6, 2, 4
    result = run(nodes, ppn, partners="all", messages=messages, size=64 * KIB, window=3)
    row = only_row(result)
    assert row.bytes == nodes * (nodes - 1) * ppn * messages * 64 * KIB
    assert result.stats[Stat.EXCHANGED_BYTES] == row.bytes, "nothing stays within a node"


def test_no_file_system_takes_part() -> None:
    result = run(4, mode="both-ways", messages=8)
    assert result.bulk_bytes == 0
    assert not result.troubles


@pytest.mark.parametrize(
    ("nodes", "options", "words"),
    [
        (3, {}, "cannot be halved"),
        (1, {"partners": "all"}, "one node has no partner"),
        (2, {"partners": "all", "mode": "one-way"}, "partners: half"),
        (2, {"messages": 10**7}, "too many to hold"),
    ],
)
def test_what_cannot_be_sent_is_said(nodes: int, options: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        run(nodes, **options)
