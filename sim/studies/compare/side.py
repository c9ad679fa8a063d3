"""One of several runs that stand side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sim.config.errors import InputError
from sim.config.jobs import JobsScenario
from sim.config.scenario import Scenario
from sim.config.what_if import WhatIf
from sim.run.jobs import JobsResult
from sim.run.result import Result
from sim.studies.case import Case
from sim.studies.measurement import Measured, measured

AS_IT_IS = "as it is"
"""What the run is called that a what-if stands beside."""


@dataclass(frozen=True)
class Side:
    """A run, with any seed.

    Attributes
    ----------
    name
        What it is called in tables.
    scenario
        What is run.
    values
        What a what-if changes in it, by path; empty for others.
    kept
        What came of it with its own seed, where that is known already.
    """

    name: str
    scenario: Scenario | JobsScenario
    values: Mapping[str, Any] = field(default_factory=dict)
    kept: Mapping[str, Result] | None = None

    def case(self, seed: int) -> Case:
        """Return the run with a seed."""
        return Case(self.scenario.model_copy(update={"seed": seed}))

    def known(self, seed: int) -> Measured | None:
        """Return what is known already of the run with a seed; None if it has to be made."""
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

    Parameters
    ----------
    name
        What it is to be called.
    content
        As :func:`~sim.results.saved.load` returns it.
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
