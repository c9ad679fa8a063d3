"""The scenario of a run in a page: as it was asked for, and complete, to be run again."""

from __future__ import annotations

from collections.abc import Callable

from sim.config.errors import InputError
from sim.config.jobs import JobsScenario
from sim.config.machine import Machine
from sim.config.scenario import Scenario, dump_scenario
from sim.run.complete import complete_jobs_yaml, complete_yaml
from sim.telling.answer import Block, Fold, Listing, Text

COMMAND = "xc40io run scenario.yaml"
"""How a scenario is run again that was saved from a page."""

_TITLE = "Complete scenario: scenario.yaml"


def scenario_parts(scenario: Scenario, machine: Machine) -> list[Block]:
    """Return a scenario of one job, with how it is run again."""
    asked = Listing("As it was asked for", dump_scenario(scenario))
    return [asked, *complete_parts(scenario, machine)]


def complete_parts(scenario: Scenario, machine: Machine) -> list[Block]:
    """Return the complete scenario of one job, and the command that runs it."""
    return _again(lambda: complete_yaml(scenario, machine), COMMAND)


def jobs_scenario_parts(scenario: JobsScenario, machine: Machine, *, alone: bool) -> list[Block]:
    """Return a scenario of several jobs, with how it is run again.

    ``alone`` is whether each job was run by itself, too.
    """
    command = COMMAND if alone else f"{COMMAND} --no-alone"
    return _again(lambda: complete_jobs_yaml(scenario, machine), command)


def _again(complete: Callable[[], str], command: str) -> list[Block]:
    """Return the complete scenario, and the command that runs it."""
    try:
        text = complete()
    except InputError as error:
        return [Text(f"There is no complete scenario, since a file of it is not there: {error}")]
    return [
        Text(
            "The complete scenario below leaves nothing to a default, to chance or to a machine "
            "file: the same version of xc40io gives the same figures, bit for bit. Save it as "
            "scenario.yaml, and type:"
        ),
        Listing("Command", command, typed=True),
        Fold(_TITLE, [Listing("scenario.yaml", text)]),
    ]
