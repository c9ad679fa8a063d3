"""The OSCs: what a client node knows of each OST, and what waits there.

Three kinds of work wait in an OSC: dirty pages to be written back, pages to be read, and bytes to
be moved directly (O_DIRECT). Dirty pages wait in the *osc_extents* of their osc_objects
(``xc40io.node.page_cache``), all else as ``WORK``. An *obd* is one of
the OSCs: Lustre's client_obd of a node for an OST.
"""

from __future__ import annotations

import numpy as np

from xc40io.engine.compiled import outlined
from xc40io.engine.component import Component, Demands
from xc40io.engine.network import Network
from xc40io.engine.page import PAGE
from xc40io.engine.pool import Pool, make_pool, reserve
from xc40io.engine.queue import QUEUE, clear_all
from xc40io.engine.types import Table, make_table
from xc40io.lustre.brw import Brw
from xc40io.lustre.locks import Locks
from xc40io.node.page_cache import PageCache
from xc40io.plane.files import Files
from xc40io.plane.programs import Programs
from xc40io.plane.site import Site

CLIENT_OBD = np.dtype(  # an OSC; its number is node * OSTs + OST
    [
        ("dirty", "i8"),  # bytes dirty or being written back, or that have room to be dirty
        ("coming", "i8"),  # those of them that are still being copied
        ("grant", "i8"),  # bytes that the OST has promised to take
        ("in_flight", "i4"),
        ("works", QUEUE),  # runs of bytes to be read or moved directly
        ("listed", "i8"),  # osc_objects that have come with unsent bytes so far
        ("pressing", "i4"),  # dirty extents that someone waits for the lock of
        ("waiters", QUEUE),  # programs that wait for room
        ("lru", QUEUE),  # unused locks, the one unused longest first
        ("lru_count", "i4"),
    ],
    align=True,
)

WORK = np.dtype(  # a run of bytes of one object that waits to be read or moved directly
    [
        ("offset", "i8"),
        ("left", "i8"),
        ("program", "i4"),  # that waits for them (O_DIRECT), or -1
        ("extent", "i4"),  # the extent that it fills, or -1
        ("object", "i4"),
        ("write", "i4"),
        ("next", "i4"),
    ],
    align=True,
)

CLIENT = np.dtype([("dirty", "i8")], align=True)  # a node: bytes dirty or being written back


class Osc(Component):
    """The OSCs of all client nodes."""

    network: Network
    files: Files
    programs: Programs
    cache: PageCache
    locks: Locks
    brw: Brw
    obds: Table  # `CLIENT_OBD` records: the OSC of a node for an OST is number node * osts + OST
    works: Table  # `WORK` records
    spare_works: Pool
    clients: Table  # `CLIENT` records, one a node
    osts: int  # how many there are, with the MDTs that have data
    rpcs_in_flight: int  # BRW RPCs that an OSC keeps under way (`max_rpcs_in_flight`)
    # max_dirty, max_node_dirty: bytes that may be dirty in an OSC (`max_dirty_mb`) and on a node
    max_dirty: int
    max_node_dirty: int
    grant_chunk: int  # most bytes that a reply adds to an OSC's grant
    full_first: int  # 1 if full extents go before others, and others wait to be full

    @classmethod
    def build(cls, site: Site) -> Osc:
        """Return idle OSCs, with what their OSTs have promised to take."""
        lustre = site.machine.lustre
        obds = make_table(CLIENT_OBD, site.nodes * lustre.targets)
        for queue in (obds.works, obds.waiters, obds.lru):
            clear_all(queue)
        obds.grant = lustre.initial_grant
        return site.make(
            cls,
            obds=obds,
            works=make_table(WORK, site.rows),
            spare_works=make_pool(site.rows),
            clients=make_table(CLIENT, site.nodes),
            osts=lustre.targets,
            rpcs_in_flight=lustre.max_rpcs_in_flight,
            max_dirty=lustre.max_dirty,
            max_node_dirty=site.machine.nodes.max_dirty,
            grant_chunk=lustre.grant_chunk,
            full_first=int(lustre.full_extents_first or 0),
        )

    def demands(self) -> Demands:
        """Return the rows that one OSC takes to start all the RPCs it may have in flight."""
        rpcs = self.rpcs_in_flight + 1
        bulk, messages = self.brw.bulk, self.network.spare_messages
        return [(self.spare_works, 2), (bulk.spare_rpcs, rpcs), (messages, rpcs * bulk.parts)]


@outlined
def may_pump(osc: Osc, obds: int) -> bool:
    """Tell whether there are rows for so many OSCs to have all their RPCs in flight."""
    rpcs = obds * (osc.rpcs_in_flight + 1)
    bulk, messages = osc.brw.bulk, osc.network.spare_messages
    return reserve(bulk.spare_rpcs, rpcs) and reserve(messages, rpcs * bulk.parts)


@outlined
def may_read(osc: Osc, size: int, objects: int, strides: int) -> bool:
    """Tell whether there are rows to ask for so many bytes of a file of so many stripe objects.

    They may lie in so many strides, with bytes between them that nobody asks for.
    """
    # Those of whole RPCs, and for each object and each stride one that is cut off at either end.
    extents = size // osc.cache.rpc_size + 2 * (min(size // PAGE, objects) + strides) + 2
    return (
        reserve(osc.cache.spare_osc_extents, extents)
        and reserve(osc.spare_works, extents)
        and may_pump(osc, min(extents, objects))
    )


@outlined
def obd_of(osc: Osc, osc_object_id: int) -> int:
    """Return the OSC of an osc_object's node for the OST of its object."""
    osc_object = osc.cache.osc_objects[osc_object_id]
    return int(osc_object.node) * osc.osts + osc_object.ost
