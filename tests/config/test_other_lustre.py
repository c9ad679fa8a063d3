"""Systems whose public logs or papers are checks: what is said of their hardware."""

from __future__ import annotations

import pytest

from xc40io.config.machine import load_machine


@pytest.mark.parametrize(
    ("name", "nodes", "servers", "osts", "release"),
    [
        ("archer-fs3", 4920, 12, 48, None),
        ("archer-fs4", 4920, 14, 56, None),
        ("archer2-4cab", None, 12, 12, "2.12"),
        ("ddn-isc17", None, 4, 8, "2.10"),
        ("dell-lustre-2014", 64, 2, 24, None),
        ("dell-lustre-2016", 32, 2, 24, None),
        ("mistral-lustre01", None, 62, 124, "2.5"),
    ],
)
def test_it_is_what_is_said_of_it(
    name: str, nodes: int | None, servers: int, osts: int, release: str | None
) -> None:
    machine = load_machine(name)
    lustre = machine.lustre
    assert (lustre.oss_count, lustre.osts) == (servers, osts)
    assert machine.nodes.count == (nodes or machine.nodes.count)
    assert lustre.version == (release or lustre.version)
    assert machine.burst_buffer is None
    if name.startswith("archer-"):
        assert machine.network.routers == 4920 // 4 + machine.nodes.service_blades
    else:  # no LNET routers: where Cray has them it has the ports of its servers
        assert machine.home is None
        assert machine.lnet.routers - machine.lnet.metadata_routers == servers
    if release is not None:
        blades = machine.nodes.count + 4 * machine.nodes.service_blades
        assert machine.network.routers * 4 == blades


def test_the_file_systems_of_archer_are_of_one_kind() -> None:
    third, fourth = (load_machine(f"archer-{name}").values() for name in ("fs3", "fs4"))
    assert {path for path in third | fourth if third.get(path) != fourth.get(path)} == {
        *("lnet.routers", "lnet.groups", "lustre.mounts", "lustre.osts", "lustre.capacity")
    }


def test_a_vendors_test_bed_has_nothing_that_only_cray_has() -> None:
    old, new = (load_machine(f"dell-lustre-{year}") for year in (2014, 2016))
    assert (old.nodes.cores, new.nodes.cores) == (12, 20)
    for bed in (old, new):
        assert bed.lustre.osts * bed.lustre.ost_disks == 240
        assert bed.lustre.other_reads == bed.lustre.other_writes == 0
    assert new.lnet.ib_link_rate == new.lustre.oss_rate == new.network.nic_rate
    assert new.lnet.router_latency < load_machine("theta").lnet.router_latency / 10
