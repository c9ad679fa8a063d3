"""A fat tree of switches in a machine file."""

from __future__ import annotations

from typing import ClassVar, Literal

from xc40io.config.kept import kept
from xc40io.config.parts.interconnect import NetworkBase
from xc40io.config.units import Few, Rate


@kept
class FatTree(NetworkBase):
    """A fat tree of two levels, as clusters on InfiniBand have it."""

    interconnect: ClassVar[str] = "the fat tree"
    title: ClassVar[str] = "fat tree"
    dimensions: ClassVar[tuple[str, ...]] = ("leaves",)
    bought: ClassVar[dict[str, str]] = {
        "spines": "spine switch",
        "uplinks": "link between a leaf and a spine",
        "uplink_rate": "rate of a link to a spine",
    }
    first_bought: ClassVar[tuple[str, ...]] = ("spines", "uplink_rate")

    kind: Literal["fat_tree"]  #: ``fat_tree``.
    #: Switches that nodes hang on, `nodes_per_router` on each, and switches that join these.
    leaves: Few
    spines: Few
    uplinks: Few  #: Links between each leaf and each spine.
    uplink_rate: Rate  #: Raw bytes/s of one link in one direction.
