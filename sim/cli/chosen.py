"""The scenario that a command is given: its changes, its seed, its environment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from sim.cli.environment import variables_of
from sim.cli.job import read_faults

if TYPE_CHECKING:
    from sim.config.jobs import Job, JobKind, JobsScenario
    from sim.config.scenario import Scenario

    _Any = TypeVar("_Any", Job, JobKind)


def changed(
    scenario: Scenario | JobsScenario,
    *,
    seed: int | None,
    assignments: Sequence[str],
    hints: str | None,
    environment: Sequence[str],
    faults: tuple[str, ...] = (),
) -> Scenario | JobsScenario:
    """Return a scenario with what was typed beside it.

    Parameters
    ----------
    scenario
        As it was loaded.
    seed
        In place of its own.
    assignments
        Changes of the machine, ``NAME=VALUE``.
    hints, environment
        For all jobs, as :func:`~sim.cli.environment.variables_of` takes them.
    faults
        Of parts of the machine, beside its own.

    Raises
    ------
    InputError
        If one of them is not of its form.
    """
    from sim.config.changes import parse_changes
    from sim.config.jobs import JobsScenario

    updates: dict[str, Any] = {
        "changes": scenario.changes | parse_changes(assignments),
        "faults": scenario.faults + read_faults(faults),
    }
    if seed is not None:
        updates["seed"] = seed
    if isinstance(scenario, JobsScenario):
        return with_environment(scenario.model_copy(update=updates), hints, environment)
    updates["environment"] = variables_of(scenario.environment, hints, environment)
    return scenario.model_copy(update=updates)


def with_environment(
    scenario: JobsScenario, hints: str | None, assignments: Sequence[str]
) -> JobsScenario:
    """Return a scenario with variables set in the environments of all its jobs."""

    def with_variables(job: _Any) -> _Any:
        environment = variables_of(job.environment, hints, assignments)
        return job.model_copy(update={"environment": environment})

    updates: dict[str, Any] = {"jobs": tuple(map(with_variables, scenario.jobs))}
    if scenario.mix is not None:
        kinds = tuple(map(with_variables, scenario.mix.kinds))
        updates["mix"] = scenario.mix.model_copy(update={"kinds": kinds})
    return scenario.model_copy(update=updates)
