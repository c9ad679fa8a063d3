"""Where the time of the ranks went."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sim.plane.causes import Cause
from sim.run.result import Result
from sim.workloads.stretch import Stretch

NEXT_PHASE = "next_phase", "the next phase to begin: other ranks still at work, delays"
_OTHERS = "other_ranks", "the other ranks to end the phase"

WORDS = {
    Cause.NIC: "queues at NICs",
    Cause.LINK: "queues at Aries links",
    Cause.LNET: "queues at LNET routers",
    Cause.IB: "queues at InfiniBand links",
    Cause.OSS: "queues at OSSs",
    Cause.OST: "queues at OSTs",
    Cause.SERVICE: "queues at the OSSs' request threads",
    Cause.MDS: "queues at the MDS",
    Cause.CORE: "a core that others were using: ranks, Lustre's threads",
    Cause.MEMORY: "the memory of the node, which all its cores share",
    Cause.SSD: "the SSD of the node",
    Cause.DVS: "the node's DVS client, and its limit of blocks under way",
    Cause.STORE: "queues at the disks behind service nodes",
    Cause.OSC: "the node's limit of RPCs in flight to an OST",
    Cause.TRANSFER: "bytes on their way, with nobody before them",
    Cause.METADATA: "opens, closes and other requests to the MDS",
    Cause.SYNC: "fsync: the replies of the MDS and the OSTs",
    Cause.FLUSH: "fsync: the write-back of the node's dirty pages",
    Cause.MUTEX: "fsync: the other ranks of the node, one after another",
    Cause.LOCK: "extent locks",
    Cause.COPY: "copying into and out of the page cache",
    Cause.CACHE: "room for dirty pages",
    Cause.RANGE: "another rank of the node that writes the same bytes",
    Cause.TREE: "the file's tree of cached pages, which the ranks of a node share",
    Cause.THINK: "delays between calls",
    Cause.THREADS: "other I/O threads of the rank",
    Cause.MEETING: "MPI collectives: the last rank to come, and their messages",
    Cause.EXCHANGE: "data on their way between ranks and aggregators",
    Cause.LIBRARY: "its own work in the MPI library: messages, lists of pieces, copies",
}
"""What ranks wait for, behind the words "waited for"."""


@dataclass(frozen=True)
class Wait:
    """What the ranks waited for.

    Attributes
    ----------
    cause
        In lower case: ``ost``, ``lock``; for the time when the rank itself had ended its phase,
        ``other_ranks`` until the phase was over, or ``next_phase`` until the next one began.
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
    return _longest_first(result.waiting(), result.simulated, NEXT_PHASE)


def phase_waits(stretches: Sequence[Stretch], seconds: float) -> list[Wait]:
    """Return the same for stretches that took so many seconds in all."""
    totals = np.sum([stretch.waits for stretch in stretches], axis=0).tolist()
    by_cause = dict(zip(Cause, totals, strict=True))
    return _longest_first(by_cause, seconds, _OTHERS)


def _longest_first(
    by_cause: Mapping[Cause, float], total: float, rest: tuple[str, str]
) -> list[Wait]:
    """Arrange seconds by cause; what is left of the total has a name and words of its own."""
    seconds = {(cause.name.lower(), WORDS[cause]): value for cause, value in by_cause.items()}
    seconds[rest] = max(total - sum(seconds.values()), 0.0)
    found = [
        Wait(cause, words, value, value / total)
        for (cause, words), value in seconds.items()
        if value > 0.0
    ]
    return sorted(found, key=lambda wait: -wait.seconds)
