"""Which OSTs and OSSs were slow by a log: at equal bytes they took longer than others."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import NamedTuple

import numpy as np

from sim.config.lustre import Lustre
from sim.config.units import format_rate
from sim.workloads.darshan_log.log import DarshanLog
from sim.workloads.darshan_log.osts import Part, Use, oss_uses, ost_uses
from topology.text import format_count

_FEWEST = 4
"""OSTs without which none can be told to be slower than the others."""

_SLOW = 0.5
"""Of the median rate: what is slower is told of."""


class SlowOss(NamedTuple):
    """An OSS that was slow.

    Attributes
    ----------
    use
        What moved through it.
    osts
        Of its OSTs those of which the log tells how fast they were; all of them were slow.
    has
        How many OSTs it has.
    """

    use: Use
    osts: tuple[Use, ...]
    has: int


class SlowParts(NamedTuple):
    """What was slow.

    Attributes
    ----------
    servers
        OSSs whose OSTs were slow together, by number.
    osts
        The other slow OSTs, the slowest first.
    usual
        The median bytes/s of all OSTs; 0 if there are too few to tell.
    """

    servers: tuple[SlowOss, ...]
    osts: tuple[Use, ...]
    usual: float


def slow_parts(log: DarshanLog, lustre: Lustre | None = None) -> SlowParts:
    """Return which OSTs and OSSs were slow.

    A slow OST took longer for the share of a file than others did, and not because it had more of
    them: all it did together was slower, too. What moved less than half of what others did tells
    nothing. An OSS is to blame if there are several OSTs of it to judge by, all of them were slow,
    and they were about equally so; where an OSS has one OST, that OST is.

    Parameters
    ----------
    log
        As read.
    lustre
        The file system, which says whose the OSTs are; None if it is not known.
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
        f"{server.use.part} was slow by the log, with {_osts_of(server)}: {_moved(server.use)}, "
        f"at {_rates(server.osts)} through each {_beside(server.use.part, found.usual, told)}"
        for server in found.servers
    ]


def ost_sentences(found: SlowParts, told: Container[Part] = ()) -> list[str]:
    """Say the same of the other OSTs."""
    return [
        f"{use.part} was slow by the log: {_moved(use)}, at {format_rate(use.rate, 3)} "
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
    beside = f"where the median of the OSTs is {format_rate(usual, 3)}"
    return beside if part in told else f"{beside}; --recorded {part.key}=fitted replays it so"
