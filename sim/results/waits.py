"""Where the time of the ranks went."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sim.engine.types import Floats
from sim.plane.causes import DOING, Cause
from sim.run.result import Result
from sim.workloads.job_results import Stretch

NEXT_PHASE = "next_phase", "the next phase to begin: delays, and what is prepared between phases"

WORDS = {
    Cause.NIC: "NICs",
    Cause.LINK: "Aries links",
    Cause.LNET: "LNET routers",
    Cause.IB: "InfiniBand links of LNET routers",
    Cause.OSS: "OSSs",
    Cause.OST: "their turn at the disks of OSTs",
    Cause.SERVICE: "the OSSs' request threads",
    Cause.MDS: "the MDS",
    Cause.CORE: "a core that others were using: ranks, Lustre's threads",
    Cause.MEMORY: "the memory of the node, which all its cores share",
    Cause.SSD: "the SSD of the node",
    Cause.DVS: "the node's DVS client, and its limit of blocks under way",
    Cause.STORE: "the service nodes and their disks",
    Cause.OSC: "the limit of RPCs in flight to an OST",
    Cause.TRANSFER: "messages on their way: latency",
    Cause.MUTEX: "fsync: the other ranks of the node, one after another",
    Cause.COPY: "copying into and out of the page cache",
    Cause.RANGE: "another rank of the node that writes the same bytes",
    Cause.TREE: "the file's tree of cached pages, which the ranks of a node share",
    Cause.CALL: "read and write calls themselves: the kernel and the client, whatever the size",
    Cause.THINK: "computing: delays between calls",
    Cause.THREADS: "other I/O threads of the rank",
    Cause.EXCHANGE: "data on their way between ranks and aggregators",
    Cause.LIBRARY: "work in the MPI library: messages, lists of pieces, copies",
    Cause.DISK: "disks of OSTs that moved bytes",
    Cause.SEEK: "disks of OSTs that moved their heads",
    Cause.LATENCY: "the answer of OSTs whose disks were done",
    Cause.JOURNAL: "journal commits, for an fsync",
    Cause.OBJECTS: "objects that OSTs create ahead for new files",
    Cause.TURN: "another request of the node to the MDS: one that modifies or opens at a time",
    Cause.LOCK_QUEUE: "extent locks: others before them in line",
    Cause.LOCK_USE: "extent locks: the holder, who still moved bytes below it",
    Cause.LOCK_FLUSH: "extent locks: the holder's write-back",
    Cause.LOCK_COMMIT: "extent locks: the commit of what the holder had written",
    Cause.CALLBACK: "the nodes' threads that handle callbacks of lock managers",
    Cause.COLLECTIVE: "the messages of MPI collectives",
    Cause.WRITERS: "fsync: other ranks of the node, which still wrote the file",
    Cause.START: "the start: ranks come out of a barrier one after the other",
}
"""What ranks wait for, behind the words "waited for"."""

AT_WORDS = {cause: WORDS[cause] for cause in DOING if cause in WORDS} | {
    Cause.TRANSFER: "reads and direct writes: their RPCs",
    Cause.METADATA: "opens, closes and other requests to the MDS",
    Cause.SYNC: "fsync: the replies of the MDS and the OSTs",
    Cause.FLUSH: "fsync: the write-back of the node's dirty pages",
    Cause.LOCK: "extent locks",
    Cause.CACHE: "writes: room for dirty pages",
    Cause.MEETING: "MPI collectives: the last rank to come, and their messages",
}
"""What ranks are at while they wait."""


@dataclass(frozen=True)
class Wait:
    """What the ranks waited for.

    Attributes
    ----------
    cause
        In lower case: ``disk``, ``lock_flush``; ``next_phase`` for the time between phases, and of
        what ranks were at, ``other_ranks`` for the time until the last had ended.
    words
        The same for a person.
    seconds
        Of a rank, on average.
    share
        Of the whole time, 0 to 1.
    """

    cause: str
    words: str
    seconds: float
    share: float


def waits(result: Result) -> list[Wait]:
    """Return what the ranks waited for in a run, longest first; the shares add up to 1."""
    stretches = [stretch for activity in result.activities for stretch in activity.stretches]
    seconds = _total(stretch.waits for stretch in stretches) if stretches else result.waits.mean(0)
    return _longest_first(WORDS, seconds, result.simulated, NEXT_PHASE)


def doing(result: Result) -> list[Wait]:
    """Return what the ranks were at in a run while they waited, longest first."""
    stretches = [stretch for activity in result.activities for stretch in activity.stretches]
    return phase_doing(stretches, sum(stretch.end - stretch.start for stretch in stretches))


def phase_waits(stretches: Sequence[Stretch], seconds: float) -> list[Wait]:
    """Return the same for stretches that took so many seconds in all."""
    return _longest_first(WORDS, _total(stretch.waits for stretch in stretches), seconds)


def phase_doing(stretches: Sequence[Stretch], seconds: float) -> list[Wait]:
    """Return what the ranks were at in such stretches while they waited, longest first."""
    rest = "other_ranks", "the other ranks to end the phase"
    return _longest_first(AT_WORDS, _total(stretch.doing for stretch in stretches), seconds, rest)


def _total(parts: Iterable[Floats]) -> Floats:
    """Return the sum of seconds by cause."""
    total: Floats = np.sum(list(parts), axis=0)
    return total


def _longest_first(
    words: Mapping[Cause, str],
    by_cause: Floats,
    total: float,
    rest: tuple[str, str] | None = None,
) -> list[Wait]:
    """Arrange seconds by cause; what is left of the total may have a name and words of its own."""
    seconds = {(cause.name.lower(), said): float(by_cause[cause]) for cause, said in words.items()}
    if rest is not None:
        seconds[rest] = max(total - sum(seconds.values()), 0.0)
    found = [
        Wait(cause, said, value, value / total)
        for (cause, said), value in seconds.items()
        if value > 0.0
    ]
    return sorted(found, key=lambda wait: -wait.seconds)
