"""What a machine's network consists of, as a list of facts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from xc40io.topology.fabric import Fabric
from xc40io.topology.kinds import Fact, kind_of

GB = 1e9


def describe(fabric: Fabric) -> list[Fact]:
    """List the facts of a network from the whole to the parts, for printing.

    Parameters
    ----------
    fabric : Fabric
        The machine's network. Links that it does not have, such as the blue ones of a dragonfly
        with a single group, are left out.

    Returns
    -------
    list of Fact
        Rates are payload in units of 10^9 bytes per second (GB/s) and per direction.
    """
    before, after = kind_of(fabric.kind).facts(fabric)
    return [
        *before,
        Fact("compute blades", _blades(fabric, fabric.compute_router), ""),
        Fact("compute nodes", len(fabric.compute_router), ""),
        Fact("service blades", len(fabric.service_blades), ""),
        Fact("service nodes", len(fabric.service_router), ""),
        *_lnet_facts(fabric),
        *after,
        Fact("largest latency of a hop", 1e9 * float(fabric.link_latency.max()), "ns"),
    ]


def group_bandwidth(fabric: Fabric) -> NDArray[np.float64]:
    """Payload bytes per second from each group to each other: float64[groups, groups].

    The diagonal is zero: it leaves out the links inside a group.
    """
    source = fabric.router_group[fabric.link_source]
    target = fabric.router_group[fabric.link_target]
    between = np.zeros((fabric.groups, fabric.groups))
    np.add.at(between, (source, target), fabric.link_rate)
    np.fill_diagonal(between, 0.0)
    return between


def _blades(fabric: Fabric, routers: NDArray[np.int32]) -> int:
    return len(np.unique(routers // fabric.routers_per_blade))


def _lnet_facts(fabric: Fabric) -> list[Fact]:
    """Count the LNET routers of a machine that has some."""
    routers = len(fabric.lnet_router)
    return [Fact("of them LNET routers", routers, "")] if routers else []


def groups_with_lnet(fabric: Fabric, groups: str) -> list[Fact]:
    """Count the groups, or what stands for them, with LNET routers, if there are routers."""
    found = len(np.unique(fabric.router_group[fabric.lnet_router]))
    return [Fact(f"{groups} with an LNET router", found, "")] if found else []


def link_facts(fabric: Fabric) -> list[Fact]:
    """Count the links of each class that there are, and say how much they carry."""
    return [fact for colour in fabric.colours for fact in _colour_facts(fabric, colour)]


def _colour_facts(fabric: Fabric, colour: str) -> list[Fact]:
    """Links of one colour, both directions of a cable counted as one link."""
    links = fabric.links_of(colour)
    if not len(links):
        return []
    single = int(fabric.link_multiplicity[links].sum()) // 2
    return [
        Fact(f"{colour} links", single, ""),
        Fact(f"{colour} router pairs", len(links) // 2, ""),
        Fact(f"{colour} link, each direction", fabric.link_classes[colour].rate / GB, "GB/s"),
        Fact(f"{colour} router pair, at most", float(fabric.link_rate[links].max()) / GB, "GB/s"),
    ]
