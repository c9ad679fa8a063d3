"""Other jobs: bulk RPCs of nobody's that keep the servers busy at a given intensity.

Each OST gets two sources, of reads and of writes, whose RPCs arrive at random (a Poisson stream)
and take their time at the LNET routers (one of the OSS's group after the other), at the OSS and at
the disks like anybody's.

Others read in streams, as jobs of a scenario do: a client that reads in order has as many RPCs
under way to an OST as it may (``max_rpcs_in_flight``), and these lie together. So the heads of the
disks move to the first of so many.
"""

from __future__ import annotations

import numpy as np

from sim.engine.calendar import schedule
from sim.engine.compiled import outlined
from sim.engine.component import Component
from sim.engine.network import Network, serve
from sim.engine.randomness import uniform
from sim.engine.types import Floats, Indices, Table, make_table
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
    """The traffic of other jobs."""

    network: Network
    lnet: Lnet
    disks: Disks
    rows: Table  # `BACKGROUND` records
    server_of: Indices  # int32 (OSTs,): which OSS serves each, as sim.lustre.net.lnet.Lnet has it
    flight: int  # RPCs of a stream that lie together
    seed: int  # of the draws of their arrivals

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
            flight=lustre.max_rpcs_in_flight,
            seed=jitter_seed(site.seed),
        )

    def pending(self) -> int:
        """Return the most events that can be pending: one a source."""
        return len(self.rows)

    def load(self) -> Floats:
        """Return which share of its time each station is busy with it: float64 (stations,)."""
        size, disks, lnet = self.disks.rpc_size, self.disks, self.lnet
        stations = self.network.stations
        load = np.zeros(len(stations))
        for source in self.rows:
            ost, write = int(source.ost), int(source.write)
            oss = int(self.server_of[ost])
            cost = transfer_seconds(disks, ost, write, size)
            if not write:
                cost += move_seconds(disks, ost, size) / self.flight
            load[disks.ost + ost] += cost / source.interval
            passed = np.array([lnet.oss_in if write else lnet.oss_out]) + oss
            routers = lnet.gateways[lnet.group_of_oss[oss]]
            near = (lnet.lnet_in if write else lnet.lnet_out) + routers
            links = np.arange(lnet.ib_links)
            far = (lnet.ib_out if write else lnet.ib_in) + routers[:, None] * lnet.ib_links + links
            for met in (passed, near, far.ravel()):
                np.add.at(load, met, size * stations.inverse_rate[met] / len(met) / source.interval)
        return load

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
    if not source.write and source.count % others.flight == 0:
        cost += move_seconds(others.disks, source.ost, size)
    serve(others.network, others.disks.ost + source.ost, now, size, cost)
    source.count += 1
    # Negative numbers: the OSTs have those from 0 on. An exponential interval makes it Poisson.
    draw = uniform(others.seed, -1 - source_id, source.count)
    return now - source.interval * np.log(draw)


@outlined
def _pass(network: Network, station_id: int, size: int, now: float) -> None:
    serve(network, station_id, now, size, size * network.stations[station_id].inverse_rate)
