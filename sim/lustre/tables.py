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

from sim.engine.hashmap import HashMap
from sim.engine.network import Network
from sim.engine.ordered import Ordered
from sim.engine.pool import Pool
from sim.engine.queue import QUEUE, TURN
from sim.engine.types import Floats, Indices, Integers, Table
from sim.lustre.locks import Locks
from sim.node.ssd import SsdLimits


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
    CORE = 8  # a core of a compute node
    MEMORY = 9  # what all cores of a node can copy together
    SSD = 10  # the local solid-state disk of a compute node
    DVS = 11  # what the DVS client of a compute node can move
    STORE = 12  # the disks of a service node, or what stands behind all of them
    CALLBACK = 13  # a compute node's thread for what lock managers ask of it


MESSAGE_KINDS = int(StationKind.OST) + 1
"""Kinds of stations that messages of bulk RPCs meet: the first ones."""


class Cause(IntEnum):
    """Why a rank waited. Up to ``STORE`` it queued at a station of the kind of that number."""

    NIC = 0
    LINK = 1
    LNET = 2
    IB = 3
    OSS = 4
    OST = 5
    SERVICE = 6
    MDS = 7
    CORE = 8
    MEMORY = 9
    SSD = 10  # the SSD of its node
    DVS = 11
    STORE = 12
    OSC = 13  # the node's RPCs in flight to one OST are at their limit
    TRANSFER = 14  # moving: service and latency, with nobody else in the way
    METADATA = 15  # opens, creates, closes, stats, unlinks
    SYNC = 16  # fsync: the replies of the MDS and of the OSTs
    FLUSH = 17  # fsync: write-back of the node's dirty pages of the file
    MUTEX = 18  # fsync: another rank of the node is at it
    LOCK = 19  # extent locks
    COPY = 20  # between the rank's buffer and the page cache
    CACHE = 21  # no room for more dirty pages
    RANGE = 22  # another rank of the node writes the same bytes
    THINK = 23  # computing
    THREADS = 24  # its own I/O threads
    MEETING = 25  # MPI collectives: for the last of the ranks, then for the collective itself
    EXCHANGE = 26  # data on their way from rank to rank
    LIBRARY = 27  # the rank's own work in the MPI library
    TREE = 28  # others of the node enter pages into the tree of cached pages of the same file


class Stat(IntEnum):
    """What is counted of the lock traffic, of the page cache, and between ranks."""

    ENQUEUES = 0  # lock requests sent
    MATCHES = 1  # locks found on the own node
    BLOCKING_ASTS = 2
    CANCELS = 3
    GLIMPSES = 4
    GLIMPSE_ASTS = 5
    FLUSHED_BYTES = 6  # written back because of a blocking AST
    CANCEL_SYNCS = 7  # cancels that waited for a journal commit
    OST_SYNCS = 8
    MDS_SYNCS = 9
    HIT_BYTES = 10  # read from the page cache, or on their way there
    MISS_BYTES = 11  # that a call had to ask for itself
    AHEAD_BYTES = 12  # read ahead
    PARTIAL_STRIPES = 13  # RAID stripes written in part
    EVICTED_BYTES = 14
    LRU_CANCELS = 15
    EXCHANGED_BYTES = 16  # moved between ranks on different nodes
    LOCAL_BYTES = 17  # copied between ranks of one node
    THROTTLED_BYTES = 18  # that had to wait for room among the dirty pages of a local SSD
    NO_SPACE_BYTES = 19  # refused: the device, or the allocation, is full (ENOSPC)
    LOST_BYTES = 20  # not read or written because the SSD was lost (EIO)
    HEAD_MOVES = 21  # read RPCs for which the disks of an OST moved their heads


