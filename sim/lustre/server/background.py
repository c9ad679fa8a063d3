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

from xc40io.config.errors import InputError
from xc40io.config.machine import Machine
from xc40io.config.scenario import Background as AskedBackground
from xc40io.config.units import format_rate
from xc40io.engine.calendar import schedule
from xc40io.engine.compiled import outlined
from xc40io.engine.component import Component
from xc40io.engine.exact import exponential, logarithm
from xc40io.engine.network import Network, serve
from xc40io.engine.randomness import stream, uniform
from xc40io.engine.types import Floats, Indices, Integers, Table, make_table
from xc40io.lustre.net.lnet import Lnet, idlest_link
from xc40io.lustre.server.disks import Disks, move_seconds, transfer_seconds
from xc40io.plane.programs import jitter_seed
from xc40io.plane.registry import BACKGROUND_EVENT, on_event
from xc40io.plane.site import Background, Site
from xc40io.plane.stations import StationBook

_MOST = 0.95  # of the time of the busiest station: more leaves jobs next to nothing

BACKGROUND = np.dtype(
    [("interval", "f8"), ("count", "i8"), ("ost", "i4"), ("write", "i4")], align=True
)


class Others(Component):
    """The traffic of other jobs."""

    network: Network
    lnet: Lnet
    disks: Disks
    rows: Table  # `BACKGROUND` records
    server_of: (
        Indices  # int32 (OSTs,): which OSS serves each, as xc40io.lustre.net.lnet.Lnet has it
    )
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
            for met in (passed, *self._at_routers(oss, write)):
                np.add.at(load, met, size * stations.inverse_rate[met] / len(met) / source.interval)
        return load

    def _at_routers(self, oss: int, write: int) -> tuple[Integers, ...]:
        """Return the stations before an OSS over which its traffic is shared out: those of routers.

        None where there are no routers.
        """
        lnet = self.lnet
        if not lnet.routed:
            return ()
        routers = lnet.gateways[lnet.group_of_oss[oss]]
        near = (lnet.lnet_in if write else lnet.lnet_out) + routers
        links = np.arange(lnet.ib_links)
        far = (lnet.ib_out if write else lnet.ib_in) + routers[:, None] * lnet.ib_links + links
        return near, far.ravel()

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
    _pass(others.network, (lnet.oss_in if source.write else lnet.oss_out) + oss, size, now)
    if lnet.routed:
        router = lnet.gateways[lnet.group_of_oss[oss], source.count % lnet.gateways.shape[1]]
        near, far = lnet.lnet_out, lnet.ib_in
        if source.write:
            near, far = lnet.lnet_in, lnet.ib_out
        _pass(others.network, near + router, size, now)
        _pass(others.network, idlest_link(lnet, far + router * lnet.ib_links), size, now)
    cost = transfer_seconds(others.disks, source.ost, source.write, size)
    if not source.write and source.count % others.flight == 0:
        cost += move_seconds(others.disks, source.ost, size)
    serve(others.network, others.disks.ost + source.ost, now, size, cost)
    source.count += 1
    # Negative numbers: the OSTs have those from 0 on. An exponential interval makes it Poisson.
    draw = uniform(others.seed, -1 - source_id, source.count)
    return now - source.interval * logarithm(draw)


@outlined
def _pass(network: Network, station_id: int, size: int, now: float) -> None:
    serve(network, station_id, now, size, size * network.stations[station_id].inverse_rate)


def background_of(asked: AskedBackground, machine: Machine, seed: int) -> Background:
    """Return the load of other jobs: as the scenario says, and on a typical day as drawn.

    The factor between the day and the usual one is lognormal with mean 1.

    Raises
    ------
    InputError
        If a typical day is asked for and nobody has measured what others do on the machine.
    """
    read, write = asked.read, asked.write
    if asked.typical:
        lustre = machine.lustre
        if lustre.other_reads == lustre.other_writes == 0.0:
            raise InputError(
                f"background.typical: what other jobs do on a typical day of {machine.name} is not "
                "known (lustre.other_reads and lustre.other_writes are 0); right would be rates of "
                "your own (--background-read, --background-write), or a machine that has them, as "
                "cori-knl"
            )
        normal = stream(seed, "other jobs").standard_normal(2)
        factor = exponential(lustre.other_spread * normal - lustre.other_spread**2 / 2)
        read += lustre.other_reads * float(factor[0])
        write += lustre.other_writes * float(factor[1])
    return Background(read, write)


def check_background(traffic: Background, others: Others, book: StationBook) -> None:
    """Make sure that the machine carries what other jobs do.

    What a station cannot serve in the time in which it comes piles up before it without end, and
    the jobs of the scenario would never get their turn.

    Raises
    ------
    InputError
        If a part of the machine would be busy all the time with others alone.
    """
    load = others.load()
    busiest = int(load.argmax())
    if load[busiest] < 1.0:
        return
    part = book.name(busiest)
    raise InputError(
        f"background: other jobs ({_rates(traffic, 1.0)}) would keep {part} busy for "
        f"{load[busiest]:.2f} s of each second; right would be at most "
        f"{_rates(traffic, _MOST / load[busiest])}"
    )


def _rates(traffic: Background, part: float) -> str:
    """Return a part of what others read and write, in words."""
    rates = {"read": part * traffic.read, "write": part * traffic.write}
    return " and ".join(f"{way} {format_rate(rate, 2)}" for way, rate in rates.items() if rate > 0)
