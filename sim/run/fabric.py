"""The network of a machine, from its description."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from sim.config.errors import InputError
from sim.config.machine import Machine
from sim.config.network import Dragonfly, Torus
from sim.run.network_store import kept_fabric
from topology import (
    DragonflyShape,
    Fabric,
    LinkClass,
    TorusShape,
    build_fabric,
    dragonfly,
    torus,
)

if TYPE_CHECKING:
    import networkx as nx


@lru_cache(maxsize=4)
def fabric_of(machine: Machine) -> Fabric:
    """Return the network of a machine with its nodes plugged in; it is built once and kept."""
    network, nodes = machine.network, machine.nodes
    plugged = {
        "compute_nodes": nodes.count,
        "service_blades": nodes.service_blades,
        "service_nodes_per_blade": nodes.service_nodes_per_blade,
        "lnet_routers": machine.lnet.routers,
        "nodes_per_router": network.nodes_per_router,
        "seed": nodes.placement_seed,
    }

    def build() -> Fabric:
        try:
            graph = _torus(network) if isinstance(network, Torus) else _dragonfly(network)
            return build_fabric(graph, **plugged)
        except InputError:
            raise
        except ValueError as error:
            raise InputError(f"network of {machine.name}: {error}") from error

    return kept_fabric({"network": network.model_dump(mode="json")} | plugged, build)


def check_network(machine: Machine) -> None:
    """Raise InputError if the links of a machine's network cannot be shared out over its ports."""
    if isinstance(machine.network, Dragonfly):
        _dragonfly_shape(machine.network)


def _dragonfly_shape(network: Dragonfly) -> DragonflyShape:
    try:
        return DragonflyShape(
            groups=network.groups,
            chassis=network.chassis,
            slots=network.slots,
            nodes_per_router=network.nodes_per_router,
            green_links=network.green_links,
            black_links=network.black_links,
            group_links=network.group_links,
        )
    except ValueError as error:
        raise InputError(f"network: {error}") from error


def _dragonfly(network: Dragonfly) -> nx.Graph[int]:
    shape = _dragonfly_shape(network)
    payload, latency = network.payload_fraction, network.hop_latency
    links = {
        "green": LinkClass(network.green_rate * payload, latency, "backplane"),
        "black": LinkClass(network.black_rate * payload, latency, "electrical"),
        "blue": LinkClass(network.blue_rate * payload, latency, "optical"),
    }
    return dragonfly(shape, links)


def _torus(network: Torus) -> nx.Graph[int]:
    shape = TorusShape(
        x=network.x,
        y=network.y,
        z=network.z,
        slots=network.slots,
        routers_per_blade=network.routers_per_blade,
        nodes_per_router=network.nodes_per_router,
        x_links=network.x_links,
        y_links=network.y_links,
        z_links=network.z_links,
    )
    payload, latency = network.payload_fraction, network.hop_latency
    links = {
        "mezzanine": LinkClass(network.mezzanine_rate * payload, latency, "backplane"),
        "backplane": LinkClass(network.backplane_rate * payload, latency, "backplane"),
        "cable": LinkClass(network.cable_rate * payload, latency, "electrical"),
    }
    return torus(shape, links)
