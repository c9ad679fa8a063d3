"""Compute nodes: their cores and memory, and what system threads, calls and copies take of them.

A *call*, of whatever size, has a fixed cost: the kernel is entered, the VFS finds the file, and the
Lustre client sets up its objects and its I/O of several layers (Lustre 2.7 llite/file.c,
ll_file_io_generic; obdclass/cl_io.c) before it turns to the first page. Small calls cost little
else. In a *copy* between a rank's buffer and the page cache, whatever keeps the file, the core
copies, all cores of a node share its memory and the lock of its list of pages, and every page
passes the tree of its file (:func:`xc40io.node.page_cache.queue_at_tree`).
"""

from __future__ import annotations

import numpy as np

from xc40io.engine.compiled import outlined
from xc40io.engine.component import Component
from xc40io.engine.network import Network, serve
from xc40io.engine.prefetch import prefetch
from xc40io.engine.types import Table, make_table
from xc40io.node.cores import copy, list_handover
from xc40io.plane.causes import Cause
from xc40io.plane.operations import Op
from xc40io.plane.programs import Programs, charge_ahead
from xc40io.plane.recorder import record_span
from xc40io.plane.registry import GO_ON, performs
from xc40io.plane.site import Site
from xc40io.plane.stations import StationKind

NODE = np.dtype(
    [
        ("next_thread", "i4"),  # the core of the next RPC's ptlrpcd thread
        ("next_callback", "i4"),  # which of its threads takes the next callback
        ("serves", "i4"),  # a service node at work for itself: what it serves is on its own disks
    ],
    align=True,
)

_COPY, _CORE = int(Cause.COPY), int(Cause.CORE)
_MEMORY, _TREE = int(Cause.MEMORY), int(Cause.TREE)

_CALL, _THINK = int(Cause.CALL), int(Cause.THINK)

# States of a program that computes: what has happened, what it does next -> what may follow.
_CAME = 0  # nothing yet: computes for its seconds -> _DELAYED
_DELAYED = 1  # its core has worked for others: computes for as long again -> _DELAYED; or goes on

_NOTHING = 1e-9  # seconds of a core that are no more than rounding


class Nodes(Component):
    """All nodes of all jobs."""

    network: Network
    programs: Programs
    rows: Table  # `NODE` records
    # count, cores: how many nodes there are, and the cores of each
    count: int
    cores: int
    # core, memory, callback: the first station of all cores, of the nodes' memories, and of their
    # threads for callbacks; the stations of one node side by side
    core: int
    memory: int
    callback: int
    first_system_core: int  # from which core on the node's system threads may run
    # write_copy, read_copy, memory_copy: seconds of a core to copy a byte into the page cache, out
    # of it, and from memory to memory
    write_copy: float
    read_copy: float
    memory_copy: float
    # node_copy, node_hit: seconds for which a byte that Lustre's client copies holds the node's
    # memory: into a page that is new in the cache or out of one, and out of one that was there
    node_copy: float
    node_fetch: float
    node_hit: float
    read_page: float  # seconds of a core for a page that it brings into the cache to read it
    open_work: float
    call_work: float
    # seconds a byte by which each core that waits for a node's memory delays the others
    list_handover: float
    thread_work: float  # seconds of a ptlrpcd thread for a byte of an RPC
    # callback_service, callback_threads: seconds of a thread for a callback, and how many such
    # threads a node has
    callback_service: float
    callback_threads: int

    @classmethod
    def build(cls, site: Site) -> Nodes:
        """Return the nodes at rest, and put the programs on their cores."""
        nodes, occupants, book = site.machine.nodes, site.occupants, site.book
        cores, threads, name = nodes.cores, nodes.lock_threads, site.node_name
        first_system_core = cores - occupants.system_cores if occupants.system_cores else 0
        rows = make_table(NODE, site.nodes)
        rows.next_thread = first_system_core
        rows.serves = occupants.nodes >= nodes.count
        core = book.add(
            StationKind.CORE,
            site.nodes * cores,
            lambda i: f"core {i % cores} of {name(i // cores)}",
        )
        programs = site.part(Programs).rows
        programs.core = core + occupants.program_node * cores + occupants.program_core
        return site.make(
            cls,
            rows=rows,
            count=site.nodes,
            cores=cores,
            core=core,
            memory=book.add(
                StationKind.MEMORY,
                site.nodes,
                lambda i: f"memory of {name(i)}",
                rate=nodes.node_copy_rate,
            ),
            callback=book.add(
                StationKind.CALLBACK,
                site.nodes * threads,
                lambda i: f"callback thread {i % threads} of {name(i // threads)}",
            ),
            first_system_core=first_system_core,
            write_copy=1.0 / nodes.write_copy_rate,
            read_copy=1.0 / nodes.read_copy_rate,
            memory_copy=1.0 / site.machine.mpi.copy_rate,
            node_copy=1.0 / nodes.node_copy_rate,
            node_fetch=1.0 / (nodes.node_fetch_rate or nodes.node_copy_rate),
            node_hit=1.0 / nodes.node_hit_rate,
            read_page=nodes.read_page_time,
            open_work=nodes.open_time,
            call_work=nodes.call_time,
            list_handover=list_handover(
                nodes.spinlock_handover_time, nodes.numa_nodes, nodes.pagevec_size
            ),
            thread_work=1.0 / nodes.rpc_thread_rate,
            callback_service=nodes.lock_thread_time,
            callback_threads=threads,
        )

    def stations_of(self, node: int) -> list[int]:
        """Return the stations of a node's cores, of its threads for callbacks and of its memory."""
        core, callback = self.core + node * self.cores, self.callback + node * self.callback_threads
        return [
            *range(core, core + self.cores),
            *range(callback, callback + self.callback_threads),
            self.memory + node,
        ]


