"""The components of the machine: one line each, in the order in which they are built."""

from __future__ import annotations

from xc40io.engine.component import Component
from xc40io.engine.network import Network
from xc40io.lustre import layout_lock
from xc40io.lustre.brw import Brw
from xc40io.lustre.client import advice, fsync, truncate
from xc40io.lustre.client.calls import Client
from xc40io.lustre.client.readahead import Readahead
from xc40io.lustre.directories import Directories
from xc40io.lustre.handles import Handles
from xc40io.lustre.ldlm import Ldlm
from xc40io.lustre.locks import Locks
from xc40io.lustre.mds import Mds
from xc40io.lustre.net.bulk import BulkRpcs
from xc40io.lustre.net.lnet import Lnet
from xc40io.lustre.osc import rpcs
from xc40io.lustre.osc.obds import Osc
from xc40io.lustre.precreation import Precreation
from xc40io.lustre.requests import Requests
from xc40io.lustre.server.background import Others
from xc40io.lustre.server.disks import Disks
from xc40io.lustre.server.journal import Journals
from xc40io.lustre.server.oss import OssThreads
from xc40io.lustre.server.syncs import Syncs
from xc40io.lustre.statahead import Statahead
from xc40io.mpi.exchange import Exchange
from xc40io.network.aries import Aries
from xc40io.node.byte_lists import ByteLists
from xc40io.node.nodes import Nodes
from xc40io.node.page_cache import PageCache
from xc40io.plane import control
from xc40io.plane.files import Files
from xc40io.plane.programs import Programs
from xc40io.plane.recorder import Recorder
from xc40io.storage.dvs import blocks, dvs_calls
from xc40io.storage.dvs.mounts import Dvs
from xc40io.storage.flock import Flock
from xc40io.storage.ssd import flusher, page_reads, ssd_calls
from xc40io.storage.ssd.device import Ssds

ALSO_HANDLE = (
    *(advice, control, fsync, layout_lock, rpcs, truncate),
    *(dvs_calls, blocks, ssd_calls, flusher, page_reads),
)
"""Modules with handlers for components that are declared elsewhere; importing registers them."""


class Tables(Component):
    """Everything that the loop reads and writes.

    A component stands behind those that it uses. What it does is found by its handlers
    (``xc40io.plane.registry``), the rows that it needs by its ``demands``: a new one takes its own
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
    directories: Directories
    mds: Mds
    statahead: Statahead
    readahead: Readahead
    client: Client
    exchange: Exchange
    ssds: Ssds
    dvs: Dvs
    flock: Flock
    others: Others
