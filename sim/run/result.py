"""What a run leaves: the times of its phases, and what only a simulator knows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from sim.config.machine import Machine
from sim.config.scenario import Scenario
from sim.engine.types import Floats
from sim.lustre.filesystem import FileSet
from sim.lustre.plane import LustrePlane
from sim.lustre.stationbook import StationBook
from sim.lustre.tables import Cause, StationKind
from sim.workloads.ior.parameters import IorTest
from sim.workloads.ior.phases import PhaseRecord

Counts: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True)
class TestOutcome:
    """One test of an IOR command: what was asked, what happened, and the files it used."""

    __test__ = False  # not a test of ours, whatever pytest thinks of the name

    test: IorTest
    tasks: int
    started: float
    records: tuple[PhaseRecord, ...]
    files: FileSet


@dataclass(frozen=True)
class StationUse:
    """How one station was used.

    Attributes
    ----------
    name, kind
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

    name: str
    kind: StationKind
    bytes: float
    requests: int
    busy: float
    first: float
    last: float
    waiting: float

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


@dataclass(frozen=True, eq=False)
class Result:
    """A finished run.

    Attributes
    ----------
    scenario, machine
        What was run.
    tests
        One outcome for each test of the IOR command.
    notes
        What the user should know about the options.
    simulated
        Simulated seconds.
    events, rpcs, bulk_bytes
        Events of the data plane, bulk RPCs and the bytes that these moved.
    wall
        Real seconds that the simulation took.
    waits
        float64 (ranks, causes): seconds that each rank waited, by :class:`Cause`.
    """

    scenario: Scenario
    machine: Machine
    tests: tuple[TestOutcome, ...]
    notes: tuple[str, ...]
    simulated: float
    events: int
    rpcs: int
    bulk_bytes: int
    wall: float
    waits: Floats
    _plane: LustrePlane
    _book: StationBook

    def stations(self) -> list[StationUse]:
        """Return every station that served anything, in the order of their numbers."""
        table = self._plane.tables.network.stations
        return [
            StationUse(
                name=self._book.name(i),
                kind=StationKind(station.kind),
                bytes=float(station.bytes),
                requests=int(station.requests),
                busy=float(station.busy),
                first=float(station.first),
                last=float(station.free),
                waiting=float(station.waiting),
            )
            for i, station in enumerate(table)
            if station.requests
        ]

    def timeline(self, name: str) -> Timeline:
        """Return what a station did over time.

        Raises
        ------
        KeyError
            If no watched station has this name (nodes and links are not watched).
        """
        network = self._plane.tables.network
        for i in np.flatnonzero(network.stations.row >= 0):
            if self._book.name(int(i)) == name:
                row = network.stations.row[i]
                bins = network.bins
                return Timeline(float(bins.width[0]), bins.bytes[row], bins.busy[row])
        raise KeyError(f"no station {name!r} is watched")

    def waiting(self) -> dict[Cause, float]:
        """Return the seconds that a rank waited on average, by cause."""
        return {cause: float(self.waits[:, cause].mean()) for cause in Cause}
