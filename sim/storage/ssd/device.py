"""The node-local SSD: the device of a compute node, its fill level and its queue.

A request holds the device for a time of its own and for its bytes at the rate of reads or of
writes, first come, first served; reads and writes share the device, as they share its flash. What
the request takes beyond that, its latency, passes while the device turns to the next: the driver
keeps up to ``queue_depth`` requests under way at once, and one more begins only when the oldest of
these has ended. Longer transfers are cut into requests.

The rates of writes differ from device to device, as flash wears and models were mixed: who waits
for many nodes waits for the slowest.

The files on it and the page cache before it are in the other modules of this package.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from xc40io.config.machine import Machine
from xc40io.engine.compiled import njit
from xc40io.engine.component import Component, Demands
from xc40io.engine.network import Network, serve
from xc40io.engine.page import PAGE
from xc40io.engine.pool import EVENTS_A_LOOK
from xc40io.engine.queue import QUEUE, clear_all
from xc40io.engine.randomness import stream
from xc40io.engine.types import Floats, Indices, Table, make_table
from xc40io.node.nodes import Nodes
from xc40io.node.page_cache import PageCache
from xc40io.plane.files import Files
from xc40io.plane.programs import Programs
from xc40io.plane.site import Site
from xc40io.plane.stations import StationKind

SSD = np.dtype(
    [
        ("used", "i8"),  # bytes of files that take room on it, dirty ones included
        ("dirty", "i8"),  # bytes of the page cache to be written, or being written
        ("background", "i8"),  # dirty bytes from which the node writes them back
        ("dirty_limit", "i8"),  # and from which writers wait
        ("requests", "i8"),  # so far
        ("lost_bytes", "i8"),  # bytes of files that were on it when it was lost
        ("writing_bytes", "i8"),  # under way to the device from the page cache
        ("write_seconds", "f8"),  # a byte
        ("written_at", "f8"),  # when what is under way from the page cache is on the device
        ("lost_at", "f8"),  # when it fails; infinity: never
        ("gone", "i4"),  # it has failed, and what was on it is counted
        ("writing", "i4"),  # the osc_object whose pages are under way; -1: the flusher rests
        ("expired", "i4"),  # dirty pages are so old that all must go
        ("timer", "i4"),  # someone will look at their age
        ("urgent", "i4"),  # files that someone waits for the write-back of
        ("osc_objects", QUEUE),  # with dirty pages
        ("waiters", QUEUE),  # programs that wait for room among the dirty pages
    ],
    align=True,
)

_SLOWEST = 0.25  # of the mean: a slower device would be taken out of service


class SsdLimits(NamedTuple):
    """Constants of a node's SSD and of the page cache before it; in seconds and bytes."""

    capacity: int  # bytes of files that the device holds
    # request_size, request_time: largest request, and what each holds the device for besides its
    # bytes
    request_size: int
    request_time: float
    # what a byte read holds it for; what a byte written does is the device's own
    read_seconds: float
    # read_latency, write_latency: from there to the answer
    read_latency: float
    write_latency: float
    sync_time: float  # of an fsync after the last page: the journal, and the device's own cache
    open_time: float  # of an open, close, stat or unlink
    # write_copy, read_copy: a core's time to copy a byte into the page cache, and out of it
    write_copy: float
    read_copy: float
    # node_copy, tree_page: for how long a byte holds the node's memory meanwhile, and a page that
    # is written the lock of the tree of its file
    node_copy: float
    tree_page: float
    readahead: int  # bytes that a reader has asked for ahead
    expire: float  # after how long dirty pages are written back in any case
    writeback_size: int  # bytes of a file that are written back in one go


class DirtyLimits(NamedTuple):
    """Dirty bytes of a node from which it writes them back, and from which writers wait."""

    background: int
    dirty: int


def dirty_limits(machine: Machine, occupied: int = 0) -> DirtyLimits:
    """Return the dirty limits of a node before its SSD; zeros if the machine has none.

    Parameters
    ----------
    machine
        With its SSDs.
    occupied
        Bytes of a node's memory that programs take: the limits are shares of the rest.
    """
    ssd = machine.ssd
    if ssd is None:
        return DirtyLimits(0, 0)
    available = max(machine.nodes.memory - occupied, 0)
    shares = ssd.dirty_background_ratio, ssd.dirty_ratio
    return DirtyLimits(*(int(available * share) for share in shares))


