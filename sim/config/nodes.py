"""The compute nodes of a machine, and its service nodes."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from sim.config.model import Model
from sim.config.units import Count, Rate, Seconds, Size


class Nodes(Model):
    """The nodes on the network.

    Attributes
    ----------
    count
        Compute nodes.
    cores, memory, numa_nodes
        Of one compute node; memory in bytes, and in how many parts (NUMA nodes) the kernel keeps
        it.
    service_blades, service_nodes_per_blade
        Blades that carry service nodes (LNET routers among them) in place of compute nodes.
    placement_seed
        Seed that chooses which blades are service blades, where the real positions are unknown.
    write_copy_rate, read_copy_rate
        Bytes/s at which one core moves data through the Lustre client's page cache.
    node_copy_rate
        Bytes/s of the same for all cores of a node together, while none of them waits for another.
    tree_page_time
        Seconds that a page which is written keeps the lock of the tree of cached pages of its file,
        a spinlock, of which a node has one a file, in the four turns that it takes at it. Pages
        that are read or dropped take one turn.
    spinlock_handover_time
        Seconds by which each core that waits for one of the kernel's spinlocks delays its hand-over
        to the next: that of a file's tree of pages, or that of a NUMA node's list of pages.
    rpc_thread_rate
        Bytes/s of bulk RPCs that one of Lustre's threads (ptlrpcd) on one core can send or receive.
    lock_threads, lock_thread_time
        Threads of a client node that handle callbacks of lock managers (blocking, completion and
        glimpse ASTs), and seconds that each callback holds one of them.
    """

    count: Count
    cores: Count
    memory: Size
    numa_nodes: Count
    service_blades: Count
    service_nodes_per_blade: Count
    placement_seed: Annotated[int, Field(ge=0)]
    write_copy_rate: Rate
    read_copy_rate: Rate
    node_copy_rate: Rate
    tree_page_time: Seconds
    spinlock_handover_time: Seconds
    rpc_thread_rate: Rate
    lock_threads: Count
    lock_thread_time: Seconds

    @property
    def service_nodes(self) -> int:
        """Service nodes in the whole machine."""
        return self.service_blades * self.service_nodes_per_blade
