"""What the high-speed networks of all machines have in common."""

from __future__ import annotations

from math import prod
from typing import ClassVar

from xc40io.config.model import Model
from xc40io.config.units import Few, Fraction, Rate, Seconds


class NetworkBase(Model):
    """What the high-speed networks of all machines have in common."""

    interconnect: ClassVar[str]
    """Name of the network in a sentence: that of its routers."""
    links: ClassVar[str] = "links of the network"
    """What its links are called."""
    title: ClassVar[str]
    """What a heading calls it."""
    dimensions: ClassVar[tuple[str, ...]]
    """The fields whose product is the number of routers that nodes hang on."""
    bought: ClassVar[dict[str, str]]
    """Fields that can be bought, and what one more is called, or what it is of."""
    first_bought: ClassVar[tuple[str, ...]]
    """Those of them that a plan tries unless told."""

    kind: str  #: How the routers are joined.
    nodes_per_router: Few  #: Nodes, compute or service, of one router.
    payload_fraction: Fraction  #: The part of a link's raw rate that carries user data.
    hop_latency: Seconds  #: Seconds through one router, when it is quiet.
    message_hops: Few  #: Routers that a small message between a node and a server passes.
    #: Payload bytes/s into or out of one node, and seconds through its NIC.
    nic_rate: Rate
    nic_latency: Seconds
    #: Payload bytes/s into and out of one node together, while both go on; none where each
    #: direction has its full rate whatever the other does.
    nic_both_rate: Rate | None = None
    #: Seconds of software at both ends of a small message between a node and a server, one way.
    #: With ``lnet.router_latency`` and the wires it makes the round trip.
    message_latency: Seconds

    @property
    def opposed(self) -> float:
        """How many times as long a NIC moves a byte while bytes go the other way too."""
        if self.nic_both_rate is None:
            return 1.0
        return max(1.0, 2.0 * self.nic_rate / self.nic_both_rate)

    @property
    def routers(self) -> int:
        """Routers that nodes hang on."""
        return prod(getattr(self, name) for name in self.dimensions)

    @property
    def per_blade(self) -> int:
        """Routers of a blade."""
        return 1

    @property
    def bias(self) -> float:
        """By what queues on non-minimal routes are multiplied: without effect where are none."""
        return 1.0
