"""A fat tree of switches in a machine file."""

from __future__ import annotations

from typing import ClassVar, Literal

from xc40io.config.kept import kept
from xc40io.config.parts.interconnect import NetworkBase
from xc40io.config.units import Few, Rate


@kept
class FatTree(NetworkBase):
    """A fat tree of two levels, as clusters on InfiniBand have it.

    Attributes
    ----------
    kind
        ``fat_tree``.
    leaves, spines
        Switches that nodes hang on, `nodes_per_router` on each, and switches that join these.
    spine_links
        Links between each leaf and each spine.
    cable_rate
        Raw bytes/s of one link in one direction.
    """

    interconnect: ClassVar[str] = "the fat tree"
    title: ClassVar[str] = "fat tree"
    dimensions: ClassVar[tuple[str, ...]] = ("leaves",)
    bought: ClassVar[dict[str, str]] = {
        "spines": "spine switch",
        "spine_links": "link between a leaf and a spine",
        "cable_rate": "rate of a cable",
    }

    kind: Literal["fat_tree"]
    leaves: Few
    spines: Few
    spine_links: Few
    cable_rate: Rate