class LockState(IntEnum):
    """Where a lock is in its life; its event, if it has one, takes it on from there."""

    ASKED = 0  # the request is on its way to the server
    QUEUED = 1  # a thread of the server turns to it
    WAITING = 2  # others are in its way
    GRANTED = 3  # the grant is on its way to the client
    HELD = 4  # with the client; its event is a blocking AST that arrives
    FLUSHING = 5  # the pages below it are being written back
    DROPPING = 6  # its pages leave the cache, one by one
    RETURNED = 7  # the cancel is on its way to the server
    SYNCING = 8  # the server makes what was written below it durable
    COMPLETED = 9  # granted after a wait: the completion AST is on its way to the client


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
    MKDIR = 8
    THINK = 9
    MARK = 10  # note the time in column `offset` of the program's marks
    LIMIT = 11  # start no read or write later than `seconds` from now
    REPEAT = 12  # go back to the latest MARK until `seconds` have passed since column `offset`
    GROUP_LOCK = 13  # lock all objects of the file for the group of number `offset`
    GROUP_UNLOCK = 14
    LOCK_AHEAD = 15  # ask for locks on the extents of later calls, and do not wait for them
    PARK = 16  # the first operation of a thread: rest until its leader starts it
    FORK = 17  # start the next `count` programs, the threads of this one
    JOIN = 18  # wait until they have ended
    MEET = 19  # wait until `count` programs are at meeting `file`; all go on `seconds` later
    WORK = 20  # work in a library for `seconds`
    EXCHANGE = (
        21  # receive the transfers `offset` to `offset + count - 1`, and send `length`, those
    )
    # of the turn of transfer `stride`; wait until all are there
    TRUNCATE = 22  # cut or lengthen the file to `offset` bytes: locks every object from there on
    FLOCK = 23  # take `length` bytes of the file from `offset` for this program (fcntl)
    FUNLOCK = 24  # give them back
    UNTIL = 25  # compute until the clock shows `seconds`, or not at all if it is past that


class Backend(IntEnum):
    """What keeps a file."""

    LUSTRE = 0
    SSD = 1  # the local SSD of one node
    DVS = 2  # service nodes: a burst buffer, or the home directories


OPERATION = np.dtype(
    [
        ("kind", "i4"),  # an Op
        ("file", "i4"),
        ("offset", "i8"),  # bytes
        ("length", "i8"),  # bytes of one call
        ("stride", "i8"),  # bytes from one call to the next
        ("count", "i8"),  # calls
        ("seconds", "f8"),
        ("timer", "i8"),  # the column of the program's timers that its time is added to
    ],
    align=True,
)

TIMERS = 16
"""Timers of a program. What they measure is for control to say; column 0 takes what it does not."""

TRANSFER = np.dtype(  # bytes that go from one node to another for a program
    [
        ("left", "i8"),  # bytes not yet sent
        ("source", "i4"),  # nodes
        ("target", "i4"),
        ("route", "i4"),  # its candidate routes over Aries; -1: both nodes are on one router
        ("gate", "i4"),  # whose turn it belongs to, or -1
        ("after", "i4"),  # it may begin only when its gate is open
        ("program", "i4"),  # who waits for it
        ("under_way", "i4"),  # messages
        ("next", "i4"),  # the next before the same gate
    ],
    align=True,
)

MEETING = np.dtype([("arrived", "i4"), ("head", "i4")], align=True)  # programs that wait there

GATE = np.dtype(  # before the transfers of one turn of a node
    [
        ("left", "i4"),  # transfers that have not ended
        ("head", "i4"),  # transfers that wait for it to open
        ("following", "i4"),  # the node's next one, which opens when all of this have ended; or -1
        ("programs", "i4"),  # that opened it and wait for the end of all transfers
        ("shut", "i4"),  # what must come before it opens: the turn before, or programs that send
    ],
    align=True,
)