@outlined
def expect_thread(nodes: Nodes, node_id: int) -> None:
    """Have the core fetched on which the next RPC of a node will be worked on."""
    core = nodes.core + node_id * nodes.cores + nodes.rows[node_id].next_thread
    prefetch(nodes.network.stations, core)


@outlined
def rpc_thread(nodes: Nodes, node_id: int, size: int, now: float) -> float:
    """Queue an RPC for a ptlrpcd thread of a node; return when the thread has worked on it.

    The threads take turns over the cores that the system's threads may use.
    """
    node = nodes.rows[node_id]
    core = nodes.core + node_id * nodes.cores + node.next_thread
    node.next_thread += 1
    if node.next_thread == nodes.cores:
        node.next_thread = nodes.first_system_core
    seconds = size * nodes.thread_work
    return serve(nodes.network, core, now, 0.0, seconds) + seconds


@outlined
def handle_callback(nodes: Nodes, node_id: int, now: float) -> float:
    """Queue a callback that has come for a thread of its node; return when it has been handled.

    The threads take turns: as every callback takes equally long, that one is free first which has
    had none for longest.
    """
    node = nodes.rows[node_id]
    first = nodes.callback + node_id * nodes.callback_threads
    thread = first + node.next_callback
    node.next_callback = (node.next_callback + 1) % nodes.callback_threads
    service = nodes.callback_service
    return serve(nodes.network, thread, now, 0.0, service) + service


@outlined
def copy_pages(
    nodes: Nodes,
    program_id: int,
    size: int,
    on_core: float,
    in_memory: float,
    entered: float,
    now: float,
) -> float:
    """Copy bytes on a program's core while their pages enter the tree; return when both is done.

    Charges the program for what it waits.

    Parameters
    ----------
    nodes, program_id
        Whose core copies.
    size
        Bytes.
    on_core, in_memory
        Seconds for which a byte keeps the core, and the memory that all cores of the node share.
        They differ between file systems, whose clients do work of their own on the way.
    entered
        When the pages are in the tree of their file.
    now
        The time.
    """
    program = nodes.programs.rows[program_id]
    network, waits, recorder = nodes.network, nodes.programs.waits, nodes.programs.recorder
    memory = nodes.memory + program.node
    seconds, alone = size * on_core, size * in_memory
    queue = max(network.stations[program.core].free - now, 0.0)
    done = copy(network, program.core, memory, size, seconds, alone, nodes.list_handover, now)
    begun = now + queue
    waits[_COPY, program_id] += seconds
    waits[_MEMORY, program_id] += done - now - queue - seconds
    record_span(recorder, program_id, _COPY, begun, min(begun + seconds, done))
    record_span(recorder, program_id, _MEMORY, begun + seconds, done)
    # Hardly ever: their columns are elsewhere in memory, each worth a wait for it.
    if queue > 0.0:
        waits[_CORE, program_id] += queue
        record_span(recorder, program_id, _CORE, now, begun)
    if entered > done:
        waits[_TREE, program_id] += entered - done
        record_span(recorder, program_id, _TREE, done, entered)
    return max(done, entered)


@outlined
def enter_call(nodes: Nodes, program_id: int, now: float) -> float:
    """Charge a program's core the fixed cost of a system call; return when it is done."""
    seconds, core = nodes.call_work, nodes.programs.rows[program_id].core
    begun = serve(nodes.network, core, now, 0.0, seconds)
    if begun > now:
        charge_ahead(nodes.programs, program_id, _CORE, begun - now, now)
    return charge_ahead(nodes.programs, program_id, _CALL, seconds, begun)


@performs(Nodes, Op.COMPUTE)
@outlined
def compute(nodes: Nodes, program_id: int, now: float) -> float:
    """Compute for some seconds of the core; what others give it to do meanwhile comes on top.

    Helpers, ptlrpcd threads and copies are served as if nobody computed: Linux runs a thread that
    has waited for I/O before one that has computed all the time (Documentation/scheduler,
    sched-design-CFS: the smallest vruntime comes first).
    """
    program = nodes.programs.rows[program_id]
    station = nodes.network.stations[program.core]
    others = station.busy - max(station.free - now, 0.0)  # seconds of its work until now
    if program.phase == _CAME:
        program.phase = _DELAYED
        program.ready = others
        seconds = nodes.programs.operations[program.op].seconds
        return charge_ahead(nodes.programs, program_id, _THINK, seconds, now)
    delay = others - program.ready
    if delay > _NOTHING:
        program.ready = others
        return charge_ahead(nodes.programs, program_id, _CORE, delay, now)
    program.phase = _CAME
    program.op += 1
    return GO_ON
