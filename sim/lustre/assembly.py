"""From the description of a machine and the nodes of a job to a data plane at rest."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sim.config.machine import Machine
from sim.engine.network import make_network
from sim.engine.pool import make_pool
from sim.engine.randomness import stream
from sim.engine.types import Floats, Indices, make_table
from sim.lustre.plane import LustrePlane
from sim.lustre.stationbook import StationBook
from sim.lustre.tables import (
    CHANNEL,
    FILE,
    OPERATION,
    PROGRAM,
    REQUEST,
    RPC,
    WORK,
    Cause,
    Limits,
    Lustre,
    Op,
    Routing,
    StationKind,
    StationMap,
)
from topology import Fabric, candidate_routes

MARKS = 8
"""Times that a program can note in one batch."""

_MINIMAL, _VALIANT = 2, 2
_BINS, _BIN_WIDTH = 1024, 1e-3  # 1 s at first; the width doubles as often as the run needs
_SLOWEST_OST = 0.1  # of the mean: a slower one would be taken out of service


class Assembly(NamedTuple):
    """A data plane and what its stations are called."""

    plane: LustrePlane
    book: StationBook


def assemble(
    machine: Machine, fabric: Fabric, nodes: Indices, program_node: Indices, seed: int
) -> Assembly:
    """Build the data plane of a job.

    Parameters
    ----------
    machine
        Its rates, latencies and limits.
    fabric
        Its network.
    nodes
        int32 (nodes,): the compute nodes of the job.
    program_node
        int32 (programs,): where each program runs, as a position in ``nodes``.
    seed
        Of the scenario: speeds of the OSTs and drawn routes follow from it.
    """
    book = StationBook()
    stations, first_link = _stations(book, machine, fabric, nodes)
    routers, router_index = np.unique(fabric.compute_router[nodes], return_inverse=True)
    outward, homeward, path = _routes(fabric, routers, first_link, seed)
    lustre = machine.lustre
    parts = -(-lustre.rpc_size // machine.lnet.message_size)
    room = 2 * lustre.max_rpcs_in_flight * parts + lustre.osts + 64
    rows = 4 * room + 2 * len(program_node) * parts
    network = make_network(
        book.table(),
        path,
        kinds=len(StationKind),
        messages=rows,
        events=2 * rows + len(program_node),
        bins=_BINS,
        bin_width=_BIN_WIDTH,
    )
    programs = make_table(PROGRAM, len(program_node))
    programs.node = program_node
    channels = make_table(CHANNEL, len(nodes) * lustre.osts)
    channels.head = channels.tail = -1
    tables = Lustre(
        network=network,
        stations=stations,
        limits=_limits(machine, len(nodes)),
        routing=_routing(machine, router_index.astype(np.int32), outward, homeward),
        operations=make_table(OPERATION, 0),
        programs=programs,
        waits=np.zeros((len(programs), len(Cause))),
        marks=np.zeros((len(programs), MARKS)),
        files=make_table(FILE, 0),
        objects=np.zeros(0, np.int32),
        channels=channels,
        works=make_table(WORK, rows),
        spare_works=make_pool(rows),
        rpcs=make_table(RPC, rows),
        spare_rpcs=make_pool(rows),
        requests=make_table(REQUEST, rows),
        spare_requests=make_pool(rows),
        ost_seconds=_ost_seconds(machine, seed),
        ost_overhead=np.full((2, lustre.osts), lustre.ost_request_overhead),
        metadata=_metadata(machine),
        batches=np.zeros(64, np.int32),
        ended=np.zeros(64, np.int32),
        ended_count=np.zeros(1, np.int64),
        clock=np.zeros(1),
        counts=np.zeros(3, np.int64),
    )
    return Assembly(LustrePlane(tables, room), book)


def _stations(
    book: StationBook, machine: Machine, fabric: Fabric, nodes: Indices
) -> tuple[StationMap, int]:
    """Enter every station in the book; return the map and the number of the first Aries link."""
    network, lnet, lustre = machine.network, machine.lnet, machine.lustre
    kind, count, osss = StationKind, len(nodes), lustre.oss_count
    ib_each = lnet.ib_links_per_router

    def node(i: int) -> str:
        return f"node {nodes[i]} ({fabric.router_name(int(fabric.compute_router[nodes[i]]))})"

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
    )
    return stations, link


def _routes(
    fabric: Fabric, routers: npt.NDArray[np.int32], first_link: int, seed: int
) -> tuple[Indices, Indices, Indices]:
    """Draw the candidate routes between Aries routers and all LNET routers, both ways.

    Returns the two tables of :class:`Routing` and the network's path.
    """
    shape = (len(routers), len(fabric.lnet_router), _MINIMAL + _VALIANT)
    sources = np.repeat(routers, shape[1])
    targets = np.tile(fabric.lnet_router, shape[0])
    out = candidate_routes(fabric, sources, targets, seed, minimal=_MINIMAL, valiant=_VALIANT)
    home = out.reversed(fabric)
    path = first_link + np.concatenate([out.links, home.links])
    outward = np.stack([out.start, out.stop], axis=-1).reshape(*shape, 2)
    homeward = np.stack([home.start, home.stop], axis=-1).reshape(*shape, 2) + len(out.links)
    return outward.astype(np.int32), homeward.astype(np.int32), path.astype(np.int32)


def _routing(
    machine: Machine, router_index: Indices, outward: Indices, homeward: Indices
) -> Routing:
    """Share the LNET routers out over the groups of fine-grained routing."""
    lnet, osss = machine.lnet, machine.lustre.oss_count
    senders = (len(router_index) + osss, lnet.routers)
    gateways = np.arange(lnet.data_routers, dtype=np.int32)
    return Routing(
        router_index=router_index,
        outward=outward,
        homeward=homeward,
        minimal=np.array([_MINIMAL]),
        group_of_oss=np.arange(osss, dtype=np.int32) // lnet.oss_per_group,
        gateways=gateways.reshape(lnet.groups, lnet.routers_per_group),
        alive=np.ones(lnet.routers, np.int32),
        queued=np.zeros(senders),
        last_use=np.zeros(senders, np.int64),
        choices=np.zeros(1, np.int64),
    )


def _limits(machine: Machine, nodes: int) -> Limits:
    """Collect the constants of the client and of small messages."""
    network, lnet, lustre = machine.network, machine.lnet, machine.lustre
    hops = 5  # a minimal route over two groups: two links, the blue one, two links
    return Limits(
        nodes=nodes,
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
    )


def _ost_seconds(machine: Machine, seed: int) -> Floats:
    """Return what a byte costs at each OST, read and write: (2, OSTs), in seconds.

    The speeds of the OSTs spread around the mean of the machine; their sum is the machine's.
    """
    lustre = machine.lustre
    spread = stream(seed, "OST speed").normal(1.0, lustre.ost_spread, lustre.osts)
    speed = np.maximum(spread, _SLOWEST_OST)
    speed /= speed.mean()
    return np.array([1.0 / (lustre.ost_read_rate * speed), 1.0 / (lustre.ost_write_rate * speed)])


def _metadata(machine: Machine) -> Floats:
    """Return the time of an MDS thread pool for each operation, in seconds."""
    mds = machine.lustre.mds
    seconds = np.zeros(len(Op))
    seconds[Op.OPEN] = 1.0 / mds.open_rate
    seconds[Op.CREATE] = 1.0 / mds.create_rate
    seconds[Op.CLOSE] = 1.0 / mds.close_rate
    seconds[Op.STAT] = 1.0 / mds.stat_rate
    seconds[Op.UNLINK] = 1.0 / mds.unlink_rate
    seconds[Op.FSYNC] = 1.0 / mds.sync_rate
    return seconds
