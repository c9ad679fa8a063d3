"""Precreation: the objects that OSTs make ahead, of which the MDS takes one for each stripe.

A thread of the MDS for each OST asks for more whenever fewer are left than half of what it asks for
at a time. Who comes when no more than a quarter are left doubles that, once before each reply. A
create that finds none waits (Lustre 2.7 osp_precreate.c: osp_precreate_near_empty,
osp_precreate_send, osp_precreate_reserve).

A stock is looked at only when somebody takes of it: what has come since is then counted. Where all
that are on their way have been promised, the refill after them is counted ahead, since nothing that
happens until then changes it.
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
        ("growth", "i8"),  # how many a refill makes (opd_pre_create_count)
        ("coming", "i8"),  # of the refill under way
        ("ready", "f8"),  # when this has come
        ("grown", "i4"),  # growth has doubled since a refill came (opd_pre_create_slow)
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
    """Take one of the objects that an OST has made ahead; return when there is one."""
    stock = precreation.stocks[ost]
    while stock.coming > 0 and (stock.ready <= now or stock.available + stock.coming == 0):
        _come(precreation, ost)
    _reserve(precreation, ost, now)
    return now if stock.available >= 0 else stock.ready


@outlined
def _reserve(precreation: Precreation, ost: int, now: float) -> None:
    """Count one object as taken; let more be made where few are left."""
    stock = precreation.stocks[ost]
    may_grow = stock.grown == 0 and stock.growth < 2 * precreation.limit
    if may_grow and stock.available <= stock.growth // 4 + 1:
        stock.grown = 1
        stock.growth *= 2
    stock.available -= 1
    _refill(precreation, ost, now)


@outlined
def _come(precreation: Precreation, ost: int) -> None:
    """Take in the refill under way; those who have waited for it take theirs."""
    stock = precreation.stocks[ost]
    come, waiting = stock.ready, max(-stock.available, 0)
    stock.available = max(stock.available, 0) + stock.coming
    stock.coming = stock.grown = 0
    _refill(precreation, ost, come)
    for _ in range(waiting):
        _reserve(precreation, ost, come)


@outlined
def _refill(precreation: Precreation, ost: int, now: float) -> None:
    """Ask an OST for more objects if fewer than half are left, and none are on their way."""
    stock = precreation.stocks[ost]
    if stock.coming > 0 or stock.available >= stock.growth // 2:
        return
    stock.growth = min(stock.growth, precreation.limit)
    stock.coming = stock.growth
    seconds = stock.growth * precreation.object_seconds
    stock.ready = now + 2.0 * precreation.lnet.control_latency + seconds
