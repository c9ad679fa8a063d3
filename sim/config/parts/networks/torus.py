"""The network of the Cray XE and XK series in a machine file."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import model_validator

from xc40io.config.kept import kept
from xc40io.config.parts.interconnect import NetworkBase
from xc40io.config.units import Few, Rate


@kept
class Torus(NetworkBase):
    """The network of the Cray XE and XK series: a 3-D torus of Gemini routers."""

    interconnect: ClassVar[str] = "Gemini"
    links: ClassVar[str] = "Gemini links"
    title: ClassVar[str] = "Cray Gemini torus"
    dimensions: ClassVar[tuple[str, ...]] = ("x", "y", "z")
    bought: ClassVar[dict[str, str]] = {
        "x_links": "link in x",
        "y_links": "link in y",
        "z_links": "link in z",
        "cable_rate": "rate of a cable",
        "backplane_rate": "rate of a link in a chassis",
        "mezzanine_rate": "rate of a link on a blade",
    }
    first_bought: ClassVar[tuple[str, ...]] = ("z_links", "cable_rate")

    kind: Literal["torus"]  #: ``torus``.
    #: Routers around a ring of each dimension.
    x: Few
    y: Few
    z: Few
    slots: Few  #: Blades of a chassis, which follow each other in z.
    routers_per_blade: Few  #: Routers of a blade, neighbours in y.
    #: Links between two neighbours in each dimension.
    x_links: Few
    y_links: Few
    z_links: Few
    #: Raw bytes/s of one link in one direction: on a blade, within a chassis, elsewhere.
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
    def per_blade(self) -> int:
        """Routers of a blade."""
        return self.routers_per_blade
