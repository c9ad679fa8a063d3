"""What a run leaves: the times of its phases, and what only a simulator knows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from sim.config.machine import Machine
from sim.config.scenario import Scenario
from sim.engine.types import Floats
from sim.lustre.filesystem import FileSet
from sim.lustre.plane import LustrePlane
from sim.lustre.stationbook import StationBook
from sim.lustre.tables import Cause, Stat, StationKind
from sim.mpi.record import MpiRecord
from sim.workloads.ior.options import IorCommand
from sim.workloads.ior.parameters import IorTest
from sim.workloads.ior.phases import PhaseRecord
from sim.workloads.kernel import Kernel
from sim.workloads.row import Row
from sim.workloads.stretch import Stretch
from sim.workloads.trouble import Trouble

_KINDS = tuple(StationKind)


@dataclass(frozen=True)
class TestOutcome:
    """One test of an IOR command: what was asked, what happened, and the files it used."""

    __test__ = False  # not a test of ours, whatever pytest thinks of the name

    test: IorTest
    tasks: int
    started: float
    records: tuple[PhaseRecord, ...]
    files: FileSet


@dataclass(slots=True)
class StationUse:
    """How one station was used.

    Not frozen, for speed alone: a run of the whole machine has tens of thousands of them.

    Attributes
    ----------
    number
        Of the station, in the plane's table.
    kind
        What it is.
    bytes, requests
        What it served.
    busy
        Seconds of service.
    first, last
        When its first service began and its last one ended, in simulated seconds.
    waiting
        Seconds that messages and requests queued here, summed.
    """

    _book: StationBook = field(repr=False, compare=False)
    number: int
    kind: StationKind
    bytes: float
    requests: int
    busy: float
    first: float
    last: float
    waiting: float

    @property
    def name(self) -> str:
        """What a person calls the station."""
        return self._book.name(self.number)

    @property
    def utilisation(self) -> float:
        """Share of the time between first and last service in which it was busy."""
        span = self.last - self.first
        return self.busy / span if span > 0 else 0.0


@dataclass(frozen=True)
class Timeline:
    """What a watched station did over time: one value a bin of ``width`` seconds."""

    width: float
    bytes: Floats
    busy: Floats


class Activity(NamedTuple):
    """All stretches of a run in which its ranks did the same thing.

    Attributes
    ----------
    test_id
        Place of the IOR test in its command, from 0; 0 for a kernel.
    name
        What they did: ``write``.
    stretches
        When, in order.
    """

    test_id: int
    name: str
    stretches: tuple[Stretch, ...]


@dataclass(frozen=True, eq=False, kw_only=True)
class Result(ABC):
    """A finished run, whatever its workload was.

    Attributes
    ----------
    scenario, machine
        What was run.
    notes
        What the user should know about the options: a sentence each.
    started, simulated
        When the job began, in seconds since the simulation did, and the simulated seconds that it
        took.
    events, rpcs, bulk_bytes
        Events of the data plane, bulk RPCs and the bytes that these moved; those of all jobs.
    wall
        Real seconds that the simulation took.
    waits
        float64 (ranks, causes): seconds that each rank waited, by :class:`Cause`.
    stats
        What the locks and the page caches did, counted; sizes in bytes; on all nodes.
    troubles
        What went wrong: bytes that found no room, or that were lost.
    plane, book
        The data plane as the run left it, and what its stations are called: for those who want to
        look into the tables themselves.
    at_work
        Where several jobs ran: when any of them was at work, each time from when to when in
        simulated seconds.
    """

    scenario: Scenario
    machine: Machine
    notes: tuple[str, ...]
    started: float
    simulated: float
    events: int
    rpcs: int
    bulk_bytes: int
    wall: float
    waits: Floats
    stats: dict[Stat, int]
    troubles: tuple[Trouble, ...] = ()
    plane: LustrePlane
    book: StationBook
    at_work: tuple[tuple[float, float], ...] = ()

    @abstractmethod
    def activities(self) -> list[Activity]:
        """Return what the ranks did, in the order in which they first did it."""

    def stations(self) -> list[StationUse]:
        """Return every station that served anything, in the order of their numbers."""
        table = self.plane.tables.network.stations
        numbers = np.flatnonzero(table.requests)
        used, book = table[numbers], self.book
        kinds = [_KINDS[kind] for kind in used.kind.tolist()]
        columns = (used.bytes, used.requests, used.busy, used.first, used.free, used.waiting)
        rows = zip(numbers.tolist(), kinds, *(column.tolist() for column in columns), strict=True)
        return [StationUse(book, *row) for row in rows]

    def timeline(self, name: str) -> Timeline:
        """Return what a station did over time.

        Raises
        ------
        KeyError
            If no watched station has this name (links and what is in a node are not watched).
        """
        if name not in self._watched:
            raise KeyError(f"no station {name!r} is watched")
        row, bins = self._watched[name], self.plane.tables.network.bins
        return Timeline(float(bins.width[0]), bins.bytes[row], bins.busy[row])

    def waiting(self) -> dict[Cause, float]:
        """Return the seconds that a rank waited on average, by cause."""
        return dict(zip(Cause, self.waits.mean(axis=0).tolist(), strict=True))

    @cached_property
    def _watched(self) -> dict[str, int]:
        """The rows of the time bins, by the names of their stations."""
        rows = self.plane.tables.network.stations.row
        numbers = np.flatnonzero(rows >= 0)
        return {
            self.book.name(number): row
            for number, row in zip(numbers.tolist(), rows[numbers].tolist(), strict=True)
        }


@dataclass(frozen=True, eq=False, kw_only=True)
class IorResult(Result):
    """A finished run of an IOR command.

    Attributes
    ----------
    command
        The IOR command of the scenario, as it was understood.
    tests
        One outcome for each test of the command.
    """

    command: IorCommand
    tests: tuple[TestOutcome, ...]

    def activities(self) -> list[Activity]:
        """Return the phases, those of one test and one access together."""
        grouped: dict[tuple[int, str], list[Stretch]] = {}
        for test_id, outcome in enumerate(self.tests):
            for record in outcome.records:
                stretch = Stretch(
                    start=float(record.open_start.min()),
                    end=float(record.close_end.max()),
                    waits=record.waits,
                    last_waits=record.last_waits,
                )
                grouped.setdefault((test_id, record.access.value), []).append(stretch)
        return [Activity(*key, tuple(stretches)) for key, stretches in grouped.items()]


@dataclass(frozen=True, eq=False, kw_only=True)
class KernelResult(Result):
    """A finished run of a kernel.

    Attributes
    ----------
    kernel
        With all its options.
    files
        The files that it made, by name; for several of one shape, ``NAME.0``, ``NAME.1`` and so on.
    records
        The rows of its table.
    stretches
        When its ranks were at work, by what they did.
    mpi_records
        What MPI-IO has to tell of its files, each with the step to which it belongs.
    """

    kernel: Kernel
    files: dict[str, FileSet]
    records: tuple[Row, ...]
    stretches: dict[str, tuple[Stretch, ...]]
    mpi_records: tuple[tuple[str, MpiRecord], ...]

    def activities(self) -> list[Activity]:
        """Return the batches of the kernel, by what its ranks did in them."""
        return [Activity(0, name, stretches) for name, stretches in self.stretches.items()]
