"""A trigger: something that strikes in a run, its evidence, and what one looks at to find it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from xc40io.config.units import format_seconds
from xc40io.engine.types import Floats
from xc40io.findings.data_calls import DataCalls
from xc40io.plane.causes import Cause
from xc40io.run.result import Result

ROWS = 5
"""Rows of evidence: the worst."""

NEARLY_ALL = 0.9
"""Share of bytes that is meant by nearly all: our own."""


_UNITS = (("GB", 1e9), ("MB", 1e6), ("kB", 1e3), ("bytes", 1.0))


class Remedy(StrEnum):
    """A kind of change."""

    STRIPING = "striping"  # over more OSTs
    STRIPE_SIZE = "stripe size"
    AGGREGATION = "aggregation"  # more aggregators, or others
    COLLECTIVE = "collective"  # calls of MPI-IO
    OWN_FILES = "own files"  # of each rank
    FEWER_FILES = "fewer files"
    LARGER_CALLS = "larger calls"
    MORE_RANKS = "more ranks do I/O"
    EVEN_SHARES = "even shares"  # of work among ranks
    HARDWARE = "hardware"


@dataclass(frozen=True)
class Trigger:
    """Something that strikes."""

    name: str  # of the pattern, in a few words
    sentence: str  # what was seen
    heads: tuple[str, ...]  # of the evidence
    rows: tuple[tuple[str, ...], ...]  # the worst first
    remedies: tuple[Remedy, ...]  # kinds that are meant for it
    words: tuple[int, ...] = (0,)  # columns of the evidence that are words


class Look:
    """What is looked at."""

    def __init__(self, result: Result) -> None:
        self.result = result
        self.ranks, self.nodes = len(result.doing), result.scenario.nodes
        self.seconds = max(result.simulated, 1e-9)

    @cached_property
    def calls(self) -> DataCalls | None:
        """Reads and writes; None if nothing was recorded of any."""
        recording = self.result.recording
        calls = None if recording is None else DataCalls(self.result, recording)
        return calls if calls else None

    def doing(self, cause: Cause) -> Floats:
        """Return the seconds that each rank was at something."""
        seconds: Floats = self.result.doing[:, cause]
        return seconds

    def node(self, rank: int) -> str:
        """Return the machine's number of the node of a rank."""
        return f"{int(self.result.allocation.nodes[rank // self.result.scenario.ppn]):,}"


def amount(number: float) -> str:
    """Return bytes as people read them."""
    unit, size = next((unit for unit in _UNITS if number >= unit[1]), _UNITS[-1])
    return f"{number / size:,.4g} {unit}"


def percent(share: float) -> str:
    """Return a share, 0 to 1, as people read it."""
    return f"{100 * share:.3g} %"


def seconds(value: float) -> str:
    """Return seconds as people read them."""
    return format_seconds(float(value), 4)
