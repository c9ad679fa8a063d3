"""The LUSTRE module: how files were striped."""

from __future__ import annotations

from typing import NamedTuple

from sim.engine.types import Integers

RAID0 = 0
"""The pattern of a plain striped file (LLAPI_LAYOUT_RAID0)."""

INITIALISED = 0x10
"""The flag of a component whose objects are there (LCME_FL_INIT)."""


class Layout(NamedTuple):
    """How a file was striped: bytes of a stripe, and int64 (stripes,) the OSTs."""

    stripe_size: int
    osts: Integers

    def component(self) -> dict[str, int]:
        """Return the counters of the only component, which covers the whole file."""
        return {
            "STRIPE_SIZE": self.stripe_size,
            "STRIPE_COUNT": len(self.osts),
            "STRIPE_PATTERN": RAID0,
            "FLAGS": INITIALISED,
            "EXT_START": 0,
            "EXT_END": -1,
            "MIRROR_ID": 0,
        }
