"""How fast the OSTs, and the OSSs that serve them, were by a log.

What a file wrote, or if it wrote nothing read, lay on its OSTs in even parts, and took from the
first call's begin to the last one's end, syncs of a writer included.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

import numpy as np

from sim.workloads.darshan_log.counters import SHARED, ByFile, Counters, Direction
from sim.workloads.darshan_log.log import DarshanLog

Kind = Literal["OST", "OSS"]


class Part(NamedTuple):
    """An OST or an OSS of the file system, by its number."""

    kind: Kind
    number: int

    def __str__(self) -> str:
        """Return its name, as reports and scenarios have it: ``OST 17``."""
        return f"{self.kind} {self.number}"

    @property
    def key(self) -> str:
        """What tells how fast it was: ``ost.17.rate``."""
        return f"{self.kind.lower()}.{self.number}.rate"


class Use(NamedTuple):
    """What a job moved through an OST, or an OSS.

    Attributes
    ----------
    part
        Which of them.
    files, bytes
        Files that had a share on it, and the bytes of these shares.
    seconds
        From the first call on them to the end of the last one.
    of_a_file
        The median of the bytes/s of one file's share.
    """

    part: Part
    files: int
    bytes: float
    seconds: float
    of_a_file: float

    @property
    def rate(self) -> float:
        """Bytes/s of all files together."""
        return self.bytes / max(self.seconds, 1e-9)


class _Moved(NamedTuple):
    """What a file moved on each of its OSTs, and when; seconds."""

    osts: tuple[int, ...]
    bytes: float
    begin: float
    end: float


def ost_uses(log: DarshanLog) -> list[Use]:
    """Return what a job moved through each OST of which the log knows, by index."""
    return _uses(log, "OST", 1)


def oss_uses(log: DarshanLog, osts_per_oss: int) -> list[Use]:
    """Return the same of each OSS: its OSTs, of which it has so many, taken together."""
    return _uses(log, "OSS", osts_per_oss)


def _uses(log: DarshanLog, kind: Kind, osts_of_each: int) -> list[Use]:
    """Return what moved through parts that have some OSTs each, one after the other."""
    shares: dict[int, list[_Moved]] = {}
    for moved in _files(log):
        parts, on_part = np.unique(np.array(moved.osts) // osts_of_each, return_counts=True)
        for part, count in zip(parts.tolist(), on_part.tolist(), strict=True):
            shares.setdefault(part, []).append(moved._replace(bytes=moved.bytes * count))
    return [_use(Part(kind, number), of) for number, of in sorted(shares.items())]


def _use(part: Part, shares: Iterable[_Moved]) -> Use:
    """Add up the shares of files on a part."""
    moved, begin, end = np.array([share[1:] for share in shares]).T
    seconds = float(end.max() - begin.min())
    of_a_file = float(np.median(moved / (end - begin)))
    return Use(part, len(moved), float(moved.sum()), seconds, of_a_file)


def _files(log: DarshanLog) -> Iterator[_Moved]:
    """Yield what each file moved of which the log knows where it lay."""
    posix = ByFile(log.posix)
    for number, osts in zip(log.layouts.number.tolist(), log.layouts.osts, strict=True):
        records = posix.of(number)
        way: Direction = "WRITE" if records.total("BYTES_WRITTEN") else "READ"
        moved = records.total("BYTES_WRITTEN" if way == "WRITE" else "BYTES_READ")
        window = records.window(way)
        if not moved or window is None:
            continue
        end = max(window[1], _synced(records, log.ranks) if way == "WRITE" else 0.0)
        known = tuple(ost for ost in osts.tolist() if ost >= 0)
        if known and end > window[0]:
            yield _Moved(known, moved / len(osts), window[0], end)


def _synced(records: Counters, ranks: int) -> float:
    """Return when the writer who took longest can have been done with syncs, at the earliest.

    Darshan counts the time of a sync as one of writing, but keeps no timestamp of it: what is
    cached takes its time after the last write. Of a record of all ranks the mean of them counts.
    """
    took = records["F_WRITE_TIME"] / np.where(records.rank == SHARED, ranks, 1)
    there = records["F_WRITE_END_TIMESTAMP"] > 0.0
    ended = records["F_WRITE_START_TIMESTAMP"] + took
    closed = records["F_CLOSE_END_TIMESTAMP"]
    ended = np.where(closed > 0.0, np.minimum(ended, closed), ended)
    return float(ended[there].max(initial=0.0))
