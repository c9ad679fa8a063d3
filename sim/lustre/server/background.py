"""Other jobs: bulk RPCs of nobody's that keep the servers busy at a given intensity.

Each OST gets two sources, of reads and of writes, whose RPCs arrive at random (a Poisson stream)
and take their time at the LNET routers (one of the OSS's group after the other), at the OSS and at
the disks like anybody's.
"""

from __future__ import annotations

import numpy as np

from sim.engine.calendar import schedule
from sim.engine.compiled import outlined
from sim.engine.component import Component
from sim.engine.network import Network, serve
from sim.engine.randomness import uniform
from sim.engine.types import Indices, Table, make_table
from sim.lustre.net.lnet import Lnet, idlest_link
from sim.lustre.server.disks import Disks, move_seconds, transfer_seconds
from sim.plane.events import BACKGROUND_EVENT
from sim.plane.programs import jitter_seed
from sim.plane.registry import on_event
from sim.plane.site import Site

BACKGROUND = np.dtype(
    [("interval", "f8"), ("count", "i8"), ("ost", "i4"), ("write", "i4")], align=True
)


class Others(Component):
    """The traffic of other jobs.

    Attributes
    ----------
    rows
        ``BACKGROUND`` records.
    server_of
        int32 (OSTs,): which OSS serves each, as :class:`~sim.lustre.net.lnet.Lnet` has it.
    seed
        Of the draws of their arrivals.
    """

    network: Network
    lnet: Lnet
    disks: Disks
    rows: Table
    server_of: Indices
    seed: int

    @classmethod
    def build(cls, site: Site) -> Others:
        """Return two sources for each OST, of reads and of writes, where there is such traffic."""
        lustre = site.machine.lustre
        rates = [(0, site.background.read), (1, site.background.write)]
        busy = [(write, rate) for write, rate in rates if rate > 0.0]
        sources = make_table(BACKGROUND, len(busy) * lustre.osts)
        for i, (write, rate) in enumerate(busy):
            part = sources[i * lustre.osts : (i + 1) * lustre.osts]
            part.ost = np.arange(lustre.osts)
            part.write = write
            part.interval = lustre.rpc_size * lustre.osts / rate
        return site.make(
            cls,
            rows=sources,
            server_of=site.part(Lnet).server_of,
            seed=jitter_seed(site.seed),
        )

    def pending(self) -> int:
        """Return the most events that can be pending: one a source."""
        return len(self.rows)

    def begin(self) -> None:
        """Schedule the first RPC of every source."""
        for source in range(len(self.rows)):
            schedule(self.network.calendar, 0.0, BACKGROUND_EVENT, source)


@on_event(Others, BACKGROUND_EVENT)
@outlined
def on_background(others: Others, source_id: int, now: float) -> float:
    """Serve an RPC of a source wherever it passes; return when the next one arrives."""
    source = others.rows[source_id]
    size = others.disks.rpc_size
    oss = others.server_of[source.ost]
    lnet = others.lnet
    router = lnet.gateways[lnet.group_of_oss[oss], source.count % lnet.gateways.shape[1]]
    if source.write:
        _pass(others.network, lnet.lnet_in + router, size, now)
        _pass(others.network, idlest_link(lnet, lnet.ib_out + router * lnet.ib_links), size, now)
        _pass(others.network, lnet.oss_in + oss, size, now)
    else:
        _pass(others.network, lnet.oss_out + oss, size, now)
        _pass(others.network, idlest_link(lnet, lnet.ib_in + router * lnet.ib_links), size, now)
        _pass(others.network, lnet.lnet_out + router, size, now)
    cost = transfer_seconds(others.disks, source.ost, source.write, size)
    if not source.write:
        cost += move_seconds(others.disks, size)
    serve(others.network, others.disks.ost + source.ost, now, size, cost)
    source.count += 1
    # Negative numbers: the OSTs have those from 0 on. An exponential interval makes it Poisson.
    draw = uniform(others.seed, -1 - source_id, source.count)
    return now - source.interval * np.log(draw)


@outlined
def _pass(network: Network, station_id: int, size: int, now: float) -> None:
    """Keep a station busy with so many bytes."""
    serve(network, station_id, now, size, size * network.stations[station_id].inverse_rate)
