"""A trigger: something that strikes in a run, its evidence, and what one looks at to find it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from xc40io.engine.types import Floats
from xc40io.findings.data_calls import DataCalls
from xc40io.plane.causes import Cause
from xc40io.run.result import Result
from xc40io.telling.answer import Column, Columns, Table, To, Unit
from xc40io.telling.data import frame, records_of
from xc40io.telling.units import AMOUNT, ANY, PART, TIME, WORDS

if TYPE_CHECKING:  # what counts a replay's calls is long to import, and few runs are replays
    import pandas as pd

    from xc40io.findings.counted_calls import CountedCalls

ROWS = 5
"""Rows of evidence: the worst."""

NEARLY_ALL = 0.9
"""Share of bytes that is meant by nearly all: our own."""

amount, percent, seconds = AMOUNT.write, PART.write, TIME.write
"""How the sentences write bytes, shares from 0 to 1, and seconds."""

RANK = Unit("", int, lambda rank: f"rank {rank}", left=True)


class Remedy(StrEnum):
    """A kind of change."""

    STRIPING = "striping"  # over more OSTs
    STRIPE_SIZE = "stripe size"
    SIDE_BY_SIDE = "calls of the ranks side by side in the file"
    AGGREGATION = "aggregation"  # more aggregators, or others
    COLLECTIVE = "collective"  # calls of MPI-IO
    OWN_FILES = "own files"  # of each rank
    FEWER_FILES = "fewer files"
    LARGER_CALLS = "larger calls"
    READ_ONCE = "one rank reads for all"
    MORE_RANKS = "more ranks do I/O"
    EVEN_SHARES = "even shares"  # of work among ranks
    HARDWARE = "hardware"


@dataclass(frozen=True)
class Trigger:
    """Something that strikes."""

    name: str  # of the pattern, in a few words
    sentence: str  # what was seen
    columns: Columns  # of the evidence; its rows are tuples
    rows: tuple[tuple[Any, ...], ...]  # the worst first
    remedies: tuple[Remedy, ...]  # kinds that are meant for it

    @property
    def title(self) -> str:
        """The name as a heading."""
        return self.name[0].upper() + self.name[1:]

    @property
    def line(self) -> str:
        """What was seen, as a line of text."""
        return f"Finding: {self.name}. {self.sentence}"

    @property
    def table(self) -> Table:
        """The evidence, with what usually helps below."""
        note = f"What usually helps: {', '.join(self.remedies)}." if self.remedies else ""
        return Table(self.columns, lambda: self.rows, title=self.title, note=note)

    def to_pandas(self) -> pd.DataFrame:
        """Return the evidence as a table of pandas: the worst files, ranks or OSTs first."""
        return frame(self.table)


def evidence(**of: Unit | tuple[str, Unit]) -> Columns:
    """Return the columns of the evidence by their names: of each the head, if another, and unit."""
    told = [each if isinstance(each, tuple) else (None, each) for each in of.values()]
    return tuple(
        Column(name, unit, itemgetter(place), head=head or name.replace("_", " "))
        for place, (name, (head, unit)) in enumerate(zip(of, told, strict=True))
    )


FINDING = (
    Column("name", WORDS, help="Of the pattern."),
    Column("sentence", WORDS, help="What was seen."),
    Column("remedies", ANY, lambda one: list(one.remedies), help="What usually helps."),
    Column(
        "evidence",
        ANY,
        lambda one: records_of(one.table),
        to=To.JSON,
        help="The worst files, ranks or OSTs: bytes, seconds, shares from 0 to 1.",
    ),
)


class RunFacts:
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

    @cached_property
    def counted(self) -> CountedCalls | None:
        """What a replay counts of its calls; None where calls were recorded, and of other runs."""
        if self.result.recording is not None or self.result.workload.name != "replay":
            return None
        from xc40io.findings.counted_calls import CountedCalls

        return CountedCalls(self.result.outcome)

    def doing(self, cause: Cause) -> Floats:
        """Return the seconds that each rank was at something."""
        seconds: Floats = self.result.doing[:, cause]
        return seconds

    def node(self, rank: int) -> int:
        """Return the machine's number of the node of a rank."""
        return int(self.result.allocation.nodes[rank // self.result.scenario.ppn])
