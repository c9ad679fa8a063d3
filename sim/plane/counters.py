"""What is counted of the lock traffic, of the page caches and of the exchange between ranks."""

from __future__ import annotations

from enum import IntEnum

from xc40io.config.kept import kept


@kept
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
    LAYOUT_INTENTS = 22  # requests to an MDT for the objects of further components of a layout
    LAYOUT_FETCHES = 23  # requests for a layout that has changed
    LAYOUT_CANCELS = 24  # layout locks given back
