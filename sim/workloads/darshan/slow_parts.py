"""How fast the OSTs and OSSs were by a log, and which were slow: at equal bytes they took longer.

What a file wrote, or if it wrote nothing read, lay on its OSTs in even parts, and took from the
first call's begin to the last one's end, syncs of a writer included.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from typing import Literal, NamedTuple

import numpy as np

from xc40io.config.parts.lustre import Lustre
from xc40io.config.units import format_rate
from xc40io.topology.text import format_count
from xc40io.workloads.darshan.log import DarshanLog
from xc40io.workloads.darshan.module_counters import SHARED, Counters, Direction

Kind = Literal["OST", "OSS"]

_FEWEST = 4
"""OSTs without which none can be told to be slower than the others."""

_SLOW = 0.5
"""Of the median rate: what is slower is told of."""


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
    """What a job moved through an OST, or an OSS."""

    part: Part
    files: int  # that had a share on it
    bytes: float  # of these shares
    seconds: float  # from the first call on them to the end of the last one
    of_a_file: float  # the median of the bytes/s of one file's share

    @property
    def rate(self) -> float:
        """Bytes/s of all files together."""
        return self.bytes / max(self.seconds, 1e-9)


class _FileTransfers(NamedTuple):
    """What a file moved on each of its OSTs, and when; seconds."""

    osts: tuple[int, ...]
    bytes: float
    begin: float
    end: float


def ost_uses(log: DarshanLog) -> list[Use]:
    """Return the job's use of each OST that the log names, by index."""
    return _uses(log, "OST", 1)


def oss_uses(log: DarshanLog, osts_per_oss: int) -> list[Use]:
    """Return the job's use of each OSS: its ``osts_per_oss`` OSTs taken together."""
    return _uses(log, "OSS", osts_per_oss)


