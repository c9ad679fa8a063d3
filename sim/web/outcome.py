"""What the page shows of a run: small enough to travel from a worker, and plain as JSON."""

from __future__ import annotations

from typing import NamedTuple

from pydantic import BaseModel

from sim.plane.causes import Cause
from sim.telling.sheet import PALETTE, REST, SMALL


class Family(NamedTuple):
    """A part of the path, with one colour in all pictures, and the causes of waiting there."""

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


class WaitShare(BaseModel):
    """What ranks waited for in a phase."""

    family: str  # which part of the path it belongs to
    words: str
    share: float  # of the phase's time, 0 to 1; of a rank, on average


class PhaseOutcome(BaseModel):
    """A phase."""

    name: str  # ``write`` or ``read``
    seconds: float  # simulated
    bytes: int  # that all ranks moved
    real: str = ""  # where nine of ten real runs would lie, in words
    verdict: str = ""  # what bound it, and what to try first; empty where nothing is known
    next_step: str = ""
    waits: list[WaitShare] = []  # longest first; the shares add up to 1

    @property
    def bandwidth(self) -> float:
        """Bytes/s."""
        return self.bytes / self.seconds


class HeatMap(BaseModel):
    """How busy the disk arrays of OSTs were over time."""

    osts: list[int]  # the number of each row
    width: float  # simulated seconds of a column
    busy: list[list[float]]  # a row for each OST, a column for each span of time: per cent


class Outcome(BaseModel):
    """A run."""

    setup: str  # where and how it ran, in a sentence
    phases: list[PhaseOutcome]
    osts: int  # that hold the files of the job
    heat: HeatMap | None  # None where no OST had anything to do
    notes: list[str]
    troubles: list[str]
    events: int
    rpcs: int
    simulated: float  # seconds
    wall: float  # seconds of real time


class Animation(BaseModel):
    """A small run as a moving picture."""

    setup: str  # where and how it ran, and whether it is smaller than what was asked for
    html: str  # a whole document, the player included