PROGRAM = np.dtype(
    [
        ("op", "i8"),  # the operation it is at
        ("timed", "i8"),  # the operation that it is being timed at
        ("timed_since", "f8"),
        ("loop", "i8"),  # the operation after its latest MARK
        ("stop", "i8"),  # one past its last operation
        ("call", "i8"),  # calls of that operation that are done
        ("length", "i8"),  # bytes of the present call
        ("done", "i8"),  # bytes of it that are done
        ("offset", "i8"),  # where in the object it is
        ("left", "i8"),  # bytes left of the stripe chunk
        ("later", "i8"),  # bytes of the chunk after the piece that is read
        ("entering", "i8"),  # bytes asked for whose pages are not in the file's tree yet
        ("pending", "i8"),  # bytes or replies that it waits for
        ("ready", "f8"),  # when the latest of the replies arrives
        ("since", "f8"),  # when the wait began
        ("flock_start", "i8"),  # the range of bytes of a file that it holds
        ("flock_end", "i8"),
        ("limit", "f8"),  # start no read or write after this time
        ("calls", "i8"),  # reads and writes done since the batch began
        ("next_read", "i8"),  # where a sequential reader would go on, in the file
        ("ahead", "i8"),  # how far beyond a call it reads ahead, in bytes
        ("ahead_done", "i8"),  # up to where it has read ahead, in the file
        ("gap", "i8"),  # bytes from the end of a read to the start of the next one
        ("striding", "i4"),  # reads that followed each other with this gap; 0: not in strides
        ("node", "i4"),
        ("core", "i4"),  # station
        ("batch", "i4"),
        ("phase", "i4"),  # step within an operation of several
        ("active", "i4"),
        ("inode", "i4"),
        ("at_tree", "i4"),  # of a rank: which of its threads waits at the inode's tree, or -1
        ("view_id", "i4"),
        ("lock", "i4"),
        ("group", "i4"),  # the group whose locks it uses, or 0
        ("leader", "i4"),  # the program that it is a thread of, or -1
        ("threads", "i4"),  # its threads that have not ended
        ("next", "i4"),  # the next in whichever queue it waits
        ("writer_next", "i4"),  # the next of the inode's writers
        ("flock_next", "i4"),  # the next that holds, or waits for, a range of the file
    ],
    align=True,
)

FILE = np.dtype(
    [
        ("first_object", "i8"),
        ("stripe_size", "i8"),
        ("end", "i8"),  # bytes up to the end of the last write so far
        ("changed", "f8"),  # when its metadata last changed
        ("stripe_count", "i4"),
        ("mdt", "i4"),
        ("direct", "i4"),  # opened with O_DIRECT
        ("no_expand", "i4"),  # its locks are granted as asked for (LOCKNOEXPAND)
        ("flock_held", "i4"),  # programs that hold ranges of its bytes
        ("flock_waiting", "i4"),  # and those that wait for one, in the order of their coming
        ("flock_last", "i4"),
        ("shared_directory", "i4"),  # its directory is also that of others' files
        ("backend", "i4"),  # a Backend
        ("node", "i4"),  # on a local SSD: the node whose it is, or -1 before its first use
        ("volume", "i4"),  # behind service nodes: which allocation it takes room of
    ],
    align=True,
)

OBJECT = np.dtype(
    [("written", "f8"), ("ost", "i4"), ("views", "i4")],  # views: the first of all nodes' views
    align=True,
)
# Behind service nodes `ost` is the number of the service node, and `written` when the latest write
# there ends.

INODE = np.dtype(  # a file as one client node has it open
    [
        ("outstanding", "i8"),  # bytes dirty or being written back
        ("tree_free", "f8"),  # when its tree of cached pages takes the next page
        ("tree_users", "i4"),  # cores that wait for it
        ("flush_head", "i4"),  # programs that wait for its write-back
        ("mutex", TURN),  # of one program at a time
        ("writers", "i4"),  # programs with a write under way
        ("range_waiters", QUEUE),  # programs that wait for a range of bytes
    ],
    align=True,
)

