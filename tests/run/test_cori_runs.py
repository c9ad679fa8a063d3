"""How small runs on Cori's two kinds of nodes behave, of one core or node.

What was measured there, and how near the model comes, stands in ``validation/claims``.
"""

from __future__ import annotations

from functools import cache

import pytest

from xc40io.config.machine import load_machine
from xc40io.config.scenario import Scenario
from xc40io.results.programs.ior_report import ior_outcome
from xc40io.run.fabric import fabric_of
from xc40io.run.simulate import simulate
from xc40io.workloads.ior.outcome import reduce

MIB = 1 << 20
MACHINES = ("cori-knl", "cori-haswell")
ONE_CORE = "-w -F -b 256m -t 1m"


@cache
def bandwidth(
    machine: str,
    ior: str,
    nodes: int = 1,
    ppn: int = 1,
    count: int = 1,
    changes: tuple[tuple[str, object], ...] = (),
) -> float:
    """Simulate IOR with POSIX and return bytes/s of its first phase."""
    result = simulate(
        Scenario.model_validate(
            {
                "machine": machine,
                "changes": dict(changes),
                "nodes": nodes,
                "ppn": ppn,
                "striping": {"count": count, "size": "1m"},
                "workload": {"ior": f"-a POSIX -k {ior}"},
            }
        )
    )
    return reduce(ior_outcome(result).tests[0].records[0]).bandwidth


@pytest.mark.parametrize("machine", MACHINES)
def test_one_core_writes_at_the_pace_of_its_copies(machine: str) -> None:
    """The network and one OST keep up with the core."""
    copy_rate = load_machine(machine).nodes.write_copy_rate
    assert 0.95 * copy_rate < bandwidth(machine, ONE_CORE) < copy_rate


def test_rpcs_in_flight_hide_the_latency_of_the_disks_from_a_fast_core() -> None:
    one = bandwidth("cori-haswell", ONE_CORE, changes=(("lustre.max_rpcs_in_flight", 1),))
    assert one < 0.5 * bandwidth("cori-haswell", ONE_CORE)


def test_synced_calls_wait_for_the_disks_on_both_kinds_of_nodes() -> None:
    """Dd with oflag=dsync: a core three times as fast gains little."""
    synced = "-w -F -Y -b 16m -t 1m"
    slow, fast = (bandwidth(machine, synced) for machine in MACHINES)
    assert slow < fast < 1.2 * slow
    lustre = load_machine(MACHINES[0]).lustre
    assert fast < MIB / (lustre.ost_write_latency + lustre.journal_commit)


def test_direct_writes_are_as_fast_from_either_node_and_linear_in_processes() -> None:
    direct, call = "-w -F -B -b 8m -t 256k", 256 << 10
    one = bandwidth("cori-knl", direct)
    assert one < call / load_machine("cori-knl").lustre.ost_write_latency
    assert bandwidth("cori-haswell", direct) == pytest.approx(one, rel=0.05)
    assert bandwidth("cori-knl", direct, ppn=16) == pytest.approx(16 * one, rel=0.15)


def test_a_node_has_a_ceiling_for_buffered_writes() -> None:
    """Its memory's; the more cores wait there, the lower it is."""
    job, copy_rate = "-w -F -b 32m -t 1m", load_machine("cori-knl").nodes.node_copy_rate
    one, eight, sixteen, all_cores = (bandwidth("cori-knl", job, ppn=ppn) for ppn in (1, 8, 16, 64))
    assert eight < sixteen < min(12 * one, copy_rate)
    assert all_cores < 0.95 * sixteen
    assert bandwidth("cori-knl", job, nodes=2, ppn=16) == pytest.approx(2 * sixteen, rel=0.05)


def test_one_file_is_slower_than_one_for_each_rank_of_a_node() -> None:
    shared = bandwidth("cori-haswell", "-w -e -b 16m -t 1m", ppn=32, count=72)
    apart = bandwidth("cori-haswell", "-w -e -F -b 64m -t 1m", ppn=32)
    assert shared < apart / 2


@pytest.mark.parametrize(("machine", "groups"), [("cori-knl", 28), ("cori-haswell", 7)])
def test_one_kind_of_nodes_fills_the_first_groups_and_routers_are_in_all(
    machine: str, groups: int
) -> None:
    fabric = fabric_of(load_machine(machine))
    assert set(fabric.compute_group.tolist()) == set(range(groups))
    assert set(fabric.router_group[fabric.lnet_router].tolist()) == set(range(34))


SHARED_BY_FOUR_NODES = "-w -e -g -C -b 16m -t 1m -s 2"


def test_ranks_that_share_a_file_on_one_ost_write_it_in_parts_of_raid_stripes() -> None:
    """They share what each reply frees of the dirty room, so that more OSTs bring much more."""
    one, eight = (
        bandwidth("cori-haswell", SHARED_BY_FOUR_NODES, nodes=4, ppn=16, count=count)
        for count in (1, 8)
    )
    assert eight > 2.5 * one
    whole = (("lustre.partial_stripe_factor", 1),)
    assert bandwidth("cori-haswell", SHARED_BY_FOUR_NODES, 4, 16, changes=whole) > 2.5 * one


def test_from_lustre_2_10_on_full_rpcs_go_first() -> None:
    """LU-8515: "this patch improves performance by several times"."""
    small = ("lustre.rpc_size", "1 MiB")
    before, after = (
        bandwidth("cori-haswell", SHARED_BY_FOUR_NODES, 4, 16, 1, (small, *first))
        for first in ((), (("lustre.full_extents_first", True),))
    )
    assert after > 2 * before
