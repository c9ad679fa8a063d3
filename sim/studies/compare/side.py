"""One of several runs that stand side by side, and the results of one kind of its phases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from xc40io.config.errors import InputError
from xc40io.config.jobs import JobsScenario
from xc40io.config.scenario import Scenario
from xc40io.findings.bottlenecks import Load
from xc40io.findings.waits import Wait
from xc40io.run.jobs import JobsResult
from xc40io.run.result import Result
from xc40io.studies.case import Case
from xc40io.studies.compare.what_if_values import WhatIf
from xc40io.studies.measurement import MeasuredRun, measured
from xc40io.studies.ratio import Ratio
from xc40io.trust.how_sure import Interval

AS_IT_IS = "as it is"
"""What the run is called that a what-if stands beside."""


@dataclass(frozen=True)
class Side:
    """A run, with any seed."""

    name: str  # in tables
    scenario: Scenario | JobsScenario
    values: Mapping[str, Any] = field(default_factory=dict)  # what a what-if changes, by path
    kept: Mapping[str, Result] | None = None  # its result with its own seed, where known

    def case(self, seed: int) -> Case:
        """Return the run with a seed."""
        return Case(self.scenario.model_copy(update={"seed": seed}))

    def known(self, seed: int) -> MeasuredRun | None:
        """Return the known result of the run with a seed; None if it has to be run."""
        if self.kept is None or seed != self.scenario.seed:
            return None
        return measured(self.kept)

    def with_what_if(self, what_if: WhatIf) -> Side:
        """Return the same run with a what-if, which gives it its name.

        Raises
        ------
        InputError
            If the scenario, or its machine, cannot be so.
        """
        if "seed" in what_if.values:
            raise InputError(
                f"--what-if {what_if.words}: all runs have the same seeds; right would be "
                "--seed, or --repeat for several"
            )
        scenario = what_if.of(self.scenario)
        Case(scenario).machine  # noqa: B018 - raises InputError if the machine cannot be so
        return Side(what_if.words, scenario, what_if.values)


def sides_of(first: Side, what_ifs: Sequence[str]) -> list[Side]:
    """Return a run as it is, and one for each what-if, as typed.

    Raises
    ------
    InputError
        If one of them cannot be.
    """
    return [first, *(first.with_what_if(WhatIf.parse(text)) for text in what_ifs)]


def side_of_content(name: str, content: Any) -> Side:
    """Return the run of a kept result; of a replayed log the what-if, if there was one.

    ``content`` is as :func:`~xc40io.results.saved.load` returns it.
    """
    if isinstance(content, JobsResult):
        results = {outcome.job.name: outcome.result for outcome in content.jobs}
        return Side(name, content.scenario, kept=results)
    result: Result = content if isinstance(content, Result) else content.runs[-1]
    return Side(name, result.scenario, kept={"": result})


def told_apart(sides: Sequence[Side]) -> list[Side]:
    """Return the same with names that differ: a second of a name gets a number."""
    seen: dict[str, int] = {}
    found = []
    for side in sides:
        seen[side.name] = seen.get(side.name, 0) + 1
        several = seen[side.name] > 1
        found.append(replace(side, name=f"{side.name} ({seen[side.name]})") if several else side)
    return found


@dataclass(frozen=True)
class PhaseOfSide:
    """One kind of phase of one side."""

    side: int  # place of the side, from 0
    seconds: tuple[float, ...]  # that it took, all its repetitions together, by seed
    bytes: int  # read or written by all ranks, with the first seed; 0 where they moved nothing
    ratio: Ratio | None  # times as fast as on the first side, by bytes or items a second
    load: Load | None  # what bound it with the first seed; None for one kind of a replay's calls
    waits: tuple[Wait, ...]  # of a rank on average, longest first; the mean of all seeds
    osts: int = 0  # OSTs that hold any file of the job, with the first seed
    items: float = 0.0  # files or directories that it was about, with the first seed
    name: str = ""  # of the side
    real: Interval | None = None  # nine of ten real rates, or seconds
    chance: float | None = None  # that it really is faster than on the first side
    said: str = ""  # sentences: what bound it, and why it differs from the first side

    @property
    def mean(self) -> float:
        """Seconds on average over the seeds."""
        return sum(self.seconds) / len(self.seconds)

    @property
    def rate(self) -> float | None:
        """Bytes/s over this time; None where there are no bytes."""
        return self.bytes / self.mean if self.bytes else None