VIEW = np.dtype(  # an object as one client node sees it: its locks and pages
    [
        ("outstanding", "i8"),  # bytes dirty or being written back
        ("unsent", "i8"),  # bytes dirty
        ("node", "i4"),
        ("object", "i4"),
        ("inode", "i4"),
        ("shared_locks", "i4"),  # its first PR or GROUP lock
        ("flushing", "i4"),  # its first lock that waits for write-back
        ("windows", "i4"),  # its first window, in the order of the object
        ("readers", "i4"),  # programs that wait for pages
        ("urgent", "i4"),  # unsent windows that must go soon
        ("pressing", "i4"),  # unsent windows that someone waits for the lock of
        ("listed", "i4"),  # in the list of its OSC
        ("next", "i4"),  # the next in that list
        ("sibling", "i4"),  # the next view of the object, on another node
        ("cached_next", "i4"),  # the next in the node's order of eviction
        ("cached_listed", "i4"),
    ],
    align=True,
)

WINDOW = np.dtype(  # a part of an object, of the size and alignment of an RPC, on its way
    [
        ("index", "i8"),
        ("low", "i8"),  # hull of the bytes on their way, in the object
        ("high", "i8"),
        ("bytes", "i8"),
        ("pieces", "i4"),
        ("state", "i4"),
        ("urgency", "i4"),
        ("next", "i4"),  # the next of the view
        ("next_of_rpc", "i4"),
        ("view_id", "i4"),
    ],
    align=True,
)

RUN = np.dtype([("start", "i8"), ("stop", "i8")], align=True)  # cached bytes of an object

CHANNEL = np.dtype(  # an OSC; its number is node * OSTs + OST
    [
        ("dirty", "i8"),  # bytes dirty or being written back
        ("grant", "i8"),  # bytes that the OST has promised to take
        ("in_flight", "i4"),
        ("works", QUEUE),  # runs of bytes to be moved directly
        ("views", QUEUE),  # with unsent bytes
        ("pressing", "i4"),  # views with pressing windows
        ("waiters", QUEUE),  # programs that wait for room
        ("lru_head", "i4"),  # unused locks, the oldest first
        ("lru_tail", "i4"),
        ("lru_count", "i4"),
    ],
    align=True,
)

NODE = np.dtype(
    [
        ("dirty", "i8"),
        ("cached", "i8"),
        ("evict_head", "i4"),  # views with cached pages, the oldest first
        ("evict_tail", "i4"),
        ("next_thread", "i4"),  # the core of the next RPC's ptlrpcd thread
        ("next_callback", "i4"),  # which of its threads takes the next callback
        ("modifying", TURN),  # of the program with a modifying metadata RPC in flight
        ("closing", TURN),
        ("serves", "i4"),  # a service node at work for itself: what it serves is on its own disks
    ],
    align=True,
)

WORK = np.dtype(  # a run of bytes of one object that waits in an OSC to be moved directly
    [
        ("offset", "i8"),
        ("left", "i8"),
        ("program", "i4"),
        ("window", "i4"),  # the window that it fills, or -1
        ("object", "i4"),
        ("write", "i4"),
        ("next", "i4"),
    ],
    align=True,
)

RPC = np.dtype(  # a BRW RPC and its bulk
    [
        ("start", "f8"),
        ("unit", "i8"),  # where in the object it lies, in sizes of an RPC
        ("bytes", "i8"),
        ("partial", "i8"),  # bytes in RAID stripes that it writes in part
        ("arrived", "f8"),  # at the disk array
        ("gap", "i8"),  # bytes from the read before it, of those that wait there, to this one
        ("channel", "i4"),
        ("program", "i4"),  # who waits for it, or -1
        ("windows", "i4"),  # its first window, or -1
        ("object", "i4"),
        ("parts", "i4"),  # LNET messages of its bulk that are still on the way
        ("write", "i4"),
        ("message", "i4"),  # with which it goes on after the block I/O
        ("next", "i4"),  # in the line of the disk array
    ],
    align=True,
)

