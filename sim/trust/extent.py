"""How large a run is: what is compared with the runs that were ever measured."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from xc40io.config.machine import Machine, load_machine
from xc40io.config.scenario import Scenario
from xc40io.trust.run_kind import access_of
from xc40io.workloads.catalogue import workload_of
from xc40io.workloads.ior.command import Ior


class Extent(NamedTuple):
    """How large a run is, and where it runs.

    Attributes
    ----------
    nodes, ranks
        How many.
    bytes_a_rank
        That each of them writes or reads in a phase, about.
    call
        Bytes of a call; None where the workload does not say.
    machine
        The name of the machine in its file.
    changes
        Values that are other than in the file: ``lustre.readahead=41943040``.
    """

    nodes: int
    ranks: int
    bytes_a_rank: int
    call: int | None
    machine: str
    changes: tuple[str, ...]


def extent_of(scenario: Scenario, phase: str) -> Extent:
    """Return how large a phase of a run is.

    Raises
    ------
    InputError
        If the machine, or the workload, is none.
    """
    nodes, ranks = scenario.nodes, scenario.nodes * scenario.ppn
    moved, call = _moved(scenario, phase, ranks)
    changes = tuple(sorted(f"{path}={value}" for path, value in scenario.changes.items()))
    return Extent(nodes, ranks, moved, call, machine_name(scenario.machine), changes)


def machine_name(machine: str | Machine) -> str:
    """Return the name that a machine has in its file; shipped files are called like it."""
    if isinstance(machine, Machine):
        return machine.name
    return machine if Path(machine).suffix == "" else load_machine(machine).name


def _moved(scenario: Scenario, phase: str, ranks: int) -> tuple[int, int | None]:
    """Return the bytes of a rank in a phase, and those of a call where they are known."""
    workload = workload_of(scenario.workload)
    if not isinstance(workload, Ior):
        return workload.bytes_to_move(ranks) // ranks, None
    tests = [test for test in workload.command.tests if getattr(test, access_of(phase))]
    tests = tests or list(workload.command.tests)
    return (
        max(test.block_size * test.segments for test in tests),
        max(test.transfer_size for test in tests),
    )
