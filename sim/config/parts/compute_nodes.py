"""The compute nodes of a machine, and its service nodes."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from xc40io.config.kept import kept
from xc40io.config.model import Model
from xc40io.config.units import Count, Few, Rate, Seconds, Size
from xc40io.engine.page import PAGE

Launcher = Literal["aprun", "srun"]

Kernel = Annotated[str, Field(pattern=r"^\d+(\.\d+)+$")]
"""A version of Linux: ``4.4`` or ``3.0.101``."""

_PARALLEL_LOOKUPS = [4, 7]  # commit 9902af79c01a

LAUNCHER: Launcher = "aprun"
"""What starts ranks where a machine file does not say: ALPS was Cray's own."""


@kept(before={"read_page_time": 0.0, "node_hit_rate": lambda fields: fields["node_copy_rate"]})
class Nodes(Model):
    """The nodes on the network."""

    count: Count  #: Compute nodes.
    #: What one of them is called, by which a Darshan log of the machine is known: any figures may
    #: stand for its figures. None if nobody says.
    names: str | None = None
    #: What starts the ranks of a job: ``aprun`` (ALPS) or ``srun`` (Slurm). None if nobody says.
    launcher: Launcher | None = None
    #: The version of its Linux, the first word of ``uname -r`` up to the first dash. From 4.7 on
    #: the programs of a node look up names in one directory together, before that one after
    #: another, as where nobody says.
    kernel: Kernel | None = None
    cores: Few  #: Of one compute node.
    #: Hardware threads of a core: so many ranks may share it. No x86 processor has more than 4.
    threads_per_core: Few = 4
    #: Of one compute node, in bytes, and in how many parts (NUMA nodes) the kernel keeps it.
    memory: Annotated[Size, Field(ge=16 * PAGE)]
    numa_nodes: Few
    #: Blades that carry service nodes (LNET routers among them) in place of compute nodes.
    service_blades: Count
    service_nodes_per_blade: Few
    #: Parts of a node's memory that the Lustre client fills with cached pages at most
    #: (``max_cached_mb``), and that may be dirty.
    max_cached_share: Annotated[float, Field(gt=0, le=1)]
    max_dirty_share: Annotated[float, Field(gt=0, le=1)]
    #: Pages that a core collects before it puts them on a list of its NUMA node (PAGEVEC_SIZE).
    pagevec_size: Count
    #: Seed that chooses which blades are service blades, where the real positions are unknown.
    placement_seed: Annotated[int, Field(ge=0)]
    #: Bytes/s at which one core moves data through the Lustre client's page cache.
    write_copy_rate: Rate
    read_copy_rate: Rate
    #: Seconds of a core for each page that it brings into the cache to read it: to allocate it, to
    #: enter it into the tree and the list, and to ask for it.
    read_page_time: Seconds
    #: Bytes/s of all cores of a node together, of pages that are new in the cache, while none of
    #: them waits for another.
    node_copy_rate: Rate
    #: Bytes/s that all cores of a node together read into its cache; None: as `node_copy_rate`.
    node_fetch_rate: Rate | None = None
    #: Bytes/s that all cores of a node together copy out of pages that are in the cache.
    node_hit_rate: Rate
    #: Seconds that an open takes which finds its file open on the node; the ranks of a node take
    #: them one after another.
    open_time: Seconds
    #: Seconds of a core that a read or write call on Lustre takes whatever its size.
    call_time: Seconds
    #: Seconds of a core for each name that a program reads out of a directory and looks at.
    name_time: Seconds
    #: Seconds that a page which is written keeps the lock of the tree of cached pages of its file,
    #: a spinlock, of which a node has one a file, in the four turns that it takes at it. Pages that
    #: are read or dropped take one turn.
    tree_page_time: Seconds
    #: Seconds by which each core that waits for one of the kernel's spinlocks delays its hand-over
    #: to the next: that of a file's tree of pages, or that of a NUMA node's list of pages.
    spinlock_handover_time: Seconds
    #: Bytes/s of bulk RPCs that one of Lustre's threads (ptlrpcd) on one core can send or receive.
    rpc_thread_rate: Rate
    #: Threads of a client node that handle callbacks of lock managers (blocking, completion and
    #: glimpse ASTs), and seconds that each callback holds one of them.
    lock_threads: Few
    lock_thread_time: Seconds
    #: Seconds of the software at both ends of a message between a node and an MDS;
    #: `network.message_latency` unless given, which is that of all other messages.
    mds_message_latency: Seconds | None = None

    @property
    def parallel_lookups(self) -> bool:
        """Whether programs of a node look up names in one directory together."""
        parts = [int(part) for part in (self.kernel or "0").split(".")]
        return parts >= _PARALLEL_LOOKUPS

    @property
    def max_cached(self) -> int:
        """Bytes that the client of a node caches at most."""
        return int(self.memory * self.max_cached_share)

    @property
    def max_dirty(self) -> int:
        """Bytes that may be dirty on a node."""
        return int(self.memory * self.max_dirty_share)

    @property
    def service_nodes(self) -> int:
        """Service nodes in the whole machine."""
        return self.service_blades * self.service_nodes_per_blade
