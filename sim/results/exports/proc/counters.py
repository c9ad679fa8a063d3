"""Counters as Lustre prints them: in ``stats`` and ``md_stats``, and by job in ``job_stats``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from sim.engine.types import Integers

_WORD = 15  # letters that the name of a counter of a job may have


class Counter(NamedTuple):
    """How often something was done; of bytes also how many."""

    samples: int  # how often
    unit: str = "reqs"  # ``bytes`` or ``reqs``
    smallest: int = 0  # in bytes; zero where requests are counted
    largest: int = 0  # likewise
    total: int = 0  # likewise; of all


Counters = Mapping[str, Counter]
"""Counters by their names, in the order in which they are printed."""


def count_bytes(sizes: Integers) -> Counter:
    """Return the counter of transfers of so many bytes each."""
    if not len(sizes):
        return Counter(0, "bytes")
    return Counter(len(sizes), "bytes", int(sizes.min()), int(sizes.max()), int(sizes.sum()))


def count_names(names: Iterable[str], counts: Mapping[str, int]) -> dict[str, Counter]:
    """Return a counter of requests for each name; zero where nothing was counted."""
    return {name: Counter(counts.get(name, 0)) for name in names}


def stamp(seconds: float) -> str:
    """Return a time in seconds as Lustre writes it: seconds, a dot, microseconds."""
    return f"{seconds:.6f}"


def stats_text(counters: Counters, now: float) -> str:
    """Print counters as ``stats`` has them: those alone that have counted anything."""
    lines = [f"{'snapshot_time':<25} {stamp(now)} secs.usecs"]
    for name, counter in counters.items():
        if counter.samples:
            line = f"{name:<25} {counter.samples} samples [{counter.unit}]"
            if counter.unit == "bytes":
                line += f" {counter.smallest} {counter.largest} {counter.total}"
            lines.append(line)
    return "".join(f"{line}\n" for line in lines)


def job_stats_text(jobs: Sequence[tuple[str, Counters]], now: float) -> str:
    """Print counters by job as ``job_stats`` has them: a list in YAML.

    ``jobs``: the identifier of each job, and what it counted. ``now``: seconds.
    """
    lines = ["job_stats:"]
    for job, counters in jobs:
        lines.append(f"- {'job_id:':<16} {job}")
        lines.append(f"  {'snapshot_time:':<16} {int(now)}")
        lines.extend(f"  {_job_counter(name, counter)}" for name, counter in counters.items())
    return "".join(f"{line}\n" for line in lines)


def _job_counter(name: str, counter: Counter) -> str:
    room = " " * (_WORD - min(len(name), _WORD))
    text = f"{name}:{room} {{ samples: {counter.samples:>11}, unit: {counter.unit:>5}"
    if counter.unit == "bytes":
        text += f", min:{counter.smallest:>8}, max:{counter.largest:>8}, sum:{counter.total:>16}"
    return f"{text} }}"
