"""The high-speed network of a machine: an Aries dragonfly or a Gemini torus."""

from __future__ import annotations

from math import prod
from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from xc40io.config.kept import kept
from xc40io.config.model import Model
from xc40io.config.units import Few, Fraction, Rate, Seconds

DIMENSIONS = {"dragonfly": ("groups", "chassis", "slots"), "torus": ("x", "y", "z")}
"""The fields of each kind of network whose product is the number of its routers."""


class NetworkBase(Model):
    """What the high-speed networks of all machines have in common.

    Attributes
    ----------
    kind
        How the routers are joined.
    nodes_per_router
        Nodes, compute or service, of one router.
    payload_fraction
        The part of a link's raw rate that carries user data.
    hop_latency
        Seconds through one router, when it is quiet.
    message_hops
        Routers that a small message between a node and a server passes.
    nic_rate, nic_latency
        Payload bytes/s into or out of one node, and seconds through its NIC.
    nic_both_rate
        Payload bytes/s into and out of one node together, while both go on; none where each
        direction has its full rate whatever the other does.
    message_latency
        Seconds of software at both ends of a small message between a node and a server, one way.
        With ``lnet.router_latency`` and the wires it makes the round trip.
    """

    interconnect: ClassVar[str]
    """Name of the routers."""

    kind: str
    nodes_per_router: Few
    payload_fraction: Fraction
    hop_latency: Seconds
    message_hops: Few
    nic_rate: Rate
    nic_latency: Seconds
    nic_both_rate: Rate | None = None
    message_latency: Seconds

    @property
    def opposed(self) -> float:
        """How many times as long a NIC moves a byte while bytes go the other way too."""
        if self.nic_both_rate is None:
            return 1.0
        return max(1.0, 2.0 * self.nic_rate / self.nic_both_rate)


@kept
class Dragonfly(NetworkBase):
    """The network of the Cray XC series: a dragonfly of Aries routers.

    Attributes
    ----------
    kind
        ``dragonfly``.
    groups, chassis, slots
        A group has `chassis` rows of `slots` blades; a blade carries one router.
    green_links, black_links, group_links
        Links between two routers of one chassis (green, rank 1), between two routers in the same
        slot of two chassis of a group (black, rank 2), and between two groups (blue, rank 3).
    green_rate, black_rate, blue_rate
        Raw bytes/s of one link in one direction.
    routing_bias
        By what the queue on a non-minimal route is multiplied before it is compared with the queue
        on a minimal one: 1 is Cray's ADAPTIVE_0, more favours minimal routes.
    """

    interconnect: ClassVar[str] = "Aries"
    routers_per_blade: ClassVar[int] = 1

    kind: Literal["dragonfly"]
    groups: Few
    chassis: Few
    slots: Few
    green_links: Few
    black_links: Few
    group_links: Few
    green_rate: Rate
    black_rate: Rate
    blue_rate: Rate
    routing_bias: Annotated[float, Field(gt=0)]

    @property
    def routers(self) -> int:
        """Routers in the whole network."""
        return prod(getattr(self, name) for name in DIMENSIONS[self.kind])


@kept
class Torus(NetworkBase):
    """The network of the Cray XE and XK series: a 3-D torus of Gemini routers.

    Attributes
    ----------
    kind
        ``torus``.
    x, y, z
        Routers around a ring of each dimension.
    slots
        Blades of a chassis, which follow each other in z.
    routers_per_blade
        Routers of a blade, neighbours in y.
    x_links, y_links, z_links
        Links between two neighbours in each dimension.
    mezzanine_rate, backplane_rate, cable_rate
        Raw bytes/s of one link in one direction: on a blade, within a chassis, elsewhere.
    """

    interconnect: ClassVar[str] = "Gemini"
    routing_bias: ClassVar[float] = 1.0
    """Without effect: there are no non-minimal routes."""

    kind: Literal["torus"]
    x: Few
    y: Few
    z: Few
    slots: Few
    routers_per_blade: Few
    x_links: Few
    y_links: Few
    z_links: Few
    mezzanine_rate: Rate
    backplane_rate: Rate
    cable_rate: Rate

    @model_validator(mode="after")
    def _blades_and_chassis_fill_the_rings(self) -> Torus:
        if self.y % self.routers_per_blade:
            raise ValueError(
                f"y = {self.y} is not a multiple of routers_per_blade = {self.routers_per_blade}; "
                "the routers of a blade are neighbours in y"
            )
        if self.z % self.slots:
            raise ValueError(
                f"z = {self.z} is not a multiple of slots = {self.slots}; the blades of a chassis "
                "follow each other in z"
            )
        return self

    @property
    def routers(self) -> int:
        """Routers in the whole network."""
        return prod(getattr(self, name) for name in DIMENSIONS[self.kind])


Network = Annotated[Dragonfly | Torus, Field(discriminator="kind")]
"""The high-speed network of a machine."""
