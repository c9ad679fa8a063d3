"""What a result tells of the workload that was run: plain data, in place of the workload itself."""

from __future__ import annotations

from typing import Any, NamedTuple

from sim.config.kept import kept
from sim.workloads.workload import Workload


@kept
class WorkloadRecord(NamedTuple):
    """A workload that was run.

    Attributes
    ----------
    name
        What it is called in a scenario and on the command line.
    title
        What a list of jobs calls it.
    options, given
        All its options by name, with their units; and those that were set.
    """

    name: str
    title: str
    options: dict[str, Any]
    given: dict[str, Any]


def record_of(workload: Workload) -> WorkloadRecord:
    """Return what a result tells of a workload."""
    return WorkloadRecord(
        workload.name, workload.title, workload.options(), workload.options(given=True)
    )
