"""Causes of waiting in families, so that one part of the path has one colour in every picture."""

from __future__ import annotations

from typing import NamedTuple

from sim.plane.causes import Cause
from sim.telling.sheet import PALETTE, REST, SMALL


class Family(NamedTuple):
    """A part of the path.

    Attributes
    ----------
    words
        What it is called.
    colour
        In all pictures of the page.
    causes
        That belong to it.
    """

    words: str
    colour: str
    causes: tuple[Cause, ...]


FAMILIES = {
    "disks": Family(
        "Disks of OSTs, and OSSs",
        PALETTE[0],
        (Cause.OST, Cause.DISK, Cause.SEEK, Cause.LATENCY, Cause.JOURNAL, Cause.OSS, Cause.SERVICE),
    ),
    "locks": Family(
        "Extent locks",
        PALETTE[5],
        (
            *(Cause.LOCK_QUEUE, Cause.LOCK_USE, Cause.LOCK_FLUSH, Cause.LOCK_COMMIT),
            Cause.CALLBACK,
        ),
    ),
    "network": Family(
        "Network: NICs, Aries, LNET",
        PALETTE[2],
        (Cause.NIC, Cause.LINK, Cause.LNET, Cause.IB, Cause.TRANSFER, Cause.OSC),
    ),
    "node": Family(
        "The node: copies, cores, page cache",
        PALETTE[1],
        (
            *(Cause.COPY, Cause.CORE, Cause.MEMORY, Cause.CALL, Cause.TREE, Cause.RANGE),
            *(Cause.MUTEX, Cause.WRITERS),
        ),
    ),
    "metadata": Family("Metadata: the MDS", PALETTE[3], (Cause.MDS, Cause.OBJECTS, Cause.TURN)),
    "mpi": Family(
        "MPI: exchange, collectives",
        PALETTE[4],
        (Cause.EXCHANGE, Cause.COLLECTIVE, Cause.LIBRARY),
    ),
    "storage": Family("SSDs, burst buffer", PALETTE[6], (Cause.SSD, Cause.DVS, Cause.STORE)),
    "start": Family("Start: ranks leave a barrier", SMALL, (Cause.START,)),
    "other": Family("Anything else", REST, ()),
}
"""The families by a name, in the order in which they are drawn."""

_BY_CAUSE = {
    cause.name.lower(): name for name, family in FAMILIES.items() for cause in family.causes
}


def family_of(cause: str) -> str:
    """Return the name of the family that a cause belongs to, by the cause's name in lower case."""
    return _BY_CAUSE.get(cause, "other")
