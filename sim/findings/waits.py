"""Where the time of the ranks went, and what is said of each cause of waiting.

One record a cause (``ABOUT``) is the only place where it is described: its part of the path,
words, a next step, the stations that may be behind it. A next step is where to look, not a promise;
``xc40io explain`` runs what can be run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple, TypeAlias

import numpy as np

from xc40io.config.machine import Machine
from xc40io.config.parts.interconnect import NetworkBase
from xc40io.engine.types import Floats
from xc40io.plane.causes import DOING, Cause
from xc40io.plane.stations import StationKind
from xc40io.run.result import Result
from xc40io.workloads.job_results import Stretch

# A busy station may be behind a wait if that is its own queue, or hides it.
_PATH = {StationKind.NIC, StationKind.LINK, StationKind.LNET, StationKind.IB}
_PATH |= {StationKind.OSS, StationKind.OST, StationKind.DVS, StationKind.STORE, StationKind.CORE}
_NODE = {StationKind.CORE, StationKind.MEMORY}
_LOCKS = {StationKind.SERVICE, StationKind.CALLBACK}
_MDS = {StationKind.MDS}
_SYNCS = _LOCKS | _MDS
_SSD = {StationKind.SSD}
_ANY = set(StationKind)  # of who waits for another rank, or for its own threads

NEXT_PHASE = "next_phase", "the next phase to begin: delays, and preparation between phases"
"""Name and words of the time between phases."""

OTHER_RANKS = "other_ranks", "the other ranks to finish the phase"
"""Name and words of the time of who has ended."""


Words: TypeAlias = Mapping[Cause, str]


class Part(Enum):
    """A part of the path, of which a picture tells more than of single causes; in its order."""

    DISKS = "Disks of OSTs, and OSSs"
    LOCKS = "Extent locks"
    NETWORK = "Network: NICs, links, LNET"
    NODE = "The node: copies, cores, page cache"
    METADATA = "Metadata: the MDS"
    MPI = "MPI: exchange, collectives"
    STORAGE = "SSDs, burst buffer"
    START = "Start: ranks leave a barrier"
    OTHER = "Anything else"


class About(NamedTuple):
    """What is said of a cause of waiting."""

    part: Part
    words: str = ""  # behind "waited for"; none of what is taken apart into other causes
    at: str = ""  # of who is at it, where that is not the same
    behind: Set[StationKind] = frozenset()  # kinds of stations that may hold up who waits for it


ABOUT: dict[Cause, About] = {
    Cause.NIC: About(Part.NETWORK, "NICs", behind=_PATH),
    Cause.LINK: About(Part.NETWORK, NetworkBase.links, behind=_PATH),
    Cause.LNET: About(Part.NETWORK, "LNET routers", behind=_PATH),
    Cause.IB: About(Part.NETWORK, "InfiniBand links of LNET routers", behind=_PATH),
    Cause.OSS: About(Part.DISKS, "OSSs", behind=_PATH),
    Cause.OST: About(Part.DISKS, "their turn at the disks of OSTs", behind=_PATH),
    Cause.SERVICE: About(Part.DISKS, "the replies of OSSs to small requests", behind=_LOCKS),
    Cause.MDS: About(Part.METADATA, "the MDS", behind=_MDS),
    Cause.CORE: About(
        Part.NODE, "a core that others were using: ranks, Lustre's threads", behind=_NODE
    ),
    Cause.MEMORY: About(
        Part.NODE, "the memory of the node, which all its cores share", behind=_NODE
    ),
    Cause.SSD: About(Part.STORAGE, "the SSD of the node", behind=_SSD),
    Cause.DVS: About(
        Part.STORAGE, "the node's DVS client, and its limit of blocks under way", behind=_PATH
    ),
    Cause.STORE: About(Part.STORAGE, "the service nodes and their disks", behind=_PATH),
    Cause.OSC: About(Part.NETWORK, "the limit of RPCs in flight to an OST", behind=_PATH),
    Cause.TRANSFER: About(
        Part.NETWORK,
        "messages on their way: latency",
        at="reads and direct writes: their RPCs",
        behind=_PATH | _SYNCS,
    ),
    Cause.MUTEX: About(
        Part.NODE, "fsync: the other ranks of the node, one after another", behind=_ANY
    ),
    Cause.COPY: About(Part.NODE, "copying into and out of the page cache", behind=_NODE),
    Cause.RANGE: About(
        Part.NODE, "another rank of the node that writes the same bytes", behind=_ANY
    ),
    Cause.TREE: About(
        Part.NODE, "the file's tree of cached pages, which the ranks of a node share"
    ),
    Cause.CALL: About(
        Part.NODE,
        "read and write calls themselves: the kernel and the client, whatever the size",
        behind=_NODE,
    ),
    Cause.THINK: About(Part.OTHER, "computing: delays between calls"),
    Cause.THREADS: About(Part.OTHER, "other I/O threads of the rank", behind=_ANY),
    Cause.EXCHANGE: About(Part.MPI, "data on their way between ranks and aggregators"),
    Cause.LIBRARY: About(Part.MPI, "work in the MPI library: messages, lists of pieces, copies"),
    Cause.DISK: About(Part.DISKS, "disks of OSTs that moved bytes", behind=_PATH),
    Cause.SEEK: About(Part.DISKS, "disks of OSTs that moved their heads", behind=_PATH),
    Cause.LATENCY: About(Part.DISKS, "the answer of OSTs whose disks were done", behind=_PATH),
    Cause.JOURNAL: About(Part.DISKS, "journal commits, for an fsync", behind=_SYNCS),
    Cause.OBJECTS: About(
        Part.METADATA, "objects that OSTs create ahead for new files", behind=_MDS
    ),
    Cause.TURN: About(
        Part.METADATA,
        "an earlier open or change of the node at the MDS (few at a time)",
        behind=_MDS,
    ),
    Cause.LOCK_QUEUE: About(
        Part.LOCKS, "extent locks: requests ahead in the queue", behind=_PATH | _LOCKS
    ),
    Cause.LOCK_USE: About(
        Part.LOCKS, "extent locks: the holder, which was still using its lock", behind=_LOCKS
    ),
    Cause.LOCK_FLUSH: About(
        Part.LOCKS, "extent locks: the holder's write-back", behind=_PATH | _LOCKS
    ),
    Cause.LOCK_COMMIT: About(
        Part.LOCKS, "extent locks: the commit of what the holder had written", behind=_LOCKS
    ),
    Cause.CALLBACK: About(
        Part.LOCKS, "the nodes' threads that handle blocking ASTs", behind=_LOCKS
    ),
    Cause.COLLECTIVE: About(Part.MPI, "the messages of MPI collectives"),
    Cause.WRITERS: About(
        Part.NODE, "fsync: other ranks of the node, which were still writing the file", behind=_ANY
    ),
    Cause.START: About(Part.START, "the start: ranks come out of a barrier one after the other"),
    Cause.METADATA: About(Part.METADATA, at="opens, closes and other requests to the MDS"),
    Cause.SYNC: About(Part.DISKS, at="fsync: the replies of the MDS and the OSTs"),
    Cause.FLUSH: About(Part.DISKS, at="fsync: the write-back of the node's dirty pages"),
    Cause.LOCK: About(Part.LOCKS, at="extent locks"),
    Cause.CACHE: About(Part.DISKS, at="writes: room for dirty pages"),
    Cause.MEETING: About(
        Part.MPI, at="MPI collectives: the last rank to arrive, and their messages"
    ),
}
"""In the order in which equally long waits are listed."""


WORDS = {cause: ABOUT[cause].words for cause in ABOUT if ABOUT[cause].words}
"""What ranks wait for, behind the words "waited for"."""

AT_WORDS = {
    cause: ABOUT[cause].at or ABOUT[cause].words
    for cause in sorted(DOING, key=lambda cause: not ABOUT[cause].words)
}
"""What ranks are at while they wait."""

CAUSE_OF_WORDS = {said: cause for words in (AT_WORDS, WORDS) for cause, said in words.items()}
"""The cause that words stand for, as those of a part of the critical path."""

BEHIND = {kind: [cause for cause in Cause if kind in ABOUT[cause].behind] for kind in StationKind}
"""The causes of waiting behind which a busy station of a kind may stand."""


def words_of(machine: Machine, words: Words = WORDS) -> Words:
    """Return the words of causes, with the name that the links of a machine have."""
    return {**words, Cause.LINK: machine.network.links}


@dataclass(frozen=True)
class Wait:
    """What the ranks waited for."""

    cause: str  # in lower case: ``disk``; ``next_phase`` for the time between phases, and of what
    # ranks were at, ``other_ranks`` for the time until the last had ended
    words: str  # the same for a person
    seconds: float  # of a rank, on average
    share: float  # of the whole time, 0 to 1


def waits(result: Result) -> list[Wait]:
    """Return a rank's waits in a run, longest first: mean seconds, and shares that add up to 1."""
    stretches = [stretch for activity in result.activities for stretch in activity.stretches]
    seconds = _total(stretch.waits for stretch in stretches) if stretches else result.waits.mean(0)
    return _longest_first(words_of(result.machine), seconds, result.simulated, NEXT_PHASE)


