"""Small runs on Cori's two kinds of nodes, beside what was measured there with one core or node."""

from __future__ import annotations

from functools import cache

import pytest

from sim.config.machine import load_machine
from sim.config.scenario import Scenario
from sim.run.fabric import fabric_of
from sim.run.simulate import simulate
from sim.workloads.ior.rows import reduce

MIB = 1 << 20
MACHINES = ("cori-knl", "cori-haswell")


@cache
def bandwidth(machine: str, ior: str, nodes: int = 1, ppn: int = 1, count: int = 1) -> float:
    """Simulate IOR with POSIX and return bytes/s of its first phase."""
    result = simulate(
        Scenario.model_validate(
            {
                "machine": machine,
                "nodes": nodes,
                "ppn": ppn,
                "striping": {"count": count, "size": "1m"},
                "workload": {"ior": f"-a POSIX -k {ior}"},
            }
        )
    )
    return reduce(result.outcome.tests[0].records[0]).bandwidth


@pytest.mark.parametrize(
    ("machine", "least", "most"), [("cori-knl", 280e6, 326e6), ("cori-haswell", 939e6, 1126e6)]
)
def test_one_core_writes_what_dd_did(machine: str, least: float, most: float) -> None:
    """The network and one OST keep up with the core: 8 RPCs in flight hide the disks' latency."""
    assert least < bandwidth(machine, "-w -F -b 256m -t 1m") < most


@pytest.mark.parametrize("machine", MACHINES)
def test_synced_calls_wait_for_the_disks_on_both_kinds_of_nodes(machine: str) -> None:
    """Dd with oflag=dsync, calls of 1 MiB: 28 to 31 MB/s on Xeon Phi, 38 to 46 on Haswell."""
    assert 25e6 < bandwidth(machine, "-w -F -Y -b 16m -t 1m") < 46e6


def test_direct_writes_are_as_fast_from_either_node_and_linear_in_processes() -> None:
    direct = "-w -F -B -b 8m -t 256k"
    one = bandwidth("cori-knl", direct)
    assert 20 * MIB < one < 28 * MIB
    assert bandwidth("cori-haswell", direct) == pytest.approx(one, rel=0.05)
    assert bandwidth("cori-knl", direct, ppn=16) == pytest.approx(16 * one, rel=0.15)


def test_a_node_has_a_ceiling_for_buffered_writes() -> None:
    """Xeon Phi: at most 2.1 to 2.4 GiB/s a node, with 16 processes; 64 are 0.83 times as fast."""
    job = "-w -F -b 32m -t 1m"
    eight, sixteen, all_cores = (bandwidth("cori-knl", job, ppn=ppn) for ppn in (8, 16, 64))
    assert eight < sixteen
    assert 0.67 < all_cores / sixteen < 0.92
    assert 2000 * MIB < sixteen < 2450 * MIB
    assert bandwidth("cori-knl", job, nodes=2, ppn=16) == pytest.approx(2 * sixteen, rel=0.05)


def test_one_file_is_slower_than_one_for_each_rank_of_a_node() -> None:
    """Haswell: 0.25 to 0.75 GB/s into one file, 1.5 to 3.8 GB/s into many."""
    shared = bandwidth("cori-haswell", "-w -e -b 16m -t 1m", ppn=32, count=72)
    apart = bandwidth("cori-haswell", "-w -e -F -b 64m -t 1m", ppn=32)
    assert 0.25e9 < shared < 0.75e9
    assert 1.5e9 < apart < 3.8e9


@pytest.mark.parametrize(("machine", "groups"), [("cori-knl", 28), ("cori-haswell", 7)])
def test_one_kind_of_nodes_fills_the_first_groups_and_routers_are_in_all(
    machine: str, groups: int
) -> None:
    fabric = fabric_of(load_machine(machine))
    assert set(fabric.compute_group.tolist()) == set(range(groups))
    assert set(fabric.router_group[fabric.lnet_router].tolist()) == set(range(34))
