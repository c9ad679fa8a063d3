"""A machine that there could be, and what a mix of jobs comes to on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sim.config.machine import Machine
from sim.studies.plan.mix_runs import JobRuns
from sim.studies.ratio import Ratio


@dataclass(frozen=True)
class Configuration:
    """A machine that there could be, and what the mix came to on it.

    Attributes
    ----------
    values
        What is changed, as asked for, by path; empty for the machine as it is.
    machine
        With these changes and what follows from them; None if there can be none.
    runs
        What each job came to; empty if it could not run.
    rate
        Bytes/s of the mix; None if it could not run.
    ratio
        How many times as fast the mix is as on the machine as it is.
    cost
        Of what is changed; None where some of it has no cost, or nothing could run.
    reason
        Why it could not run.
    efficient
        Whether no other configuration is as fast for less, or faster for as much.
    """

    values: Mapping[str, Any]
    machine: Machine | None = None
    runs: tuple[JobRuns, ...] = ()
    rate: float | None = None
    ratio: Ratio | None = None
    cost: float | None = None
    reason: str = ""
    efficient: bool = False

    @property
    def words(self) -> str:
        """What is changed, as it is typed."""
        return ", ".join(f"{path}={value}" for path, value in self.values.items()) or "as it is"
