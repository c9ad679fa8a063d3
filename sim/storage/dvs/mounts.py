"""The mounts of DVS: what each node's client has under way to which service node."""

from __future__ import annotations

import numpy as np

from xc40io.engine.component import Component, Demands
from xc40io.engine.network import Network
from xc40io.engine.pool import Pool, make_pool
from xc40io.engine.queue import QUEUE
from xc40io.engine.record import Column
from xc40io.engine.types import Indices, Table, make_table
from xc40io.lustre.requests import Requests
from xc40io.network.aries import Aries
from xc40io.node.nodes import Nodes
from xc40io.plane.files import FILE, Files
from xc40io.plane.programs import Programs
from xc40io.plane.site import Site
from xc40io.plane.stations import StationKind
from xc40io.storage.service_nodes import make_servers, services_of

MOUNT = np.dtype(  # what a node's DVS client has to do with one service node: node * servers + it
    [("in_flight", "i4"), ("works", QUEUE)], align=True
)

VOLUME = np.dtype([("used", "i8"), ("capacity", "i8")], align=True)  # an allocation, in bytes


DVS_PARTS = 32
"""Stripes of a call that a DVS client sends together."""

WORK = np.dtype(  # a part of a call that waits to be sent to one service node
    [
        ("offset", "i8"),
        ("left", "i8"),
        ("program", "i4"),
        ("object", "i4"),
        ("write", "i4"),
        ("next", "i4"),
    ],
    align=True,
)

BLOCK = np.dtype(
    [
        ("start", "f8"),
        ("bytes", "i8"),
        ("at_client", "f8"),  # seconds that it queued at the DVS client of its node
        ("at_store", "f8"),  # and at the disks of its service node
        ("mount", "i4"),
        ("program", "i4"),
        ("object", "i4"),
        ("write", "i4"),
    ],
    align=True,
)

FILE.add(__name__, Column("volume", "i4"))  # which allocation it takes room of


class Dvs(Component):
    """The service nodes behind DVS, and the DVS clients of the compute nodes."""

    network: Network
    files: Files
    programs: Programs
    aries: Aries
    nodes: Nodes
    requests: Requests
    servers: Table  # `SERVER` records, one a service node
    mounts: Table  # `MOUNT` records; none before the first file there
    volumes: Table  # `VOLUME` records: allocations
    # works, blocks: records of these names
    works: Table
    spare_works: Pool
    blocks: Table
    spare_blocks: Pool
    client: int  # the first station of the nodes' DVS clients
    # server_in, server_out, server_requests, store: the first station of the service nodes'
    # interfaces, of their threads for small requests and of their disks
    server_in: int
    server_out: int
    server_requests: int
    store: int
    # to_server, from_server: int32 (rows, service nodes): the rows of `Aries.peers` with the routes
    # from a client node to a service node and back; -1 where both are on one router, or where no
    # file has led there yet
    to_server: Indices
    from_server: Indices

    @classmethod
    def build(cls, site: Site) -> Dvs:
        """Return the service nodes of a machine at rest."""
        book, services = site.book, services_of(site.machine)
        names = [f"{name} node {i}" for name, service in services for i in range(service.nodes)]
        shared = [f"what stands behind the {name} nodes" for name, _ in services]
        clients = site.nodes if services else 0
        routers = len(np.unique(site.fabric.node_router[site.occupants.nodes]))
        label, name = "{} small requests".format, site.node_name
        stations = {
            "client": book.add(StationKind.DVS, clients, lambda i: f"DVS client of {name(i)}"),
            "server_in": site.add_interfaces(len(names), lambda i: f"NIC into {names[i]}"),
            "server_out": site.add_interfaces(len(names), lambda i: f"NIC out of {names[i]}"),
            "server_requests": book.add(StationKind.SERVICE, len(names), lambda i: label(names[i])),
            "store": book.add(
                StationKind.STORE, len(names), lambda i: f"disks of {names[i]}", watched=True
            ),
        }
        book.oppose(stations["server_in"], stations["server_out"], len(names))
        behind = book.add(StationKind.STORE, len(shared), lambda i: shared[i], watched=True)
        rows = site.rows if services else 1
        return site.make(
            cls,
            servers=make_servers(site.machine, behind),
            mounts=make_table(MOUNT, 0),
            volumes=make_table(VOLUME, 0),
            works=make_table(WORK, rows),
            spare_works=make_pool(rows),
            blocks=make_table(BLOCK, rows),
            spare_blocks=make_pool(rows),
            to_server=np.full((routers, len(names)), -1, np.int32),
            from_server=np.full((routers, len(names)), -1, np.int32),
            **stations,
        )

    def demands(self) -> Demands:
        """Return the rows for the parts of a call that a client sends together."""
        if not len(self.mounts):
            return []
        under_way = int(self.servers.blocks_in_flight.max())
        blocks = DVS_PARTS * under_way + 1
        spare = self.spare_works, self.spare_blocks, self.network.spare_messages
        return [(spare[0], DVS_PARTS), (spare[1], blocks), (spare[2], blocks)]
