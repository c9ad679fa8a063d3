"""From the description of a machine and the nodes of its jobs to a data plane at rest."""

from __future__ import annotations

from typing import NamedTuple

from xc40io.config.machine import Machine
from xc40io.engine.component import annotated
from xc40io.engine.network import Network, make_network, set_stations
from xc40io.lustre.server.background import check_background
from xc40io.machine.plane import Plane
from xc40io.machine.tables import Tables
from xc40io.network.peers import PeerRoutes
from xc40io.plane.site import Background, Occupants, Site
from xc40io.plane.stations import METERS, StationBook
from xc40io.storage.service_nodes import service_routers
from xc40io.topology import Fabric

_BINS, _BIN_WIDTH = 1024, 1e-3  # 1 s at first; the width doubles as often as the run needs


class Assembly(NamedTuple):
    """A data plane and what its stations are called."""

    plane: Plane
    book: StationBook

    def check_background(self, traffic: Background) -> None:
        """Raise InputError unless the machine carries what other jobs do."""
        check_background(traffic, self.plane.tables.others, self.book)


def assemble(
    machine: Machine,
    fabric: Fabric,
    occupants: Occupants,
    background: Background,
    seed: int,
    *,
    record: bool = False,
) -> Assembly:
    """Build the data plane of some jobs: one component after the other, each upon those below it.

    Parameters
    ----------
    machine
        Its rates, latencies and limits.
    fabric
        Its network.
    occupants
        What runs where.
    background
        What else the file system does.
    seed
        Of the scenario: speeds of the OSTs, jitter and drawn routes follow from it.
    record
        Whether what happens is recorded.
    """
    site = Site(
        machine=machine,
        fabric=fabric,
        occupants=occupants,
        background=background,
        seed=seed,
        record=record,
    )
    network = make_network(meters=METERS, messages=site.rows)
    site.built[Network] = network
    for part in annotated(Tables).values():
        if part is not Network:
            part.build(site)
    stations, opposed = site.book.table(), machine.network.opposed
    set_stations(network, stations, bins=_BINS, bin_width=_BIN_WIDTH, opposed=opposed)
    tables = site.make(Tables)
    servers = service_routers(machine, fabric)
    routes = PeerRoutes(tables.aries, fabric, occupants.nodes, servers, seed)
    routes.include(tables.lnet, ("outward", "homeward"), tables.lnet.ends())
    plane = Plane(tables, routes)
    for component in tables.uses().values():
        component.begin()
    return Assembly(plane, site.book)
