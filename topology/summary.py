"""What a machine's network consists of, as a list of facts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topology.fabric import Fabric
from topology.routes import hop_limits

GB = 1e9


class Fact(NamedTuple):
    """One line of a description: what, how much, and in which unit ("" for plain counts)."""

    label: str
    value: int | float
    unit: str


def describe(fabric: Fabric) -> list[Fact]:
    """List the facts of a dragonfly from the whole to the parts, for printing.

    Parameters
    ----------
    fabric : Fabric
        The machine's network. One with a single group has no blue links to tell of.

    Returns
    -------
    list of Fact
        Rates are payload in units of 10^9 bytes per second (GB/s) and per direction.
    """
    minimal, valiant = hop_limits(fabric)
    compute_blades = len(np.unique(fabric.compute_router))
    return [
        Fact("groups", fabric.groups, ""),
        Fact("chassis in a group", int(fabric.router_chassis.max()) + 1, ""),
        Fact("routers in a chassis", int(fabric.router_slot.max()) + 1, ""),
        Fact("Aries routers (blades)", fabric.routers, ""),
        Fact("compute blades", compute_blades, ""),
        Fact("compute nodes", len(fabric.compute_router), ""),
        Fact("service blades", len(fabric.service_blades), ""),
        Fact("service nodes", len(fabric.service_router), ""),
        Fact("of them LNET routers", len(fabric.lnet_router), ""),
        Fact("groups with an LNET router", _groups_with_lnet(fabric), ""),
        *(fact for colour in fabric.colours for fact in _colour_facts(fabric, colour)),
        *_group_facts(fabric),
        Fact("longest minimal route", minimal, "hops"),
        Fact("longest non-minimal route", valiant, "hops"),
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


def _groups_with_lnet(fabric: Fabric) -> int:
    return len(np.unique(fabric.router_group[fabric.lnet_router]))


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


def _group_facts(fabric: Fabric) -> list[Fact]:
    """How much passes between groups, each direction."""
    between = group_bandwidth(fabric)
    if fabric.groups == 1:
        return []
    apart = ~np.eye(fabric.groups, dtype=bool)
    return [
        Fact("one group to another, at least", float(between[apart].min()) / GB, "GB/s"),
        Fact("one group to all others, at least", float(between.sum(axis=1).min()) / GB, "GB/s"),
    ]
