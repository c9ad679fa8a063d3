"""The LNET routers of a machine."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from sim.config.kept import kept
from sim.config.model import Model
from sim.config.units import Few, Rate, Seconds, Size


@kept
class Lnet(Model):
    """The LNET routers between the Cray's network and the storage's InfiniBand.

    Fine-grained routing (FGR) gives each group of routers its own group of OSSs, so that traffic
    stays off the InfiniBand switches' uplinks.

    Attributes
    ----------
    routers
        All LNET routers; those of the groups and those for metadata.
    groups, routers_per_group, oss_per_group
        FGR groups, and the routers and object storage servers in each.
    metadata_routers
        Routers that serve the metadata servers.
    message_size
        Largest LNET message in bytes (the LNET MTU); a longer RPC travels as several.
    ib_links_per_router, ib_link_rate, ib_latency
        InfiniBand links of one router, bytes/s of one in one direction, seconds along one.
    router_latency
        Seconds that a router takes to receive and forward a message, besides its bytes.
    """

    routers: Few
    groups: Few
    routers_per_group: Few
    oss_per_group: Few
    metadata_routers: Annotated[int, Field(ge=0)]
    message_size: Annotated[Size, Field(ge=4096)]
    ib_links_per_router: Few
    ib_link_rate: Rate
    ib_latency: Seconds
    router_latency: Seconds

    @property
    def data_routers(self) -> int:
        """Routers that carry file data: all those in FGR groups."""
        return self.groups * self.routers_per_group

    @model_validator(mode="after")
    def _routers_add_up(self) -> Lnet:
        if self.data_routers + self.metadata_routers != self.routers:
            raise ValueError(
                f"routers = {self.routers}, but groups x routers_per_group + metadata_routers = "
                f"{self.groups} x {self.routers_per_group} + {self.metadata_routers}; "
                "every router belongs to one group or serves metadata"
            )
        return self
