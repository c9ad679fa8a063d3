"""What a run leaves: the times of its phases, and what only a simulator knows.

It is told in the rooms above, and asks the package for the two tables as a user would. Results are
kept in files, written whole and without loss; ``xc40io.results.saved`` reads them back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import xc40io
from xc40io.archive.archive import Format, write_archive
from xc40io.config.kept import NOT_KEPT, kept
from xc40io.config.machine import Machine
from xc40io.config.scenario import Scenario
from xc40io.config.units import format_seconds
from xc40io.engine.types import Floats
from xc40io.machine.filesystem import FileSet
from xc40io.machine.plane import Plane
from xc40io.mpi.stats import MpiRecord
from xc40io.plane.causes import Cause
from xc40io.plane.counters import Stat
from xc40io.plane.fault_course import FaultRecord
from xc40io.plane.stations import StationKind
from xc40io.run.recording import Recording
from xc40io.run.station_table import MachinePart, StationTable, Timeline
from xc40io.run.submission import Allocation
from xc40io.topology.text import format_count
from xc40io.workloads.catalogue import traits_if_known
from xc40io.workloads.job_results import Activity, Row, Trouble
from xc40io.workloads.traits import Traits
from xc40io.workloads.workload import WorkloadRecord

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

RESULT_FILE = Format(name="result of xc40io", version=2, option="--save")


@kept
class Saved(NamedTuple):
    """What is in a file."""

    content: Any  # of a run, of jobs, or of a replayed log: xc40io.results.saved.Content
    shown: Mapping[str, bool]  # how it was printed when it was saved: the options, by name


def save(content: Any, path: str | Path, shown: Mapping[str, bool] | None = None) -> None:
    """Write a result to a file; see :class:`Saved`.

    Raises
    ------
    InputError
        If it cannot be written there.
    """
    write_archive(path, RESULT_FILE, version("xc40io"), Saved(content, shown or {}))


_KINDS = tuple(StationKind)


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

    _table: StationTable = field(repr=False, compare=False)
    _position: int = field(repr=False, compare=False)
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
        return self._table.names[self._position]

    @property
    def part(self) -> MachinePart | None:
        """The part of the machine that it is of, if these have numbers."""
        return self._table.part(self._position)

    @property
    def timeline(self) -> Timeline:
        """What it did over time; only of a watched station."""
        return self._table.timeline(int(self._table.row[self._position]))

    @property
    def utilisation(self) -> float:
        """Share of the time between first and last service in which it was busy."""
        span = self.last - self.first
        return self.busy / span if span > 0 else 0.0


def _traits_before(fields: Mapping[str, Any]) -> Traits:
    """Return the traits of phases of a result that was saved without them."""
    return traits_if_known(fields["scenario"])


@kept(before={"traits": _traits_before})
@dataclass(frozen=True, eq=False, kw_only=True)
class Result:
    """A finished run, whatever its workload was.

    Attributes
    ----------
    scenario, machine, workload
        What was run, all of it as plain data.
    traits
        What its phases are: how ranks share files, which way bytes go, in which calls.
    allocation
        Its compute nodes, and the OSTs of its files.
    started, simulated
        When the job began, in seconds since the simulation did, and the simulated seconds that it
        took.
    events, rpcs, bulk_bytes
        Events of the data plane, bulk RPCs and the bytes that these moved; for all jobs together.
    wall
        Real seconds that the simulation took.
    rows
        The table of the workload: a row for each phase of each step.
    activities
        When its ranks were at work, by what they did, in the order in which they first did it.
    files
        The files that it made, those of one shape under the name of the first or of all.
    mpi_records
        What MPI-IO has to tell of its files, each with the step to which it belongs.
    outcome
        What only this workload leaves: the tests of an IOR command
        (:class:`~xc40io.workloads.ior.outcome.IorOutcome`), the ranks' seconds of a replay
        (:class:`~xc40io.workloads.replay.outcome.ReplayOutcome`), or None.
    notes
        What the user should know: a sentence each.
    troubles
        What went wrong: bytes that found no room, or that were lost.
    faults
        What happened to parts of the machine, and what came of it.
    waits
        float64 (ranks, causes): seconds that each rank waited, by the part of the path that it was
        behind: by :class:`Cause`.
    doing
        float64 (ranks, ``COARSE``): the same seconds by what the rank was at, as in an fsync.
    stats
        What the locks and the page caches did, counted; sizes in bytes; on all nodes.
    station_table
        What every station did; :meth:`stations` and :meth:`timeline` read it.
    version
        Of xc40io.
    at_work
        Where several jobs ran: when any of them was at work, each period in
        simulated seconds.
    recording
        Every call, RPC, request, lock and wait, if that was asked for.
    plane
        The data plane as the run left it, for those who want to look into the tables themselves;
        None in a result that was loaded.
    """

    scenario: Scenario
    machine: Machine
    workload: WorkloadRecord
    traits: Traits
    allocation: Allocation
    started: float
    simulated: float
    events: int
    rpcs: int
    bulk_bytes: int
    wall: float
    rows: tuple[Row, ...]
    activities: tuple[Activity, ...]
    files: dict[str, FileSet]
    mpi_records: tuple[tuple[str, MpiRecord], ...]
    outcome: Any
    notes: tuple[str, ...]
    troubles: tuple[Trouble, ...]
    waits: Floats
    doing: Floats
    stats: dict[Stat, int]
    station_table: StationTable
    version: str
    faults: tuple[FaultRecord, ...] = ()
    at_work: tuple[tuple[float, float], ...] = ()
    recording: Recording | None = None
    plane: Plane | None = field(default=None, metadata=NOT_KEPT)

    def __repr__(self) -> str:
        """Return a line: what ran where, and how long."""
        return (
            f"<Result of {self.workload.title!r} on "
            f"{format_count(len(self.allocation.nodes), 'node')} of {self.machine.name}: "
            f"{format_seconds(self.simulated, 4)} simulated>"
        )

    def stations(self) -> list[StationUse]:
        """Return every station that served anything, in the order of their numbers."""
        table = self.station_table
        served = np.flatnonzero(table.requests)
        kinds = [_KINDS[kind] for kind in table.kind[served].tolist()]
        figures = (table.bytes, table.requests, table.busy, table.first, table.last, table.waiting)
        numbers = served.tolist(), table.number[served].tolist()
        rows = zip(*numbers, kinds, *(figure[served].tolist() for figure in figures), strict=True)
        return [StationUse(table, *row) for row in rows]

    def timeline(self, name: str) -> Timeline:
        """Return the use of a station over time.

        Raises
        ------
        KeyError
            If no watched station has this name (links and what is in a node are not watched).
        """
        table = self.station_table
        if name not in table.watched:
            raise KeyError(f"no station {name!r} is watched")
        return table.timeline(table.watched[name])

    def waiting(self) -> dict[Cause, float]:
        """Return the seconds that a rank waited on average, by cause."""
        return dict(zip(Cause, self.waits.mean(axis=0).tolist(), strict=True))

    def save(self, path: str | Path) -> None:
        """Keep the result in a file: all but ``plane``; ``xc40io.load`` reads it back.

        Raises
        ------
        InputError
            If the file cannot be written.
        """
        save(self, path)

    def to_pandas(self) -> dict[str, pd.DataFrame]:
        """Return ranks, phases, files, stations and time bins as tables: docs/result.md."""
        return xc40io.to_pandas(self)  # pyright: ignore[reportArgumentType]

    def to_xarray(self) -> xr.Dataset:
        """Return the use of stations over time, and the waits of ranks: docs/result.md.

        Raises
        ------
        FailureError
            If xarray is not installed.
        """
        return xc40io.to_xarray(self)  # pyright: ignore[reportArgumentType]
