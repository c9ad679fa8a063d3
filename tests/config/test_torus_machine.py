from __future__ import annotations

from typing import Any

import pytest
from refusals import refusal_of_value

from xc40io.config.errors import InputError
from xc40io.config.machine import Machine, load_machine
from xc40io.config.parts.networks.torus import Torus
from xc40io.run.fabric import fabric_of


@pytest.fixture(scope="module")
def titan() -> Machine:
    return load_machine("titan")


@pytest.fixture
def document(titan: Machine) -> dict[str, Any]:
    return titan.document()


def test_titan_is_the_machine_of_oak_ridge(titan: Machine) -> None:
    network = titan.network
    assert isinstance(network, Torus)
    assert (network.x, network.y, network.z) == (25, 16, 24)
    assert titan.nodes.count == 18688
    assert titan.nodes.service_nodes == 512
    assert titan.lustre.oss_count == 96
    assert titan.lustre.osts * titan.lustre.ost_write_rate == pytest.approx(80e9, rel=0.001)


def test_neighbours_are_as_fast_as_gemini_links_are(titan: Machine) -> None:
    network = titan.network
    assert isinstance(network, Torus)
    raw = {
        "x": {network.x_links * network.cable_rate},
        "y": {network.y_links * rate for rate in (network.cable_rate, network.mezzanine_rate)},
        "z": {network.z_links * rate for rate in (network.cable_rate, network.backplane_rate)},
    }
    assert raw == {"x": {9.375e9}, "y": {4.6875e9, 9.375e9}, "z": {9.375e9, 15e9}}
    fabric = fabric_of(titan)
    assert fabric.link_rate.max() == pytest.approx(network.payload_fraction * 15e9)
    assert len(fabric.lnet_router) == 96


@pytest.mark.parametrize(
    ("path", "value", "complaint"),
    [
        ("network.y", 15, "y = 15 is not a multiple of routers_per_blade = 2"),
        ("network.z", 20, "z = 20 is not a multiple of slots = 8"),
        ("network.x", 0, "network.x = 0: should be greater than 0"),
        ("network.kind", "dragonfly", "network.groups, network.chassis, "),
        ("nodes.count", 18689, "9600 routers without 128 service blades have room for 18688"),
        ("nodes.service_nodes_per_blade", 5, "more than 2 x network.nodes_per_router = 2 x 2"),
    ],
)
def test_values_that_cannot_be_are_refused(
    document: dict[str, Any], path: str, value: object, complaint: str
) -> None:
    sentence = refusal_of_value(document, path, value)
    assert sentence.startswith("my.yaml: ")
    assert complaint in sentence


def test_a_torus_can_be_changed(titan: Machine) -> None:
    wider = titan.with_changes({"network.x": 26, "network.cable_rate": "2 GB/s"})
    assert wider.network.routers == 26 * 16 * 24
    assert wider.provenance["network.x"].firm == "assumed"
    with pytest.raises(InputError, match=r"network\.groups: there is no such value"):
        titan.with_changes({"network.groups": 12})
