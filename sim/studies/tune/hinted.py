"""A scenario with more hints for MPI-IO."""

from __future__ import annotations

from collections.abc import Mapping

from sim.config.job_form import HINTS
from sim.config.scenario import Scenario
from sim.mpi.hint_text import with_more_hints


def with_hints(scenario: Scenario, hints: Mapping[str, str]) -> Scenario:
    """Return a scenario with hints for MPI-IO, in place of others of the same names."""
    present = scenario.environment.get(HINTS, "")
    text = ":".join(f"{name}={value}" for name, value in hints.items())
    environment = {**scenario.environment, HINTS: with_more_hints(present, text)}
    return scenario.model_copy(update={"environment": environment})