def doing(result: Result) -> list[Wait]:
    """Return a rank's seconds in the phases of a run by what it was doing, longest first."""
    stretches = [stretch for activity in result.activities for stretch in activity.stretches]
    seconds = sum(stretch.end - stretch.start for stretch in stretches)
    return phase_doing(stretches, seconds, words_of(result.machine, AT_WORDS))


def phase_waits(stretches: Sequence[Stretch], seconds: float, words: Words = WORDS) -> list[Wait]:
    """Return a rank's waits in stretches of ``seconds`` in all, longest first."""
    return _longest_first(words, _total(stretch.waits for stretch in stretches), seconds)


def phase_doing(
    stretches: Sequence[Stretch], seconds: float, words: Words = AT_WORDS
) -> list[Wait]:
    """Return a rank's seconds in stretches by what it was doing, longest first."""
    doing = _total(stretch.doing for stretch in stretches)
    return _longest_first(words, doing, seconds, OTHER_RANKS)


def part_of(cause: str) -> Part:
    """Return the part of the path of a cause, by its name in lower case; ``OTHER`` of no cause."""
    known = Cause.__members__.get(cause.upper())
    return Part.OTHER if known is None else ABOUT[known].part


def _total(parts: Iterable[Floats]) -> Floats:
    """Return the sum of seconds by cause."""
    total: Floats = np.sum(list(parts), axis=0)
    return total


def _longest_first(
    words: Words,
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
