"""What the data plane of Lustre holds: the tables, and what their columns mean.

The words are Lustre's. An *OSC* is the part of a client node that talks to one OST; it keeps at
most ``max_rpcs_in_flight`` bulk (BRW) RPCs under way. An *object* is the part of a file on one OST.
A *gateway* is the LNET router through which a message leaves its sender. A *program* is what one
rank does: a list of operations, one after the other.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import numpy as np

from sim.engine.network import Network
from sim.engine.pool import Pool
from sim.engine.types import Floats, Indices, Integers, Table


class StationKind(IntEnum):
    """What a station is."""

    NIC = 0  # one direction of a compute node's Aries network interface
    LINK = 1  # one direction of the links between two Aries routers
    LNET = 2  # one direction of an LNET router's Aries network interface
    IB = 3  # one direction of an InfiniBand link of an LNET router
    OSS = 4  # one direction of an object storage server's cap
    OST = 5  # an object storage target's disk array, shared by reads and writes
    SERVICE = 6  # an object storage server's threads for small requests
    MDS = 7  # the metadata server's threads


class Cause(IntEnum):
    """Why a rank waited. The first are queueing at stations of the kind of that number."""

    NIC = 0
    LINK = 1
    LNET = 2
    IB = 3
    OSS = 4
    OST = 5
    SERVICE = 6
    MDS = 7
    OSC = 8  # the node's RPCs in flight to one OST are at their limit
    TRANSFER = 9  # moving: service and latency, with nobody else in the way
    METADATA = 10  # opens, creates, closes, stats, unlinks
    SYNC = 11  # fsync
    THINK = 12  # computing


class Op(IntEnum):
    """Operations of a program."""

    READ = 0
    WRITE = 1
    FSYNC = 2
    OPEN = 3
    CREATE = 4
    CLOSE = 5
    STAT = 6
    UNLINK = 7
    THINK = 8
    MARK = 9  # note the time in column `offset` of the program's marks
    LIMIT = 10  # start no read or write later than `seconds` from now
    REPEAT = 11  # go back to the latest MARK until `seconds` have passed since column `offset`


OPERATION = np.dtype(
    [
        ("kind", "i4"),  # an Op
        ("file", "i4"),
        ("offset", "i8"),  # bytes
        ("length", "i8"),  # bytes of one call
        ("stride", "i8"),  # bytes from one call to the next
        ("count", "i8"),  # calls
        ("seconds", "f8"),
    ],
    align=True,
)

PROGRAM = np.dtype(
    [
        ("op", "i8"),  # the operation it is at
        ("loop", "i8"),  # the operation after its latest MARK
        ("stop", "i8"),  # one past its last operation
        ("call", "i8"),  # calls of that operation that are done
        ("done", "i8"),  # bytes of that call that are done
        ("pending", "i8"),  # bytes or replies that it waits for
        ("ready", "f8"),  # when the latest of the replies arrives
        ("since", "f8"),  # when the wait began
        ("limit", "f8"),  # start no read or write after this time
        ("calls", "i8"),  # reads and writes done since the batch began
        ("call_start", "f8"),
        ("call_time", "f8"),  # seconds spent in them
        ("node", "i4"),
        ("batch", "i4"),
        ("phase", "i4"),  # step within an operation of several
        ("active", "i4"),
    ],
    align=True,
)

FILE = np.dtype(
    [("first_object", "i8"), ("stripe_size", "i8"), ("stripe_count", "i4"), ("mdt", "i4")],
    align=True,
)

CHANNEL = np.dtype(  # an OSC; its number is node * OSTs + OST
    [("in_flight", "i4"), ("head", "i4"), ("tail", "i4")], align=True
)

WORK = np.dtype(  # a run of bytes of one object that waits in an OSC to be cut into RPCs
    [
        ("offset", "i8"),
        ("left", "i8"),
        ("program", "i4"),
        ("write", "i4"),
        ("next", "i4"),
    ],
    align=True,
)

RPC = np.dtype(  # a BRW RPC and its bulk
    [
        ("start", "f8"),
        ("bytes", "i8"),
        ("channel", "i4"),
        ("program", "i4"),
        ("parts", "i4"),  # LNET messages of its bulk that are still on the way
        ("write", "i4"),
    ],
    align=True,
)

REQUEST = np.dtype(  # a small request to a server
    [("service", "f8"), ("program", "i4"), ("station", "i4")], align=True
)


class Limits(NamedTuple):
    """Constants of a machine; times in seconds, sizes in bytes."""

    nodes: int
    osts: int
    osts_per_oss: int
    rpc_size: int
    message_size: int
    rpcs_in_flight: int
    control_latency: float  # a small message, one way, client to server
    valiant_bias: float  # how much more a queue counts on a non-minimal route
    request_service: float  # time of an OSS thread for a small request


class StationMap(NamedTuple):
    """Number of the first station of each kind and direction; `out` is away from the owner."""

    nic_out: int
    nic_in: int
    lnet_in: int  # Aries to router
    lnet_out: int  # router to Aries
    ib_out: int  # router to servers; links of one router side by side
    ib_in: int  # servers to router
    ib_links: int  # links a router
    oss_in: int
    oss_out: int
    ost: int
    service: int
    mds: int


class Routing(NamedTuple):
    """How messages find their way between clients and servers.

    Attributes
    ----------
    router_index
        int32 (nodes,): row of each client node in the route tables.
    outward, homeward
        int32 (rows, LNET routers, candidates, 2): start and stop in the network's path of each
        candidate route over Aries, from client to LNET router and back. The first ``minimal``
        candidates are minimal.
    group_of_oss
        int32 (OSSs,): the fine-grained routing group of each OSS.
    gateways
        int32 (groups, most routers a group): LNET routers of each group, then -1.
    alive
        int32 (LNET routers,): 0 for a failed router.
    queued
        float64 (senders, LNET routers): bytes that a sender has under way to a router. Senders are
        the client nodes, then the OSSs.
    last_use
        int64 (senders, LNET routers): when the sender last chose the router, in choices.
    choices
        int64 (1,): choices made so far.
    """

    router_index: Indices
    outward: Indices
    homeward: Indices
    minimal: Integers
    group_of_oss: Indices
    gateways: Indices
    alive: Indices
    queued: Floats
    last_use: Integers
    choices: Integers


class Lustre(NamedTuple):
    """Everything that the loop reads and writes.

    ``ost_seconds`` (2, OSTs) is what a byte costs at each OST, read and write; ``ost_overhead``
    (2, OSTs) what a BRW RPC costs besides; ``metadata`` (operations,) the server time of each
    metadata operation. ``waits`` (programs, causes) and ``marks`` (programs, marks) are in seconds.
    ``batches`` counts the programs left in each batch; ``ended`` and ``ended_count`` list batches
    that ended at the present time. ``clock`` holds the present time, ``counts`` the numbers of
    events and of bulk RPCs and the bytes that these have moved.
    """

    network: Network
    stations: StationMap
    limits: Limits
    routing: Routing
    operations: Table
    programs: Table
    waits: Floats
    marks: Floats
    files: Table
    objects: Indices
    channels: Table
    works: Table
    spare_works: Pool
    rpcs: Table
    spare_rpcs: Pool
    requests: Table
    spare_requests: Pool
    ost_seconds: Floats
    ost_overhead: Floats
    metadata: Floats
    batches: Indices
    ended: Indices
    ended_count: Integers
    clock: Floats
    counts: Integers
