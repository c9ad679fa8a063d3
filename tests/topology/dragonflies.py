"""Small and large dragonflies for the tests of this folder."""

from __future__ import annotations

from hypothesis import strategies as st
from whole_networks import all_compute

from xc40io.topology import DragonflyShape, Fabric, LinkClass, build_fabric, dragonfly

# Theta's links: raw 5.25 GB/s electrical and 4.6875 GB/s optical, 64 % of it payload.
LINKS = {
    "green": LinkClass(rate=0.64 * 5.25e9, latency=100e-9, length="backplane"),
    "black": LinkClass(rate=0.64 * 5.25e9, latency=100e-9, length="electrical"),
    "blue": LinkClass(rate=0.64 * 4.6875e9, latency=100e-9, length="optical"),
}


def theta(seed: int = 1) -> Fabric:
    return build_fabric(
        dragonfly(DragonflyShape(), LINKS),
        compute_nodes=4392,
        service_blades=54,
        service_nodes_per_blade=2,
        lnet_routers=30,
        nodes_per_router=4,
        seed=seed,
    )


def full(shape: DragonflyShape) -> Fabric:
    """A dragonfly with compute nodes on every router."""
    return all_compute(dragonfly(shape, LINKS))


@st.composite
def shapes(draw: st.DrawFn) -> DragonflyShape:
    """Dragonflies of up to 6 groups whose blue ports suffice."""
    groups = draw(st.integers(1, 6))
    chassis = draw(st.integers(1, 4))
    slots = draw(st.sampled_from([2, 4, 6]))
    ports = 10
    most_cables = ports // 2 * (chassis * slots // 2) // max(groups - 1, 1)
    if most_cables == 0:
        groups, most_cables = 2, 1
    return DragonflyShape(
        groups=groups,
        chassis=chassis,
        slots=slots,
        nodes_per_router=draw(st.integers(1, 4)),
        group_links=4 * draw(st.integers(1, most_cables)),
        router_blue_ports=ports,
    )
