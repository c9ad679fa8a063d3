"""What only IOR leaves of a run: its tests, with the clock readings of their phases."""

from __future__ import annotations

from dataclasses import dataclass

from sim.config.kept import kept
from sim.machine.filesystem import FileSet
from sim.workloads.ior.options import IorCommand
from sim.workloads.ior.parameters import IorTest
from sim.workloads.ior.phases import PhaseRecord, Removal


@kept
@dataclass(frozen=True, eq=False, kw_only=True)
class FinishedTest:
    """One test of an IOR command.

    Attributes
    ----------
    test
        What was asked.
    tasks
        How many ranks took part.
    started
        When it began, in simulated seconds.
    records
        What the ranks noted in each phase, in order.
    files
        Those of the latest phase.
    removals
        Of the files, after each repetition, unless they were kept.
    """

    test: IorTest
    tasks: int
    started: float
    records: tuple[PhaseRecord, ...]
    files: FileSet
    removals: tuple[Removal, ...] = ()


@kept
@dataclass(frozen=True, eq=False, kw_only=True)
class IorOutcome:
    """A finished IOR command.

    Attributes
    ----------
    command
        As it was understood.
    tests
        In the order of the command.
    """

    command: IorCommand
    tests: tuple[FinishedTest, ...]
