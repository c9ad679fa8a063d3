"""Where the time of the ranks went."""

from __future__ import annotations

from dataclasses import dataclass

from sim.lustre.tables import Cause
from sim.run.result import Result

_NEXT_PHASE = "the next phase to begin: other ranks still at work, delays"

_WORDS = {
    Cause.NIC: "queues at NICs",
    Cause.LINK: "queues at Aries links",
    Cause.LNET: "queues at LNET routers",
    Cause.IB: "queues at InfiniBand links",
    Cause.OSS: "queues at OSSs",
    Cause.OST: "queues at OSTs",
    Cause.SERVICE: "queues at the OSSs' request threads",
    Cause.MDS: "queues at the MDS",
    Cause.OSC: "the node's limit of RPCs in flight to an OST",
    Cause.TRANSFER: "bytes on their way, with nobody before them",
    Cause.METADATA: "opens, closes and other requests to the MDS",
    Cause.SYNC: "fsync",
    Cause.THINK: "delays between calls",
}


@dataclass(frozen=True)
class Wait:
    """What the ranks waited for.

    Attributes
    ----------
    cause
        In lower case: ``ost``, ``metadata``; ``next_phase`` is the time when the rank itself had
        ended its phase, until the next one began.
    words
        The same for a person.
    seconds
        Of a rank, on average.
    share
        Of the simulated time, 0 to 1.
    """

    cause: str
    words: str
    seconds: float
    share: float


def waits(result: Result) -> list[Wait]:
    """Return what the ranks waited for, longest first; the shares add up to 1."""
    seconds = {
        (cause.name.lower(), _WORDS.get(cause, cause.name.lower())): value
        for cause, value in result.waiting().items()
    }
    seconds["next_phase", _NEXT_PHASE] = max(result.simulated - sum(seconds.values()), 0.0)
    return sorted(
        (
            Wait(cause, words, value, value / result.simulated)
            for (cause, words), value in seconds.items()
            if value > 0.0
        ),
        key=lambda wait: -wait.seconds,
    )
