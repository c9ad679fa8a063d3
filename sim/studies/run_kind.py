"""Kinds of runs that a model's error is told for: how the ranks share their files, and where."""

from __future__ import annotations

from sim.config.scenario import Scenario
from sim.workloads.catalogue import workload_of
from sim.workloads.ior.command import Ior

OWN, SHARED, COLLECTIVE = "own files", "shared file", "collective"
"""A file for each rank; one file, each rank by itself; one file, through MPI-IO's aggregators."""

_ELSEWHERE = {"ssd": "local SSDs", "bb": "burst buffer", "home": "home directories"}
_APPLICATION = "application"
_MIXED = "several tests"


def layout_of(scenario: Scenario) -> str:
    """Return how the ranks of a job share their files, or what else tells of its kind.

    Returns
    -------
    str
        ``own files``, ``shared file`` or ``collective`` of files on Lustre, else where they are:
        ``local SSDs``. Of kernels that do not say whether their calls are collective, and of
        replayed logs, ``application``.

    Raises
    ------
    InputError
        If the workload is none.
    """
    if scenario.target.kind in _ELSEWHERE:
        return _ELSEWHERE[scenario.target.kind]
    workload = workload_of(scenario.workload)
    if not isinstance(workload, Ior):
        collective = getattr(workload, "collective", None)
        if collective is None:
            return _APPLICATION
        return COLLECTIVE if collective else SHARED
    found = {
        OWN if test.file_per_process else COLLECTIVE if test.collective else SHARED
        for test in workload.command.tests
    }
    return found.pop() if len(found) == 1 else _MIXED


def run_kind(scenario: Scenario, phase: str) -> str:
    """Return the kind of one phase of a run, as ``shared file, write``.

    Parameters
    ----------
    scenario
        Of the run.
    phase
        Its name: what has the word ``read`` in it reads, everything else writes.
    """
    access = "read" if "read" in phase.lower() else "write"
    return f"{layout_of(scenario)}, {access}"
