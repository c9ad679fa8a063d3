"""The components of the machine: one line each, in the order in which they are built."""

from __future__ import annotations

from sim.engine.component import Component
from sim.engine.network import Network
from sim.lustre.brw import Brw
from sim.lustre.client import advice, fsync, truncate
from sim.lustre.client.calls import Client
from sim.lustre.client.readahead import Readahead
from sim.lustre.handles import Handles
from sim.lustre.ldlm import Ldlm
from sim.lustre.locks import Locks
from sim.lustre.mds import Mds
from sim.lustre.net.bulk import BulkRpcs
from sim.lustre.net.lnet import Lnet
from sim.lustre.osc import rpcs
from sim.lustre.osc.obds import Osc
from sim.lustre.precreation import Precreation
from sim.lustre.requests import Requests
from sim.lustre.server.background import Others
from sim.lustre.server.disks import Disks
from sim.lustre.server.journal import Journals
from sim.lustre.server.oss import OssThreads
from sim.lustre.server.syncs import Syncs
from sim.lustre.statahead import Statahead
from sim.mpi.exchange import Exchange
from sim.network.aries import Aries
from sim.node.byte_lists import ByteLists
from sim.node.nodes import Nodes
from sim.node.page_cache import PageCache
from sim.plane import control
from sim.plane.files import Files
from sim.plane.programs import Programs
from sim.plane.recorder import Recorder
from sim.storage.dvs import blocks, dvs_calls
from sim.storage.dvs.mounts import Dvs
from sim.storage.flock import Flock
from sim.storage.ssd import flusher, page_reads, ssd_calls
from sim.storage.ssd.device import Ssds

ALSO_HANDLE = (
    *(advice, control, fsync, rpcs, truncate),
    *(dvs_calls, blocks, ssd_calls, flusher, page_reads),
)
"""Modules with handlers for components that are declared elsewhere; importing registers them."""


class Tables(Component):
    """Everything that the loop reads and writes.

    A component stands behind those that it uses. What it does is found by its handlers
    (``sim.plane.registry``), the rows that it needs by its ``demands``: a new one takes its own
    file and a line here.
    """

    network: Network
    files: Files
    recorder: Recorder
    programs: Programs
    nodes: Nodes
    aries: Aries
    lnet: Lnet
    locks: Locks
    osses: OssThreads
    bulk: BulkRpcs
    disks: Disks
    journals: Journals
    syncs: Syncs
    byte_lists: ByteLists
    cache: PageCache
    requests: Requests
    brw: Brw
    osc: Osc
    ldlm: Ldlm
    precreation: Precreation
    handles: Handles
    mds: Mds
    statahead: Statahead
    readahead: Readahead
    client: Client
    exchange: Exchange
    ssds: Ssds
    dvs: Dvs
    flock: Flock
    others: Others
