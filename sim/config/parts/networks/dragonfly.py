"""The network of the Cray XC series in a machine file."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from xc40io.config.kept import kept
from xc40io.config.parts.interconnect import NetworkBase
from xc40io.config.units import Few, Rate


@kept
class Dragonfly(NetworkBase):
    """The network of the Cray XC series: a dragonfly of Aries routers."""

    interconnect: ClassVar[str] = "Aries"
    links: ClassVar[str] = "Aries links"
    title: ClassVar[str] = "Cray Aries dragonfly"
    dimensions: ClassVar[tuple[str, ...]] = ("groups", "chassis", "slots")
    bought: ClassVar[dict[str, str]] = {
        "group_links": "link between two groups",
        "black_links": "link between two chassis",
        "green_links": "link in a chassis",
        "blue_rate": "rate of a link between groups",
        "black_rate": "rate of a link between chassis",
        "green_rate": "rate of a link in a chassis",
    }
    first_bought: ClassVar[tuple[str, ...]] = ("group_links", "blue_rate")

    kind: Literal["dragonfly"]  #: ``dragonfly``.
    #: A group has `chassis` rows of `slots` blades; a blade carries one router.
    groups: Few
    chassis: Few
    slots: Few
    #: Links between two routers of one chassis (green, rank 1), between two routers in the same
    #: slot of two chassis of a group (black, rank 2), and between two groups (blue, rank 3).
    green_links: Few
    black_links: Few
    group_links: Few
    #: Raw bytes/s of one link in one direction.
    green_rate: Rate
    black_rate: Rate
    blue_rate: Rate
    #: By what the queue on a non-minimal route is multiplied before it is compared with the queue
    #: on a minimal one: 1 is Cray's ADAPTIVE_0, more favours minimal routes.
    routing_bias: Annotated[float, Field(gt=0)]

    @property
    def bias(self) -> float:
        """By what queues on non-minimal routes are multiplied."""
        return self.routing_bias