def ssd_limits(machine: Machine) -> SsdLimits:
    """Return the constants of a machine's SSDs; zeros if it has none."""
    ssd = machine.ssd
    if ssd is None:
        return SsdLimits(0, 1, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1, 0.0, 1)
    return SsdLimits(
        capacity=ssd.capacity,
        request_size=ssd.request_size,
        request_time=ssd.request_time,
        read_seconds=1.0 / ssd.read_rate,
        read_latency=ssd.read_latency,
        write_latency=ssd.write_latency,
        sync_time=ssd.sync_time,
        open_time=ssd.open_time,
        write_copy=1.0 / ssd.cache_write_rate,
        read_copy=1.0 / ssd.cache_read_rate,
        node_copy=1.0 / ssd.cache_node_rate,
        tree_page=ssd.tree_page_time,
        readahead=ssd.readahead,
        expire=ssd.dirty_expire,
        writeback_size=ssd.writeback_size,
    )


def make_ssds(machine: Machine, nodes: Indices, seed: int) -> tuple[Table, Floats]:
    """Return the empty SSDs of some nodes, and when each of their latest requests ended.

    Parameters
    ----------
    machine
        With its SSDs; without any, the tables are empty.
    nodes
        int32 (nodes,): the compute nodes.
    seed
        Of the scenario: how fast which device writes follows from it.

    Returns
    -------
    ssds, slots
        ``SSD`` records, and float64 (nodes, queue depth) in seconds.
    """
    ssd = machine.ssd
    if ssd is None:
        return make_table(SSD, 0), np.zeros((0, 1))
    ssds = make_table(SSD, len(nodes))
    every = machine.nodes.count + machine.nodes.service_nodes
    normal = stream(seed, "SSD speed").standard_normal(every)[nodes]
    speed = np.maximum(1.0 + ssd.write_spread * normal, _SLOWEST)
    ssds.write_seconds = 1.0 / (ssd.write_rate * speed)
    ssds.lost_at = np.inf
    ssds.background, ssds.dirty_limit = dirty_limits(machine)
    ssds.writing = -1
    clear_all(ssds.osc_objects)
    clear_all(ssds.waiters)
    return ssds, np.zeros((len(nodes), ssd.queue_depth))


class Ssds(Component):
    """The SSDs of all nodes, and the page cache's part before each."""

    network: Network
    files: Files
    programs: Programs
    nodes: Nodes
    cache: PageCache
    rows: Table  # `SSD` records, one a node; none if the machine has none
    # float64 (nodes, queue depth): when the latest requests of each ended, in seconds
    slots: Floats
    limits: SsdLimits  # constants of a device and of the page cache before it
    station: int  # the first station of the devices

    @classmethod
    def build(cls, site: Site) -> Ssds:
        """Return the empty SSDs of a machine."""
        rows, slots = make_ssds(site.machine, site.occupants.nodes, site.seed)
        name = site.node_name
        return site.make(
            cls,
            rows=rows,
            slots=slots,
            limits=ssd_limits(site.machine),
            station=site.book.add(StationKind.SSD, len(rows), lambda i: f"SSD of {name(i)}"),
        )

    def demands(self) -> Demands:
        """Return the extents of a read, and the runs that an eviction leaves between dirty ones.

        A read asks for a piece of its call, and as much ahead, between others' pages. Of the runs
        there are, none leaves more than one hole: half of the table must be free.
        """
        if not len(self.rows):
            return []
        byte_lists = self.cache.byte_lists
        return [
            (self.cache.spare_osc_extents, 2 * self.limits.readahead // PAGE),
            (byte_lists.spare_runs, len(byte_lists.runs) // (2 * EVENTS_A_LOOK)),
        ]

    def pending(self) -> int:
        """Return the most events that can be pending: flusher and timer, and the reads."""
        return 2 * len(self.rows) + (len(self.cache.osc_extents) if len(self.rows) else 0)


@njit
def device_io(ssds: Ssds, node: int, size: int, write: int, now: float) -> float:
    """Queue the requests of a transfer at the SSD of a node; return when the last has ended.

    ``size`` is in bytes.
    """
    ssd = ssds.rows[node]
    limits = ssds.limits
    seconds = ssd.write_seconds if write else limits.read_seconds
    latency = limits.write_latency if write else limits.read_latency
    depth = ssds.slots.shape[1]
    done = now
    left = size
    while left > 0:
        piece = min(left, limits.request_size)
        slot = ssd.requests % depth
        begin = max(now, ssds.slots[node, slot])
        held = limits.request_time + piece * seconds
        start = serve(ssds.network, ssds.station + node, begin, piece, held)
        done = start + held + latency
        ssds.slots[node, slot] = done
        ssd.requests += 1
        left -= piece
    return done
