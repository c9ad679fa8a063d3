"""A vendor's test beds on InfiniBand: what its papers say, and nothing that only Cray has."""

from __future__ import annotations

import pytest

from xc40io.config.machine import load_machine


@pytest.mark.parametrize(
    ("name", "nodes", "cores"), [("dell-lustre-2014", 64, 12), ("dell-lustre-2016", 32, 20)]
)
def test_it_is_what_the_papers_say(name: str, nodes: int, cores: int) -> None:
    bed = load_machine(name)
    assert (bed.nodes.count, bed.nodes.cores) == (nodes, cores)
    assert (bed.lustre.oss_count, bed.lustre.osts) == (2, 24)
    assert bed.lustre.osts * bed.lustre.ost_disks == 240
    assert bed.lustre.other_reads == bed.lustre.other_writes == 0
    assert bed.burst_buffer is None
    assert bed.home is None


def test_where_cray_has_routers_it_has_the_ports_of_its_servers() -> None:
    bed = load_machine("dell-lustre-2016")
    assert bed.lnet.routers - bed.lnet.metadata_routers == bed.lustre.oss_count
    assert bed.lnet.ib_link_rate == bed.lustre.oss_rate == bed.network.nic_rate
    assert bed.lnet.router_latency < load_machine("theta").lnet.router_latency / 10
