"""How large a run is: what is compared with the runs that were ever measured."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from xc40io.config.machine import Machine, load_machine
from xc40io.config.parts.measured_run import MeasuredRun
from xc40io.config.scenario import Scenario
from xc40io.workloads.traits import Traits


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
    measured
        Runs that were measured on it, as its file has them.
    """

    nodes: int
    ranks: int
    bytes_a_rank: int
    call: int | None
    machine: str
    changes: tuple[str, ...]
    measured: tuple[MeasuredRun, ...] = ()


def extent_of(scenario: Scenario, traits: Traits, phase: str) -> Extent:
    """Return how large a phase of a run is.

    Raises
    ------
    InputError
        If the machine is none.
    """
    nodes, ranks, of = scenario.nodes, scenario.nodes * scenario.ppn, traits.of(phase)
    changes = tuple(sorted(f"{path}={value}" for path, value in scenario.changes.items()))
    name = scenario.machine
    machine = name if isinstance(name, Machine) else load_machine(name)
    size = (nodes, ranks, of.bytes_a_rank, of.call)
    return Extent(*size, machine.name, changes, machine.measured)


def machine_name(machine: str | Machine) -> str:
    """Return the name that a machine has in its file; shipped files are called like it."""
    if isinstance(machine, Machine):
        return machine.name
    return machine if Path(machine).suffix == "" else load_machine(machine).name
