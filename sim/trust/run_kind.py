"""Kinds of runs that a model's error is told for: how the ranks share their files, and where."""

from __future__ import annotations

from xc40io.config.scenario import Scenario
from xc40io.workloads.catalogue import workload_of
from xc40io.workloads.io500.command import Io500
from xc40io.workloads.ior.command import Ior
from xc40io.workloads.mdtest.command import Mdtest

OWN, SHARED, COLLECTIVE = "own files", "shared file", "collective"
"""A file for each rank; one file, each rank by itself; one file, through MPI-IO's aggregators."""

METADATA = "metadata"
"""The kind of phases that make, look at and remove files; rates of operations, not of bytes."""

_IO500 = {"ior-easy": OWN, "ior-hard": SHARED}  # by how the names of phases begin; others move none
_ELSEWHERE = {"ssd": "local SSDs", "bb": "burst buffer", "home": "home directories"}
_APPLICATION = "application"
_MIXED = "several tests"


def layout_of(scenario: Scenario) -> str:
    """Return how the ranks of a job share their files, or another property that names its kind.

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
    """Return the kind of one phase of a run, as ``shared file, write``, or :data:`METADATA`.

    Parameters
    ----------
    scenario
        Of the run.
    phase
        Its name: what has the word ``read`` in it reads, everything else writes.
    """
    workload, layout = workload_of(scenario.workload), layout_of(scenario)
    if isinstance(workload, Io500):
        found = [of_phase for name, of_phase in _IO500.items() if phase.startswith(name)]
        if found and scenario.target.kind not in _ELSEWHERE:
            layout = found[0]
        elif not found:
            layout = METADATA
    if isinstance(workload, Mdtest) or layout == METADATA:
        return METADATA
    return f"{layout}, {access_of(phase)}"


def access_of(phase: str) -> str:
    """Return ``read`` of a phase with this word in its name, else ``write``."""
    return "read" if "read" in phase.lower() else "write"


def narrow_kind(scenario: Scenario, phase: str) -> str:
    """Return the kind of one phase of a run, as ``own files, write, direct, one node``.

    Parameters
    ----------
    scenario, phase
        As of :func:`run_kind`, of which it says whether all calls are direct, and whether one core,
        one node or several move the data: what binds one core is not what binds a thousand.
    """
    workload = workload_of(scenario.workload)
    words = [run_kind(scenario, phase)]
    if isinstance(workload, Ior) and all(test.direct_io for test in workload.command.tests):
        words.append("direct")
    alone = "one core" if scenario.ppn == 1 else "one node"
    words.append(alone if scenario.nodes == 1 else "several nodes")
    return ", ".join(words)


KINDS = (
    *(
        f"{layout}, {access}"
        for layout in (OWN, SHARED, COLLECTIVE, *_ELSEWHERE.values(), _APPLICATION, _MIXED)
        for access in ("write", "read")
    ),
    METADATA,
)
"""All kinds that :func:`run_kind` knows."""