def _uses(log: DarshanLog, kind: Kind, osts_of_each: int) -> list[Use]:
    """Return what moved through parts that have some OSTs each, one after the other."""
    shares: dict[int, list[_FileTransfers]] = {}
    for moved in _files(log):
        parts, on_part = np.unique(np.array(moved.osts) // osts_of_each, return_counts=True)
        for part, count in zip(parts.tolist(), on_part.tolist(), strict=True):
            shares.setdefault(part, []).append(moved._replace(bytes=moved.bytes * count))
    uses = []
    for number, of in sorted(shares.items()):
        bytes_, begin, end = np.array([share[1:] for share in of]).T
        seconds = float(end.max() - begin.min())
        of_a_file = float(np.median(bytes_ / (end - begin)))
        uses.append(Use(Part(kind, number), len(of), float(bytes_.sum()), seconds, of_a_file))
    return uses


def _files(log: DarshanLog) -> Iterator[_FileTransfers]:
    """Yield the bytes that moved for each file whose OSTs the log names."""
    for number, (_, osts) in log.layouts.items():
        records = log.posix.of_file(number)
        way: Direction = "WRITE" if records.total("BYTES_WRITTEN") else "READ"
        moved = records.total("BYTES_WRITTEN" if way == "WRITE" else "BYTES_READ")
        window = records.window(way)
        if not moved or window is None:
            continue
        end = max(window[1], _synced(records, log.ranks) if way == "WRITE" else 0.0)
        known = tuple(ost for ost in osts.tolist() if ost >= 0)
        if known and end > window[0]:
            yield _FileTransfers(known, moved / len(osts), window[0], end)


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


class SlowOss(NamedTuple):
    """An OSS that was slow."""

    use: Use
    osts: tuple[Use, ...]  # its OSTs whose speed follows from the log: all slow
    has: int  # how many OSTs it has


class SlowParts(NamedTuple):
    """What was slow."""

    servers: tuple[SlowOss, ...]  # OSSs whose OSTs were slow together, by number
    osts: tuple[Use, ...]  # the other slow OSTs, the slowest first
    usual: float  # the median bytes/s of all OSTs; 0 if there are too few to tell


def slow_parts(log: DarshanLog, lustre: Lustre | None = None) -> SlowParts:
    """Return which OSTs and OSSs were slow.

    A slow OST took longer for the share of a file than others did, and not because it had more of
    them: all it did together was slower, too. What moved less than half of what others did tells
    nothing. An OSS is to blame if there are several OSTs of it to judge by, all of them were slow,
    and they were about equally so; where an OSS has one OST, that OST is. ``lustre`` says whose the
    OSTs are, if the file system is known.
    """
    uses = ost_uses(log)
    enough = float(np.median([use.bytes for use in uses])) / 2 if uses else 0.0
    judged = [use for use in uses if use.bytes >= enough]
    if len(judged) < _FEWEST:
        return SlowParts((), (), 0.0)
    usual = float(np.median([use.rate for use in judged]))
    of_a_file = float(np.median([use.of_a_file for use in judged]))
    slow = [use for use in judged if use.rate < _SLOW * usual and use.of_a_file < _SLOW * of_a_file]
    servers = () if lustre is None else _slow_servers(log, lustre, judged, slow)
    explained = {use.part for server in servers for use in server.osts}
    others = sorted((use for use in slow if use.part not in explained), key=lambda use: use.rate)
    return SlowParts(servers, tuple(others), usual)


def _slow_servers(
    log: DarshanLog, lustre: Lustre, judged: Sequence[Use], slow: Sequence[Use]
) -> tuple[SlowOss, ...]:
    """Return the OSSs of which all OSTs that are judged are slow, and alike."""
    each = lustre.osts_per_oss
    found = []
    for server in oss_uses(log, each) if slow and each > 1 else ():
        osts = tuple(use for use in judged if use.part.number // each == server.part.number)
        rates = [use.rate for use in osts]
        if len(osts) > 1 and set(osts) <= set(slow) and min(rates) >= _SLOW * np.median(rates):
            found.append(SlowOss(server, osts, each))
    return tuple(found)


def slow_sentences(log: DarshanLog, lustre: Lustre | None, told: Container[Part] = ()) -> list[str]:
    """Say what was slow by a log: OSSs, then the other OSTs; see :func:`slow_parts`."""
    found = slow_parts(log, lustre)
    return [*server_sentences(found, told), *ost_sentences(found, told)]


def server_sentences(found: SlowParts, told: Container[Part] = ()) -> list[str]:
    """Say which OSSs were slow by a log, and how to replay them so, unless it is told already."""
    return [
        f"{server.use.part} was slow in the log, with {_osts_of(server)}: {_moved(server.use)}, "
        f"at {_rates(server.osts)} through each {_beside(server.use.part, found.usual, told)}"
        for server in found.servers
    ]


def ost_sentences(found: SlowParts, told: Container[Part] = ()) -> list[str]:
    """Say the same of the other OSTs."""
    return [
        f"{use.part} was slow in the log: {_moved(use)}, at {format_rate(use.rate, 3)} "
        f"{_beside(use.part, found.usual, told)}"
        for use in found.osts
    ]


def _osts_of(server: SlowOss) -> str:
    """Say by which of its OSTs an OSS was judged."""
    numbers = [use.part.number for use in server.osts]
    if len(numbers) == server.has:
        return f"all its OSTs ({numbers[0]} to {numbers[-1]})"
    known = ", ".join(map(str, numbers))
    return f"{len(numbers)} of its {server.has} OSTs, all that the log tells of ({known})"


def _moved(use: Use) -> str:
    """Say how much moved through a part, and how long that took."""
    files = format_count(use.files, "file")
    return f"{use.bytes / 1e9:,.4g} GB of {files} took it {use.seconds:,.4g} s"


def _rates(uses: Sequence[Use]) -> str:
    """Say how fast the slowest and the quickest of some OSTs were."""
    rates = [use.rate for use in uses]
    ends = [format_rate(rate, 3) for rate in (min(rates), max(rates))]
    return ends[0] if ends[0] == ends[1] else " to ".join(ends)


def _beside(part: Part, usual: float, told: Container[Part]) -> str:
    """Say how fast OSTs are usually, and how a part is replayed as slow as it was."""
    beside = f"while the median of the OSTs is {format_rate(usual, 3)}"
    slow = f"--recorded {part.key}=fitted replays it as slow as it was"
    return beside if part in told else f"{beside}; {slow}"
