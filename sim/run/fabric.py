"""The network of a machine, from its description."""

from __future__ import annotations

from functools import lru_cache

from sim.config.machine import Machine
from topology import DragonflyShape, Fabric, LinkClass, build_fabric, dragonfly


@lru_cache(maxsize=4)
def fabric_of(machine: Machine) -> Fabric:
    """Build the network of a machine and plug its nodes in."""
    network, nodes = machine.network, machine.nodes
    shape = DragonflyShape(
        groups=network.groups,
        chassis=network.chassis,
        slots=network.slots,
        nodes_per_router=network.nodes_per_router,
        green_links=network.green_links,
        black_links=network.black_links,
        group_links=network.group_links,
    )
    payload, latency = network.payload_fraction, network.hop_latency
    links = {
        "green": LinkClass(network.green_rate * payload, latency, "backplane"),
        "black": LinkClass(network.black_rate * payload, latency, "electrical"),
        "blue": LinkClass(network.blue_rate * payload, latency, "optical"),
    }
    return build_fabric(
        dragonfly(shape, links),
        compute_nodes=nodes.count,
        service_blades=nodes.service_blades,
        service_nodes_per_blade=nodes.service_nodes_per_blade,
        lnet_routers=machine.lnet.routers,
        nodes_per_router=network.nodes_per_router,
        seed=nodes.placement_seed,
    )
