"""From the description of a machine and the nodes of its jobs to a data plane at rest."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import NamedTuple

from xc40io.config.machine import Machine
from xc40io.engine.component import annotated
from xc40io.engine.mould import Mould
from xc40io.engine.network import Network, make_network, set_stations
from xc40io.lustre.server.background import check_background
from xc40io.machine.plane import Plane
from xc40io.machine.rows import Rows
from xc40io.machine.tables import Tables
from xc40io.network.peers import PeerRoutes
from xc40io.plane.site import Background, Occupants, Site
from xc40io.plane.stations import METERS, StationBook
from xc40io.storage.service_nodes import service_routers
from xc40io.topology import Fabric

_BINS, _BIN_WIDTH = 1024, 1e-3  # 1 s at first; the width doubles as often as the run needs
_MOST_ROWS, _MOST_KNOWN = 4096, 8  # of a site whose tables are kept: some megabytes; of such sites


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
    tables, book = _at_rest(site)
    servers = service_routers(machine, fabric)
    routes = PeerRoutes(tables.aries, fabric, occupants.nodes, servers, seed)
    routes.include(tables.lnet, ("outward", "homeward"), tables.lnet.ends())
    return Assembly(Plane(tables, routes), book)


class _Known(NamedTuple):
    """What is kept of a site: what its stations are called, and from the second time on a mould."""

    book: StationBook
    mould: Mould | None


_known: OrderedDict[Hashable, _Known] = OrderedDict()
"""The latest sites: those of a study are often the same, as its files and calls differ."""


def _at_rest(site: Site) -> tuple[Tables, StationBook]:
    """Return the tables of a site and its book: built, or cast where they were built twice."""
    if site.record or site.rows > _MOST_ROWS:
        return _built(site), site.book
    known = _known.pop(site.key, None)
    if known is not None and known.mould is not None:
        tables: Tables = known.mould.cast()
    else:
        tables = _built(site)
        known = _Known(site.book, None if known is None else Mould(tables))
    _known[site.key] = known
    while len(_known) > _MOST_KNOWN:
        _known.popitem(last=False)
    return tables, known.book


def _built(site: Site) -> Tables:
    """Build all tables, and schedule what the components do of themselves."""
    network = make_network(meters=METERS, messages=site.rows)
    site.built[Network] = network
    for part in annotated(Tables).values():
        if part is not Network:
            part.build(site)
    stations, opposed = site.book.table(), site.machine.network.opposed
    set_stations(network, stations, bins=_BINS, bin_width=_BIN_WIDTH, opposed=opposed)
    tables = site.make(Tables)
    Rows(tables)
    for component in tables.uses().values():
        component.begin()
    return tables
