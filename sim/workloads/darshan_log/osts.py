"""How fast the OSTs were by a log, and which of them was slow.

What a file wrote, or if it wrote nothing read, lay on its OSTs in even parts, and took from the
first call's begin to the last one's end.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sim.config.units import format_rate
from sim.workloads.darshan_log.counters import Direction
from sim.workloads.darshan_log.log import DarshanLog
from topology.text import format_count

_FEWEST = 4
"""OSTs without which none can be told to be slower than the others."""

_SLOW = 0.5
"""Of the median rate: what is slower is told of."""


class OstUse(NamedTuple):
    """What a job moved through an OST.

    Attributes
    ----------
    ost
        Its index.
    files, bytes
        Files that had a part on it, and the bytes of these parts.
    seconds
        From the first call on them to the end of the last one.
    of_a_file
        The median of the bytes/s of one file's part.
    """

    ost: int
    files: int
    bytes: float
    seconds: float
    of_a_file: float

    @property
    def rate(self) -> float:
        """Bytes/s of all files together."""
        return self.bytes / max(self.seconds, 1e-9)


class _Part(NamedTuple):
    bytes: float
    begin: float
    end: float


def ost_uses(log: DarshanLog) -> list[OstUse]:
    """Return what a job moved through each OST of which the log knows, by index."""
    parts: dict[int, list[_Part]] = {}
    for number, osts in zip(log.layouts.number, log.layouts.osts, strict=True):
        records = log.posix.take(log.posix.number == number)
        way: Direction = "WRITE" if records.total("BYTES_WRITTEN") else "READ"
        moved = records.total("BYTES_WRITTEN" if way == "WRITE" else "BYTES_READ")
        window = records.window(way)
        if not moved or window is None or window[1] <= window[0]:
            continue
        for ost in osts.tolist():
            parts.setdefault(ost, []).append(_Part(moved / len(osts), *window))
    return [_use(ost, of) for ost, of in sorted(parts.items()) if ost >= 0]


def _use(ost: int, parts: Sequence[_Part]) -> OstUse:
    """Add up the parts of files on an OST."""
    rates = [part.bytes / (part.end - part.begin) for part in parts]
    return OstUse(
        ost,
        len(parts),
        sum(part.bytes for part in parts),
        max(part.end for part in parts) - min(part.begin for part in parts),
        float(np.median(rates)),
    )


def slow_osts(uses: Sequence[OstUse]) -> tuple[list[OstUse], float]:
    """Return the OSTs that were slow, the slowest first, and the median bytes/s of all.

    A slow one took longer for the part of a file than others did, and not because it had more of
    them: all it did together was slower, too. What moved less than half of what others did tells
    nothing.
    """
    enough = float(np.median([use.bytes for use in uses])) / 2 if uses else 0.0
    told = [use for use in uses if use.bytes >= enough]
    if len(told) < _FEWEST:
        return [], 0.0
    usual = float(np.median([use.rate for use in told]))
    of_a_file = float(np.median([use.of_a_file for use in told]))
    slow = [use for use in told if use.rate < _SLOW * usual and use.of_a_file < _SLOW * of_a_file]
    return sorted(slow, key=lambda use: use.rate), usual


def slow_sentences(log: DarshanLog) -> list[str]:
    """Say which OSTs were slow by a log, and how to replay them so."""
    slow, usual = slow_osts(ost_uses(log))
    return [
        f"OST {use.ost} was slow by the log: {use.bytes / 1e9:,.4g} GB of "
        f"{format_count(use.files, 'file')} took it {use.seconds:,.4g} s, at "
        f"{format_rate(use.rate, 3)} where the median of the OSTs is {format_rate(usual, 3)}; "
        f"--recorded ost.{use.ost}.rate=fitted replays it so"
        for use in slow
    ]
