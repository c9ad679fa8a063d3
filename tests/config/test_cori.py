"""Cori's two machine files: what was published, what adds up, what they share with each other."""

from __future__ import annotations

from typing import Any

import pytest

from xc40io.config.machine import Machine, load_machine
from xc40io.config.parts.networks.dragonfly import Dragonfly
from xc40io.engine.page import PAGE


@pytest.fixture(scope="module")
def knl() -> Machine:
    return load_machine("cori-knl")


@pytest.fixture(scope="module")
def haswell() -> Machine:
    return load_machine("cori-haswell")


@pytest.fixture(scope="module", params=["cori-knl", "cori-haswell"])
def cori(request: pytest.FixtureRequest) -> Machine:
    return load_machine(request.param)


def dragonfly(machine: Machine) -> Dragonfly:
    assert isinstance(machine.network, Dragonfly)
    return machine.network


def test_the_nodes_are_the_published_ones(knl: Machine, haswell: Machine) -> None:
    assert (knl.nodes.count, knl.nodes.cores) == (9688, 68)
    assert (haswell.nodes.count, haswell.nodes.cores) == (2388, 32)
    assert (knl.nodes.memory, haswell.nodes.memory) == (96 << 30, 128 << 30)


def test_the_nodes_of_both_files_fill_the_machine(knl: Machine, haswell: Machine) -> None:
    for machine in (knl, haswell):
        blades = machine.network.routers - machine.nodes.service_blades
        places = blades * machine.network.nodes_per_router
        assert places == knl.nodes.count + haswell.nodes.count


def test_the_dragonfly_has_ports_for_its_optical_links(cori: Machine) -> None:
    network = dragonfly(cori)
    optical_ports = 10 * network.chassis * network.slots
    assert network.groups == 34
    assert network.group_links == 6 * 4
    assert (network.groups - 1) * network.group_links <= optical_ports


def test_every_oss_has_its_routers(cori: Machine) -> None:
    lnet = cori.lnet
    assert lnet.routers == lnet.data_routers + lnet.metadata_routers == 130
    assert lnet.groups * lnet.oss_per_group == cori.lustre.oss_count == 248
    assert lnet.routers <= cori.nodes.service_nodes


def test_the_routers_carry_what_the_disks_do(cori: Machine) -> None:
    lnet, lustre = cori.lnet, cori.lustre
    router = min(cori.network.nic_rate, lnet.ib_links_per_router * lnet.ib_link_rate)
    assert lustre.osts * lustre.ost_write_rate == pytest.approx(744e9)
    for rate in (lustre.ost_write_rate, lustre.ost_read_rate):
        assert lnet.routers_per_group * router > lnet.oss_per_group * rate
        assert rate < lustre.oss_rate


def test_the_client_may_hold_what_it_has_in_flight(cori: Machine) -> None:
    lustre = cori.lustre
    assert lustre.max_rpcs_in_flight * lustre.rpc_size <= lustre.max_dirty
    assert lustre.grant_chunk == 2 * lustre.rpc_size
    assert lustre.initial_grant >= lustre.max_dirty
    assert not lustre.lock_ahead


@pytest.mark.parametrize("section", ["network", "lnet", "lustre"])
def test_both_files_describe_one_machine(knl: Machine, haswell: Machine, section: str) -> None:
    assert getattr(knl, section) == getattr(haswell, section)


def test_what_both_files_share_has_one_source(knl: Machine, haswell: Machine) -> None:
    own = ("nodes.", "mpi.", "burst_buffer.client_")
    shared = {path for path in knl.values() if not path.startswith(own)}
    shared |= {path for path in knl.values() if path.startswith("nodes.service_")}
    assert {path: knl.provenance[path] for path in shared} == {
        path: haswell.provenance[path] for path in shared
    }


def of_a_core(machine: Machine) -> dict[str, Any]:
    """What a kind of core decides, whatever its clock, and the chip of the network."""
    nodes, network = machine.nodes, dragonfly(machine)
    return machine.mpi.model_dump() | {
        "read_copy_rate": nodes.read_copy_rate,
        "read_page_time": nodes.read_page_time,
        "node_copy_rate": nodes.node_copy_rate,
        "node_hit_rate": nodes.node_hit_rate,
        "numa_nodes": nodes.numa_nodes,
        "tree_page_time": nodes.tree_page_time,
        "spinlock_handover_time": nodes.spinlock_handover_time,
        "rpc_thread_rate": nodes.rpc_thread_rate,
        "lock_thread_time": nodes.lock_thread_time,
        "mds_message_latency": nodes.mds_message_latency,
        "link": (network.green_rate, network.black_rate, network.blue_rate),
        "payload_fraction": network.payload_fraction,
        "nic": (network.nic_rate, network.nic_latency, network.hop_latency),
        "message_latency": network.message_latency,
    }


def test_a_xeon_phi_core_is_a_xeon_phi_core(knl: Machine) -> None:
    assert of_a_core(knl) == of_a_core(load_machine("theta"))


def test_one_core_writes_as_its_clock_says(knl: Machine) -> None:
    """The straight line through five clocks: 184.33 MB/s a GHz + 41.28 MB/s."""
    theta = load_machine("theta")
    for machine, gigahertz in ((knl, 1.4), (theta, 1.3)):
        fit = (184.33 * gigahertz + 41.28) * 1e6
        assert machine.nodes.write_copy_rate == pytest.approx(fit, rel=0.01)


def test_a_haswell_core_is_the_faster_one(knl: Machine, haswell: Machine) -> None:
    rates = ("write_copy_rate", "rpc_thread_rate")
    times = ("tree_page_time", "lock_thread_time")
    for name in rates:
        assert 2.5 < getattr(haswell.nodes, name) / getattr(knl.nodes, name) < 4, name
    streams = [
        1 / machine.nodes.read_copy_rate + machine.nodes.read_page_time / PAGE
        for machine in (knl, haswell)
    ]
    assert 2 < streams[0] / streams[1] < 4  # of what nobody has in memory: measured on Xeons
    assert haswell.mpi.fetch_rate > 10 * knl.mpi.fetch_rate  # into its L3 cache the NIC writes
    for name in times:
        assert 2.5 < getattr(knl.nodes, name) / getattr(haswell.nodes, name) < 4, name
    for name in ("step_latency", "local_latency", "put_time", "scan_time"):
        assert 2 < getattr(knl.mpi, name) / getattr(haswell.mpi, name) < 4, name
    slow, fast = (one.mpi.message_time + 2 * one.network.nic_latency for one in (knl, haswell))
    assert 2 < slow / fast < 4  # a message between two nodes, with the interfaces that it passes


def test_what_other_jobs_do_is_small_beside_the_file_system(cori: Machine) -> None:
    lustre = cori.lustre
    weekly = 10.6 * 2**50 / (7 * 86400)  # published: PiB a week, read and written
    assert lustre.other_reads + lustre.other_writes == pytest.approx(weekly, rel=0.1)
