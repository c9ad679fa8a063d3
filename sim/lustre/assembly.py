"""From the description of a machine and the nodes of a job to a data plane at rest."""

from __future__ import annotations

from collections.abc import Callable
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sim.config.machine import Machine
from sim.engine.calendar import schedule
from sim.engine.hashmap import make_map
from sim.engine.network import make_network
from sim.engine.ordered import make_ordered
from sim.engine.pool import make_pool
from sim.engine.queue import clear_all
from sim.engine.randomness import stream
from sim.engine.types import Floats, Indices, Table, make_table
from sim.lustre.arrays import make_arrays
from sim.lustre.background import BACKGROUND
from sim.lustre.events import BACKGROUND_EVENT
from sim.lustre.journal import JOURNAL
from sim.lustre.locks import make_locks
from sim.lustre.peers import MINIMAL, VALIANT, PeerRoutes
from sim.lustre.plane import LustrePlane
from sim.lustre.servers import make_servers, service_routers, services_of
from sim.lustre.stationbook import StationBook
from sim.lustre.tables import (
    CHANNEL,
    FILE,
    GATE,
    INODE,
    MEETING,
    MESSAGE_KINDS,
    MOUNT,
    NODE,
    OBJECT,
    OPERATION,
    PRECREATED,
    PROGRAM,
    REQUEST,
    RPC,
    RUN,
    TIMERS,
    TRANSFER,
    VIEW,
    VOLUME,
    WINDOW,
    WORK,
    Cause,
    Limits,
    Lustre,
    Op,
    Routing,
    Stat,
    StationKind,
    StationMap,
)
from sim.node.cores import list_handover
from sim.node.ssd import make_ssds, ssd_limits
from topology import Fabric, candidate_routes

MARKS = 8
"""Times that a program can note in one batch."""

_BINS, _BIN_WIDTH = 1024, 1e-3  # 1 s at first; the width doubles as often as the run needs
_JITTER_FACTORS = 4096
_SLOWEST_OST = 0.1  # of the mean: a slower one would be taken out of service


class Assembly(NamedTuple):
    """A data plane and what its stations are called."""

    plane: LustrePlane
    book: StationBook


class Job(NamedTuple):
    """What runs where.

    Attributes
    ----------
    nodes
        int32 (nodes,): the compute nodes; service nodes at work for the job, numbered behind all
        compute nodes of the machine.
    program_node, program_core
        int32 (programs,): where each program runs: a position in ``nodes``, a core of the node.
    system_cores
        Cores of each node that no program uses (core specialisation); 0: the system's threads run
        on any.
    """

    nodes: Indices
    program_node: Indices
    program_core: Indices
    system_cores: int


class Background(NamedTuple):
    """Other jobs' traffic: bytes/s that they read and write in the whole file system."""

    read: float
    write: float


