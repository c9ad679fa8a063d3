"""Systems whose public logs are checks: what is said of their hardware, no LNET routers."""

from __future__ import annotations

import pytest

from xc40io.config.machine import load_machine


@pytest.mark.parametrize(
    ("name", "servers", "osts", "release"),
    [
        ("mistral-lustre01", 62, 124, "2.5"),
        ("archer2-4cab", 12, 12, "2.12"),
        ("ddn-isc17", 4, 8, "2.10"),
    ],
)
def test_it_is_what_is_said_of_it(name: str, servers: int, osts: int, release: str) -> None:
    machine = load_machine(name)
    assert (machine.lustre.oss_count, machine.lustre.osts) == (servers, osts)
    assert machine.lustre.version == release
    assert machine.lnet.routers - machine.lnet.metadata_routers == servers
    assert machine.network.routers * 4 == machine.nodes.count + 4 * machine.nodes.service_blades
    assert machine.burst_buffer is None
    assert machine.home is None
