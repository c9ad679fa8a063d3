"""Why a rank waited: the causes to which its time is charged.

Each second is charged twice. First to what the rank was at: *in an fsync*, *for a lock*
(``Programs.waits``). That is what the program did, and most of it is a cause in itself. Some is
not, and is taken apart (:data:`TAKEN_APART`): who waits for a write-back waits for disks, for the
network, or for the RPCs before it. So such a second is charged once more to the part of the path
that it was lost at (``Programs.behind``). What no part takes is the latency of messages. So the
seconds of a program can be arranged in both ways: :class:`WaitSeconds`.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from xc40io.engine.types import Floats


class Cause(IntEnum):
    """Why a rank waited. Up to ``STORE`` a cause is a kind of station, and has its number."""

    NIC = 0
    LINK = 1
    LNET = 2
    IB = 3
    OSS = 4
    OST = 5  # in line before the disks of an OST
    SERVICE = 6
    MDS = 7
    CORE = 8
    MEMORY = 9
    SSD = 10  # the SSD of its node
    DVS = 11
    STORE = 12
    OSC = 13  # the node's RPCs in flight to one OST are at their limit, and those merely travel
    TRANSFER = 14  # in a read or a direct write, for its RPCs; taken apart: messages' latency
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
    CALL = 29  # what a read or write call costs its core, whatever its size
    # Only what others are taken apart into.
    DISK = 30  # the disks of an OST move bytes
    SEEK = 31  # they move their heads
    LATENCY = 32  # from the end of their work to the answer of the OST
    JOURNAL = 33  # commits for an fsync
    OBJECTS = 34  # the MDS waits for objects that the OSTs create ahead
    TURN = 35  # another request of the node to the MDS: one that modifies or opens at a time
    LOCK_QUEUE = 36  # others before it in the line for an extent lock
    LOCK_USE = 37  # who holds the lock still moves bytes below it
    LOCK_FLUSH = 38  # its holder writes back and drops what is dirty below it
    LOCK_COMMIT = 39  # the OST commits what was written below it
    CALLBACK = 40  # threads of nodes that handle what lock managers ask
    COLLECTIVE = 41  # the messages of an MPI collective
    START = 42  # ranks come out of a barrier one after the other
    WRITERS = 43  # fsync: other ranks of the node, which still write the file


COARSE = int(Cause.CALL) + 1
"""How many causes a rank can be *at*: the first ones."""

TAKEN_APART = frozenset(
    {
        *(Cause.TRANSFER, Cause.METADATA, Cause.SYNC, Cause.FLUSH, Cause.LOCK),
        *(Cause.CACHE, Cause.MEETING),
    }
)
"""What is no cause in itself."""

FINEST = tuple(c for c in Cause if c not in TAKEN_APART or c == Cause.TRANSFER)
"""What a second of a rank is lost by in the end."""

DOING = tuple(Cause)[:COARSE]
"""What a rank can be at."""

_TAKEN_APART = sorted(TAKEN_APART)


class WaitSeconds(NamedTuple):
    """Seconds that programs, or ranks, have waited: the same seconds, arranged in two ways."""

    doing: Floats  # float64 (n, `COARSE`): by what each was at, as in an fsync or for a lock
    # float64 (n, causes): by the part of the path that it was behind. Nothing stands at the causes
    # that are taken apart, but at `TRANSFER` the latency of messages.
    causes: Floats

    def since(self, before: WaitSeconds) -> WaitSeconds:
        """Subtract earlier seconds, in place, for the arrays are long; return the difference."""
        for own, earlier in zip(self, before, strict=True):
            own -= earlier
        return self


def waited_of(doing: Floats, behind: Floats) -> WaitSeconds:
    """Return the seconds that programs have waited, arranged in both ways.

    Parameters
    ----------
    doing
        float64 (n, ``COARSE``): ``Programs.waits`` of some programs, a copy.
    behind
        float64 (n, causes): ``Programs.behind`` of the same, a copy. Both go into the answer.
    """
    apart = doing[:, _TAKEN_APART]
    rest = apart.sum(axis=1) - behind.sum(axis=1)
    causes = behind
    causes[:, :COARSE] += doing
    causes[:, _TAKEN_APART] -= apart
    causes[:, Cause.TRANSFER] = rest
    return WaitSeconds(doing, causes)