PRECREATED = np.dtype(  # what the MDS knows of an OST's precreated objects
    [("available", "i8"), ("growth", "i8"), ("coming", "i8"), ("ready", "f8")], align=True
)

REQUEST = np.dtype(  # a small request to a server
    [
        ("service", "f8"),
        ("program", "i4"),
        ("station", "i4"),
        ("kind", "i4"),
        ("object", "i4"),
        ("node", "i4"),  # of a glimpse AST: the node that is asked
    ],
    align=True,
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
    request_service: float  # of an OSS thread for a small request
    callback_service: float  # of a client's thread for a callback
    callback_threads: int  # of a client
    max_dirty: int  # of an OSC
    max_node_dirty: int
    max_node_cache: int
    grant_chunk: int  # most that a reply adds to an OSC's grant
    max_unused_locks: int  # of an OSC
    write_copy: float  # a core's time to copy a byte into the page cache
    read_copy: float
    tree_page: float  # a node's time to enter a page into the tree of cached pages of its file
    tree_handover: float  # the same, for each core more that waits for the lock of the tree
    list_handover: float  # a byte's delay at a node's memory for each core that waits there
    memory_copy: float  # a core's time to copy a byte from memory to memory
    barrier_skew: float  # within which the programs of a batch begin
    peer_messages: int  # messages of one transfer between ranks that are under way at once
    thread_work: float  # a ptlrpcd thread's time a byte of an RPC
    cores: int  # of a node
    first_system_core: int  # where the node's system threads may run
    readahead_limit: int
    readahead_step: int
    raid_stripe: int
    partial_stripe_factor: float  # work of a partial RAID stripe over that of a whole one
    raid_chunk: int  # of a RAID stripe on one disk
    ost_disks: int
    head_move: float
    ost_commit: float
    mdt_commit: float
    commit_period: float
    create_object: float  # MDS time for each stripe object of a new file
    directory_service: float  # MDS time under the lock of a directory, for each new name
    precreate_limit: int  # most objects that an OST makes ahead at once
    precreate_object: float  # OST time for each object that it makes ahead
    jitter_seed: int


PEER_START, PEER_SENT, PEER_COPY = 16, 17, 18
"""Stages of a message between ranks: about to leave, on its way, or a copy within its node. Those
of BRW RPCs are smaller numbers, and known to ``osc``."""

DVS_START = 32
"""The first stage of a block of DVS; all its stages are larger, and known to ``dvs``."""

DVS_PARTS = 32
"""Stripes of a call that a DVS client sends together."""

SERVER = np.dtype(  # a service node that serves files over DVS
    [
        ("read_seconds", "f8"),  # that a byte holds it
        ("write_seconds", "f8"),
        ("request_time", "f8"),  # that a block holds it besides
        ("read_latency", "f8"),
        ("write_latency", "f8"),
        ("latency", "f8"),  # of a small message, one way
        ("shared_read", "f8"),  # seconds that a byte holds what stands behind all of them
        ("shared_write", "f8"),
        ("file_write", "f8"),  # seconds that a byte holds its file
        ("client_read", "f8"),  # seconds that a byte holds the DVS client
        ("client_write", "f8"),
        ("open_time", "f8"),
        ("sync_time", "f8"),
        ("block_size", "i8"),
        ("blocks_in_flight", "i4"),
        ("shared", "i4"),  # the station of what stands behind
    ],
    align=True,
)

MOUNT = np.dtype(  # what a node's DVS client has to do with one service node: node * servers + it
    [("in_flight", "i4"), ("works", QUEUE)], align=True
)

VOLUME = np.dtype([("used", "i8"), ("capacity", "i8")], align=True)  # an allocation, in bytes


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
    directory: int  # the lock of each MDT's shared directory
    core: int
    memory: int
    ssd: int
    dvs: int  # the DVS clients of the nodes
    server_in: int  # network to service node
    server_out: int
    server_requests: int  # its threads for small requests
    store: int  # its disks
    callback: int  # the nodes' threads for callbacks; those of one node side by side


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
    peers
        int32 (rows, candidates, 2): the same for the pairs of Aries routers between which ranks
        exchange data, as they were first needed.
    to_server, from_server
        int32 (rows, service nodes): the rows of ``peers`` with the routes from a client node to a
        service node and back; -1 where both are on one router, or where no file has led there yet.
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
    peers: Indices
    minimal: Integers
    to_server: Indices
    from_server: Indices
    group_of_oss: Indices
    gateways: Indices
    alive: Indices
    queued: Floats
    last_use: Integers
    choices: Integers


class Lustre(NamedTuple):
    """Everything that the loop reads and writes.

    A table of things that come and go has beside it the pool of its free rows, named ``spare_...``.

    Attributes
    ----------
    views_by_pair, inodes_by_pair
        Row of the view of (object, node), and of the inode of (file, node).
    cached
        The cached runs of every view, in the order of the object; their rows are those of ``runs``.
    ost_seconds, ost_overhead
        float64 (2, OSTs): what a byte costs at each OST, and what a BRW RPC costs besides; read
        and write.
    ost_latency
        float64 (2,): seconds from a service of an OST to the reply; read and write.
    ost_jitter
        float64 (factors,): each service of an OST takes longer by one of these, drawn at random;
        mean 1. Tabled to spare each RPC a logarithm, a cosine and an exponential.
    arrays, waiting_reads
        The disks of the OSTs, and what waits for them; see ``arrays``.
    metadata
        float64 (operations,): MDS time of each operation.
    journals
        Of the OSTs, then of the MDTs.
    transfers, gates, meetings
        Between ranks; see ``exchange``.
    ssds, ssd_slots, ssd_limits
        The SSDs of the nodes; see ``sim.node.ssd``.
    servers, mounts, volumes
        Service nodes, the clients' parts that talk to them, and allocations; see ``dvs``.
    refused
        int64 (programs, 2): bytes that each did not get written because a device was full, and
        that it could not read or write because a device was lost.
    waits, marks, timers
        float64 (programs, causes), (programs, marks) and (programs, ``TIMERS``), in seconds.
    batches
        Programs left in each batch. ``ended`` lists the batches that ended at the present time.
    clock
        The present time.
    counts
        Events, bulk RPCs, and the bytes that these have moved.
    stats
        int64, by :class:`Stat`.
    """

    network: Network
    stations: StationMap
    limits: Limits
    routing: Routing
    operations: Table
    programs: Table
    waits: Floats
    marks: Floats
    timers: Floats
    transfers: Table
    gates: Table
    meetings: Table
    files: Table
    objects: Table
    nodes: Table
    channels: Table
    locks: Locks
    views: Table
    spare_views: Pool
    views_by_pair: HashMap
    inodes: Table
    spare_inodes: Pool
    inodes_by_pair: HashMap
    windows: Table
    spare_windows: Pool
    runs: Table
    spare_runs: Pool
    cached: Ordered
    works: Table
    spare_works: Pool
    rpcs: Table
    spare_rpcs: Pool
    requests: Table
    spare_requests: Pool
    ost_seconds: Floats
    ost_overhead: Floats
    ost_latency: Floats
    ost_jitter: Floats
    arrays: Table
    waiting_reads: Indices
    metadata: Floats
    precreated: Table
    journals: Table
    background: Table
    ssds: Table
    ssd_slots: Floats
    ssd_limits: SsdLimits
    servers: Table
    mounts: Table
    volumes: Table
    refused: Integers
    batches: Indices
    ended: Indices
    ended_count: Integers
    clock: Floats
    counts: Integers
    stats: Integers
