"""The stage of an animation: the places that RPCs move between."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple

import numpy as np

from xc40io.config.errors import InputError
from xc40io.config.machine import Machine
from xc40io.findings.servers import of_osts, to_mds
from xc40io.lustre.requests import GLIMPSE, OST_SYNC, PUNCH
from xc40io.plane.recorder import Records
from xc40io.results.exports.targets import mds_numbers
from xc40io.run.fabric import fabric_of
from xc40io.run.recording import Recording
from xc40io.run.result import Result
from xc40io.topology import Fabric, kind_of

MOST_IN_A_COLUMN = 64
"""Places of one kind that are still told apart on a screen."""

ABOUT_OBJECTS = {GLIMPSE: "glimpse", OST_SYNC: "sync", PUNCH: "punch"}
"""The small requests that OSSs serve, in words."""


class PlaceKind(StrEnum):
    """What a place is."""

    NODE = "compute node"
    GROUP = "group"
    ROUTER = "LNET router"
    OSS = "OSS"
    OST = "OST"
    MDS = "MDS"


class Place(NamedTuple):
    """Where something can be."""

    kind: PlaceKind  # what it is
    number: int  # in the machine
    within: int = -1
    """The place that it belongs to, by its position on the stage: the group of a node, of an LNET
    router or of an OSS on the network itself, the OSS of an OST; -1 for others."""


@dataclass(frozen=True, eq=False)
class Stage:
    """All places that something of a run has been at."""

    places: tuple[Place, ...]  # in the order in which they stand in their columns
    group_word: str  # the word for a group: ``group`` in a dragonfly, ``cabinet`` in a torus
    node: tuple[int, ...]  # the places of the nodes, by their positions in the recording

    @cached_property
    def _positions(self) -> dict[tuple[PlaceKind, int], int]:
        return {(one.kind, one.number): at for at, one in enumerate(self.places)}

    def find(self, kind: PlaceKind, number: int) -> int:
        """Return the place of something, by its number in the machine."""
        return self._positions[kind, int(number)]

    def within(self, place: int) -> int:
        """Return the place that another one belongs to."""
        return self.places[place].within


def stage_of(result: Result, recording: Recording, option: str) -> Stage:
    """Return the stage of a recorded run.

    Raises
    ------
    InputError
        If more took part than can be drawn; `option` says what for.
    """
    fabric, each = fabric_of(result.machine), result.machine.lustre.osts_per_oss
    routers, osts = _routers(recording), _osts(recording, result.machine.lustre.osts)
    mds_of = mds_numbers(result.station_table)
    mdses = {mds_of[station] for station in to_mds(recording.requests)["station"].tolist()}
    node_groups = fabric.router_group[fabric.node_router[recording.nodes]].tolist()
    router_groups = [int(fabric.router_group[fabric.lnet_router[router]]) for router in routers]
    servers = sorted({ost // each for ost in osts})
    server_groups = _server_groups(result.machine, fabric, servers)
    groups = sorted({*node_groups, *router_groups, *server_groups})
    numbers = recording.nodes.tolist()
    nodes = sorted(zip(node_groups, numbers, strict=True))
    behind = sorted(zip(router_groups, routers, strict=True), key=lambda pair: pair[1])
    first_server = len(groups)
    places = (
        *(Place(PlaceKind.GROUP, group) for group in groups),
        *(
            Place(PlaceKind.OSS, server, groups.index(server_groups[n]) if server_groups else -1)
            for n, server in enumerate(servers)
        ),
        *(Place(PlaceKind.NODE, node, groups.index(group)) for group, node in nodes),
        *(Place(PlaceKind.ROUTER, router, groups.index(group)) for group, router in behind),
        *(Place(PlaceKind.OST, ost, first_server + servers.index(ost // each)) for ost in osts),
        *(Place(PlaceKind.MDS, mds) for mds in sorted(mdses)),
    )
    _check_room(places, option)
    at = {place.number: n for n, place in enumerate(places) if place.kind == PlaceKind.NODE}
    word = kind_of(fabric.kind).group
    return Stage(places, word, tuple(at[number] for number in numbers))


def to_oss(requests: Records) -> Records:
    """Return the ``REQUEST`` records that OSSs serve."""
    own: Records = requests[np.isin(requests["kind"], list(ABOUT_OBJECTS))]
    return own


def _routers(recording: Recording) -> list[int]:
    """Return the LNET routers that bulk has passed, ascending."""
    gateways = recording.rpcs["gateway"]
    found: list[int] = np.unique(gateways[gateways >= 0]).tolist()
    return found


def _server_groups(machine: Machine, fabric: Fabric, servers: Sequence[int]) -> list[int]:
    """Return the group of each server on the network itself; none if they are behind routers."""
    if machine.lnet is not None:
        return []
    found: list[int] = fabric.router_group[fabric.service_router[list(servers)]].tolist()
    return found


def _osts(recording: Recording, count: int) -> list[int]:
    """Return the OSTs that were asked for anything, ascending; ``count``: of the machine."""
    asked = to_oss(recording.requests)["target"], recording.locks["object"]
    osts = recording.objects[np.concatenate(asked), 2]
    moved = of_osts(recording, count)["ost"]
    found: list[int] = np.unique(np.concatenate([moved, osts[osts >= 0]])).tolist()
    return found


def _check_room(places: Sequence[Place], option: str) -> None:
    """Raise InputError if there is no room for all places of a kind."""
    for kind, count in Counter(place.kind for place in places).items():
        if count > MOST_IN_A_COLUMN:
            raise InputError(
                f"{option}: {count} {kind}s took part, and there is room for {MOST_IN_A_COLUMN} in "
                "the picture; right would be a run on fewer nodes, or of files with fewer stripes"
            )