def assemble(
    machine: Machine, fabric: Fabric, job: Job, background: Background, seed: int
) -> Assembly:
    """Build the data plane of a job.

    Parameters
    ----------
    machine
        Its rates, latencies and limits.
    fabric
        Its network.
    job
        What runs where.
    background
        What else the file system does.
    seed
        Of the scenario: speeds of the OSTs, jitter and drawn routes follow from it.
    """
    book = StationBook()
    stations, first_link = _stations(book, machine, fabric, job.nodes)
    routers, router_index = np.unique(fabric.node_router[job.nodes], return_inverse=True)
    outward, homeward, path = _routes(fabric, routers, first_link, seed)
    servers = make_servers(machine, stations.store)
    serving = service_routers(machine, fabric)
    peers = PeerRoutes(fabric, job.nodes, serving, first_link, path, seed)
    ssds, ssd_slots = make_ssds(machine, job.nodes, seed)
    lustre = machine.lustre
    arrays, waiting_reads = make_arrays(lustre.osts)
    parts = -(-lustre.rpc_size // machine.lnet.message_size)
    room = 2 * (lustre.max_rpcs_in_flight + 1) * parts + lustre.osts + 64
    rows = 4 * room + 2 * len(job.program_node) * parts
    sources = _background(machine, background)
    network = make_network(
        book.table(),
        path,
        kinds=MESSAGE_KINDS,
        messages=rows,
        events=(4 if len(ssds) else 3) * rows
        + len(job.program_node)
        + len(sources)
        + 2 * len(ssds),
        bins=_BINS,
        bin_width=_BIN_WIDTH,
    )
    programs = make_table(PROGRAM, len(job.program_node))
    programs.node = job.program_node
    programs.core = stations.core + job.program_node * machine.nodes.cores + job.program_core
    limits = _limits(machine, job, seed)
    map_size = 1 << (2 * rows - 1).bit_length()
    tables = Lustre(
        network=network,
        stations=stations,
        limits=limits,
        routing=_routing(machine, router_index.astype(np.int32), outward, homeward, peers.table),
        operations=make_table(OPERATION, 0),
        programs=programs,
        waits=np.zeros((len(programs), len(Cause))),
        marks=np.zeros((len(programs), MARKS)),
        timers=np.zeros((len(programs), TIMERS)),
        transfers=make_table(TRANSFER, 0),
        gates=make_table(GATE, 0),
        meetings=make_table(MEETING, 0),
        files=make_table(FILE, 0),
        objects=make_table(OBJECT, 0),
        nodes=_nodes(machine, job, limits.first_system_core),
        channels=_channels(machine, len(job.nodes)),
        locks=make_locks(0, rows),
        views=make_table(VIEW, rows),
        spare_views=make_pool(rows),
        views_by_pair=make_map(map_size),
        inodes=make_table(INODE, rows),
        spare_inodes=make_pool(rows),
        inodes_by_pair=make_map(map_size),
        windows=make_table(WINDOW, rows),
        spare_windows=make_pool(rows),
        runs=make_table(RUN, rows),
        spare_runs=make_pool(rows),
        cached=make_ordered(rows, rows),
        works=make_table(WORK, rows),
        spare_works=make_pool(rows),
        rpcs=make_table(RPC, rows),
        spare_rpcs=make_pool(rows),
        requests=make_table(REQUEST, rows),
        spare_requests=make_pool(rows),
        ost_seconds=_ost_seconds(machine, seed),
        ost_overhead=np.full((2, lustre.osts), lustre.ost_request_overhead),
        ost_latency=np.array([lustre.ost_read_latency, lustre.ost_write_latency]),
        ost_jitter=_ost_jitter(machine),
        arrays=arrays,
        waiting_reads=waiting_reads,
        metadata=_metadata(machine),
        precreated=_precreated(machine),
        journals=make_table(JOURNAL, lustre.osts + lustre.mds.mdts),
        background=sources,
        ssds=ssds,
        ssd_slots=ssd_slots,
        ssd_limits=ssd_limits(machine),
        servers=servers,
        mounts=make_table(MOUNT, 0),
        volumes=make_table(VOLUME, 0),
        refused=np.zeros((len(programs), 2), np.int64),
        batches=np.zeros(64, np.int32),
        ended=np.zeros(64, np.int32),
        ended_count=np.zeros(1, np.int64),
        clock=np.zeros(1),
        counts=np.zeros(3, np.int64),
        stats=np.zeros(len(Stat), np.int64),
    )
    for source in range(len(sources)):
        schedule(network.calendar, 0.0, BACKGROUND_EVENT, source)
    return Assembly(LustrePlane(tables, peers, room), book)


def _nodes(machine: Machine, job: Job, first_system_core: int) -> Table:
    """Return the nodes at rest."""
    nodes = make_table(NODE, len(job.nodes))
    nodes.next_thread = first_system_core
    nodes.serves = job.nodes >= machine.nodes.count
    nodes.evict_head = -1
    for turn in (nodes.modifying, nodes.closing):
        clear_all(turn.waiting)
    return nodes


def _channels(machine: Machine, nodes: int) -> Table:
    """Return the OSCs of all nodes, idle, with what their OSTs have promised to take."""
    channels = make_table(CHANNEL, nodes * machine.lustre.osts)
    channels.lru_head = channels.lru_tail = -1
    for queue in (channels.works, channels.views, channels.waiters):
        clear_all(queue)
    channels.grant = machine.lustre.initial_grant
    return channels


def _background(machine: Machine, background: Background) -> Table:
    """Return two sources for each OST, of reads and of writes, where there is such traffic."""
    lustre = machine.lustre
    rates = [(0, background.read), (1, background.write)]
    busy = [(write, rate) for write, rate in rates if rate > 0.0]
    sources = make_table(BACKGROUND, len(busy) * lustre.osts)
    for i, (write, rate) in enumerate(busy):
        part = sources[i * lustre.osts : (i + 1) * lustre.osts]
        part.ost = np.arange(lustre.osts)
        part.write = write
        part.interval = lustre.rpc_size * lustre.osts / rate
    return sources


def _precreated(machine: Machine) -> Table:
    """Return how many objects each OST has made ahead."""
    precreated = make_table(PRECREATED, machine.lustre.osts)
    precreated.available = precreated.growth = machine.lustre.mds.precreated
    return precreated


def _stations(
    book: StationBook, machine: Machine, fabric: Fabric, nodes: Indices
) -> tuple[StationMap, int]:
    """Enter every station in the book; return the map and the number of the first Aries link."""
    network, lnet, lustre = machine.network, machine.lnet, machine.lustre
    kind, count, osss = StationKind, len(nodes), lustre.oss_count
    ib_each, cores = lnet.ib_links_per_router, machine.nodes.cores
    threads = machine.nodes.lock_threads
    node_router = fabric.node_router

    def node(i: int) -> str:
        service = nodes[i] - machine.nodes.count
        name = f"node {nodes[i]}" if service < 0 else f"service node {service}"
        return f"{name} ({fabric.router_name(int(node_router[nodes[i]]))})"

    def nic(kind: StationKind, count: int, label: Callable[[int], str], delay: float = 0.0) -> int:
        latency = network.nic_latency + delay
        watched = kind == StationKind.LNET
        return book.add(kind, count, label, rate=network.nic_rate, latency=latency, watched=watched)

    def infiniband(way: str, delay: float) -> int:
        return book.add(
            kind.IB,
            lnet.routers * ib_each,
            lambda i: f"LNET router {i // ib_each} InfiniBand link {i % ib_each} {way}",
            rate=lnet.ib_link_rate,
            latency=lnet.ib_latency + delay,
            watched=True,
        )

    def oss(way: str) -> int:
        return book.add(
            kind.OSS, osss, lambda i: f"OSS {i} {way}", rate=lustre.oss_rate, watched=True
        )

    link = book.add(
        kind.LINK,
        fabric.links,
        lambda i: f"link {fabric.link_name(i)}",
        rate=fabric.link_rate,
        latency=fabric.link_latency,
    )
    # What an LNET router does with a message delays it, but the next message need not wait for it:
    # a latency on the way out of the router.
    stations = StationMap(
        nic_out=nic(kind.NIC, count, lambda i: f"NIC out of {node(i)}"),
        nic_in=nic(kind.NIC, count, lambda i: f"NIC into {node(i)}"),
        lnet_in=nic(kind.LNET, lnet.routers, lambda i: f"LNET router {i} from Aries"),
        lnet_out=nic(
            kind.LNET, lnet.routers, lambda i: f"LNET router {i} to Aries", lnet.router_latency
        ),
        ib_out=infiniband("to servers", lnet.router_latency),
        ib_in=infiniband("from servers", 0.0),
        ib_links=ib_each,
        oss_in=oss("in"),
        oss_out=oss("out"),
        ost=book.add(kind.OST, lustre.osts, lambda i: f"OST {i}", watched=True),
        service=book.add(kind.SERVICE, osss, lambda i: f"OSS {i} small requests", watched=True),
        mds=book.add(
            kind.MDS,
            lustre.mds.mdts,
            lambda i: f"MDS {i}",
            latency=lustre.mds.op_latency,
            watched=True,
        ),
        directory=book.add(
            kind.MDS, lustre.mds.mdts, lambda i: f"MDS {i} directory lock", watched=True
        ),
        core=book.add(
            kind.CORE,
            count * cores,
            lambda i: f"core {i % cores} of {node(i // cores)}",
        ),
        memory=book.add(
            kind.MEMORY,
            count,
            lambda i: f"memory of {node(i)}",
            rate=machine.nodes.node_copy_rate,
        ),
        callback=book.add(
            kind.CALLBACK,
            count * threads,
            lambda i: f"callback thread {i % threads} of {node(i // threads)}",
        ),
        **_stations_elsewhere(book, machine, count, nic, node),
    )
    return stations, link


def _stations_elsewhere(
    book: StationBook,
    machine: Machine,
    count: int,
    nic: Callable[[StationKind, int, Callable[[int], str]], int],
    node: Callable[[int], str],
) -> dict[str, int]:
    """Enter the stations of local SSDs and of service nodes, where the machine has any."""
    kind, services = StationKind, services_of(machine)
    names = [f"{name} node {i}" for name, service in services for i in range(service.nodes)]
    shared = [f"what stands behind the {name} nodes" for name, _ in services]
    ssds, clients = count if machine.ssd else 0, count if services else 0
    first = {
        "ssd": book.add(kind.SSD, ssds, lambda i: f"SSD of {node(i)}"),
        "dvs": book.add(kind.DVS, clients, lambda i: f"DVS client of {node(i)}"),
        "server_in": nic(kind.NIC, len(names), lambda i: f"NIC into {names[i]}"),
        "server_out": nic(kind.NIC, len(names), lambda i: f"NIC out of {names[i]}"),
        "server_requests": book.add(
            kind.SERVICE, len(names), lambda i: f"{names[i]} small requests"
        ),
        "store": book.add(kind.STORE, len(names), lambda i: f"disks of {names[i]}", watched=True),
    }
    book.add(kind.STORE, len(shared), lambda i: shared[i], watched=True)
    return first


def _routes(
    fabric: Fabric, routers: npt.NDArray[np.int32], first_link: int, seed: int
) -> tuple[Indices, Indices, Indices]:
    """Draw the candidate routes between Aries routers and all LNET routers, both ways.

    Returns the two tables of :class:`Routing` and the network's path.
    """
    shape = (len(routers), len(fabric.lnet_router), MINIMAL + VALIANT)
    sources = np.repeat(routers, shape[1])
    targets = np.tile(fabric.lnet_router, shape[0])
    out = candidate_routes(fabric, sources, targets, seed, minimal=MINIMAL, valiant=VALIANT)
    home = out.reversed(fabric)
    path = first_link + np.concatenate([out.links, home.links])
    outward = np.stack([out.start, out.stop], axis=-1).reshape(*shape, 2)
    homeward = np.stack([home.start, home.stop], axis=-1).reshape(*shape, 2) + len(out.links)
    return outward.astype(np.int32), homeward.astype(np.int32), path.astype(np.int32)


def _routing(
    machine: Machine, router_index: Indices, outward: Indices, homeward: Indices, peers: Indices
) -> Routing:
    """Share the LNET routers out over the groups of fine-grained routing."""
    lnet, osss = machine.lnet, machine.lustre.oss_count
    senders = (len(router_index) + osss, lnet.routers)
    gateways = np.arange(lnet.data_routers, dtype=np.int32)
    servers = sum(service.nodes for _, service in services_of(machine))
    return Routing(
        router_index=router_index,
        outward=outward,
        homeward=homeward,
        peers=peers,
        minimal=np.array([MINIMAL]),
        to_server=np.full((len(outward), servers), -1, np.int32),
        from_server=np.full((len(outward), servers), -1, np.int32),
        group_of_oss=np.arange(osss, dtype=np.int32) // lnet.oss_per_group,
        gateways=gateways.reshape(lnet.groups, lnet.routers_per_group),
        alive=np.ones(lnet.routers, np.int32),
        queued=np.zeros(senders),
        last_use=np.zeros(senders, np.int64),
        choices=np.zeros(1, np.int64),
    )


def _limits(machine: Machine, job: Job, seed: int) -> Limits:
    """Collect the constants of the client, of small messages and of the servers."""
    network, lnet, lustre, nodes = machine.network, machine.lnet, machine.lustre, machine.nodes
    hops = 5  # a minimal route over two groups: two links, the blue one, two links
    return Limits(
        nodes=len(job.nodes),
        osts=lustre.osts,
        osts_per_oss=lustre.osts_per_oss,
        rpc_size=lustre.rpc_size,
        message_size=machine.lnet.message_size,
        rpcs_in_flight=lustre.max_rpcs_in_flight,
        control_latency=network.message_latency
        + 2 * network.nic_latency
        + hops * network.hop_latency
        + lnet.router_latency
        + lnet.ib_latency,
        valiant_bias=network.routing_bias,
        request_service=lustre.oss_request_time,
        callback_service=nodes.lock_thread_time,
        callback_threads=nodes.lock_threads,
        max_dirty=lustre.max_dirty,
        max_node_dirty=nodes.memory // 2,
        max_node_cache=nodes.memory // 2,
        grant_chunk=lustre.grant_chunk,
        max_unused_locks=lustre.unused_locks_per_core * nodes.cores,
        write_copy=1.0 / nodes.write_copy_rate,
        read_copy=1.0 / nodes.read_copy_rate,
        tree_page=nodes.tree_page_time,
        tree_handover=nodes.spinlock_handover_time,
        list_handover=list_handover(nodes.spinlock_handover_time, nodes.numa_nodes),
        memory_copy=1.0 / machine.mpi.copy_rate,
        barrier_skew=machine.mpi.barrier_skew,
        peer_messages=machine.mpi.messages_under_way,
        thread_work=1.0 / nodes.rpc_thread_rate,
        cores=nodes.cores,
        first_system_core=nodes.cores - job.system_cores if job.system_cores else 0,
        readahead_limit=lustre.readahead,
        readahead_step=lustre.readahead_step,
        raid_stripe=lustre.raid_stripe,
        partial_stripe_factor=lustre.partial_stripe_factor,
        raid_chunk=lustre.raid_chunk,
        ost_disks=lustre.ost_disks,
        head_move=lustre.head_move,
        ost_commit=lustre.journal_commit,
        mdt_commit=lustre.mds.journal_commit,
        commit_period=lustre.commit_period,
        create_object=lustre.mds.stripe_time,
        directory_service=1.0 / lustre.mds.directory_rate,
        precreate_limit=lustre.mds.precreate_limit,
        precreate_object=1.0 / lustre.mds.precreate_rate,
        jitter_seed=int(stream(seed, "jitter").integers(1 << 31)),
    )


def _ost_seconds(machine: Machine, seed: int) -> Floats:
    """Return what a byte costs at each OST, read and write: (2, OSTs), in seconds.

    The speeds of the OSTs spread around the mean of the machine; their sum is the machine's, less
    what those lose that are nearly full.
    """
    lustre = machine.lustre
    spread = stream(seed, "OST speed").normal(1.0, lustre.ost_spread, lustre.osts)
    speed = np.maximum(spread, _SLOWEST_OST)
    speed /= speed.mean()
    fullness = stream(seed, "OST fullness").normal(lustre.ost_fullness, 0.03, lustre.osts)
    beyond = np.clip((fullness - lustre.fullness_knee) / (1.0 - lustre.fullness_knee), 0.0, 1.0)
    speed *= 1.0 - lustre.fullness_loss * beyond
    return np.array([1.0 / (lustre.ost_read_rate * speed), 1.0 / (lustre.ost_write_rate * speed)])


def _ost_jitter(machine: Machine) -> Floats:
    """Return by which factors services of an OST vary: float64 (4096,), lognormal with mean 1.

    Most services are a little faster than the mean, a few much slower. The factors are the
    distribution's quantiles in the middle of 4096 equal parts.
    """
    middles = (np.arange(_JITTER_FACTORS) + 0.5) / _JITTER_FACTORS
    normal = np.array([NormalDist().inv_cdf(middle) for middle in middles])
    factors = np.exp(machine.lustre.ost_jitter * normal)
    return factors / factors.mean()


def _metadata(machine: Machine) -> Floats:
    """Return the time of an MDS thread pool for each operation, in seconds."""
    mds = machine.lustre.mds
    seconds = np.zeros(len(Op))
    seconds[Op.OPEN] = 1.0 / mds.open_rate
    seconds[Op.CREATE] = 1.0 / mds.create_rate
    seconds[Op.CLOSE] = 1.0 / mds.close_rate
    seconds[Op.STAT] = 1.0 / mds.stat_rate
    seconds[Op.UNLINK] = 1.0 / mds.unlink_rate
    seconds[Op.MKDIR] = 1.0 / mds.create_rate
    seconds[Op.TRUNCATE] = 1.0 / mds.close_rate
    seconds[Op.FLOCK] = 1.0 / mds.open_rate
    seconds[Op.FSYNC] = 1.0 / mds.sync_rate
    return seconds
