"""Why a rank waited: the causes to which its time is charged."""

from __future__ import annotations

from enum import IntEnum


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
