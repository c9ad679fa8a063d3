"""Precreation: the objects that OSTs make ahead, of which the MDS takes one for each stripe.

When few are left it asks for as many again, twice as many the next time, and a create that finds
none waits (Lustre 2.7 osp_precreate.c).
"""

from __future__ import annotations

import numpy as np

from xc40io.engine.compiled import outlined
from xc40io.engine.component import Component
from xc40io.engine.types import Table, make_table
from xc40io.lustre.net.lnet import Lnet
from xc40io.plane.site import Site

STOCK = np.dtype(  # what the MDS knows of an OST's precreated objects
    [
        ("available", "i8"),  # below 0: as many of those that come are taken already
        ("growth", "i8"),  # how many the next refill makes
        ("coming", "i8"),  # of the refills under way
        ("ready", "f8"),  # when the last of these has come
    ],
    align=True,
)


class Precreation(Component):
    """The objects that the OSTs have made ahead."""

    lnet: Lnet
    stocks: Table  # `STOCK` records, one an OST
    # limit, object_seconds: most objects that an OST makes ahead at once, and its seconds for each
    limit: int
    object_seconds: float

    @classmethod
    def build(cls, site: Site) -> Precreation:
        """Return full stocks."""
        mds = site.machine.lustre.mds
        stocks = make_table(STOCK, site.machine.lustre.osts)
        stocks.available = stocks.growth = mds.precreated
        return site.make(
            cls, stocks=stocks, limit=mds.precreate_limit, object_seconds=1.0 / mds.precreate_rate
        )


@outlined
def take_object(precreation: Precreation, ost: int, now: float) -> float:
    """Take one of the objects that an OST has made ahead; return when there is one.

    Who finds none waits for the refill that brings it: each takes as long as its objects, and is
    asked for when the one before has come.
    """
    stock = precreation.stocks[ost]
    if stock.coming > 0 and stock.ready <= now:
        stock.available += stock.coming
        stock.coming = 0
    stock.available -= 1
    if stock.coming == 0 and stock.available <= stock.growth // 4 + 1:
        stock.ready = now  # nothing is under way: the refill begins at once
        _refill(precreation, ost)
    while stock.available + stock.coming < 0:
        _refill(precreation, ost)
    return now if stock.available >= 0 else stock.ready


@outlined
def _refill(precreation: Precreation, ost: int) -> None:
    """Ask an OST for more objects; it makes them after the ones under way."""
    stock = precreation.stocks[ost]
    seconds = stock.growth * precreation.object_seconds
    stock.coming += stock.growth
    stock.ready += 2.0 * precreation.lnet.control_latency + seconds
    stock.growth = min(2 * stock.growth, precreation.limit)
