"""The data plane as control sees it: files and batches in, SimPy events out.

Control hands over a batch of programs, one a rank, and gets one SimPy event back when the last of
them has ended. Everything that happens once a chunk, an RPC, a message or a request happens here.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from xc40io.compiler.core import prepare
from xc40io.engine.component import Demands
from xc40io.engine.network import Bins
from xc40io.engine.pool import NoRowLeftError
from xc40io.engine.types import Floats, Indices, Integers, Table, zeros
from xc40io.lustre.departure import (
    Departures,
    drop_directories,
    drop_handles,
    drop_inodes,
    drop_locks,
    drop_osc_objects,
)
from xc40io.lustre.eviction import abort, drop_dirty, invalidate, revoke
from xc40io.lustre.ldlm import LockWait, lock_waits
from xc40io.lustre.resend import lose, resend
from xc40io.machine.batches import Batches
from xc40io.machine.loop import ENDED, OUT_OF_ROWS, run
from xc40io.machine.namespace import Namespace
from xc40io.machine.recorded import end_recording
from xc40io.machine.rows import Rows
from xc40io.machine.tables import Tables
from xc40io.network.peers import PeerRoutes
from xc40io.plane.causes import WaitSeconds
from xc40io.plane.control import start_programs
from xc40io.plane.files import Backend
from xc40io.plane.operations import Op
from xc40io.plane.pace import Pace
from xc40io.plane.recorder import CALL, Records
from xc40io.storage.ssd.contents import place
from xc40io.storage.ssd.device import DirtyLimits

_SLICE = 1 << 20  # events between two looks at the user: some tenths of a second


class Plane:
    """The data plane as control sees it.

    Parameters
    ----------
    tables
        All components, at rest.
    routes
        Finds the ways between the jobs' nodes.

    Attributes
    ----------
    batches
        What programs are to do.
    namespace
        The files of all jobs.
    pace
        How long programs compute between their calls.
    departures
        What is done when a job leaves its nodes.
    recorded_until
        When recording ended, in seconds, because there were too many records; None if it has not.
    """

    def __init__(self, tables: Tables, routes: PeerRoutes) -> None:
        self.tables = tables
        self.routes = routes
        self.pace = Pace(tables.programs)
        self._rows = Rows(tables)
        self.batches = Batches(tables, self._rows, routes, self.pace)
        self.namespace = Namespace(tables, self._rows, routes)
        self.departures = Departures(tables.osc, tables.handles, tables.directories)
        self.recorded_until: float | None = None
        faults = (resend, lose, revoke, abort, drop_dirty, invalidate)
        departures = (drop_locks, drop_osc_objects, drop_inodes, drop_handles, drop_directories)
        prepare((start_programs, place, *faults, *departures, run), tables)

    @property
    def now(self) -> float:
        """Time of the latest event in seconds."""
        return float(self.tables.programs.clock[0])

    def waited(self, programs: Integers) -> WaitSeconds:
        """Return the seconds that some programs, int64 (n,), have waited so far."""
        return self.tables.programs.waited(programs)

    def operations_left(self, programs: Integers) -> int:
        """Return the number of operations that some programs, int64 (n,), have left to do."""
        rows = self.tables.programs.rows
        return int((rows.stop[programs] - rows.op[programs]).sum())

    @property
    def marks(self) -> Floats:
        """The times that each program has noted in its latest batch: (programs, marks)."""
        return self.tables.programs.marks

    @property
    def timers(self) -> Floats:
        """The seconds that each program's timers show: (timers, programs)."""
        return self.tables.programs.timers

    @property
    def refused(self) -> Integers:
        """Bytes that no device took of each program, and that were lost with one: (programs, 2)."""
        return self.tables.programs.refused

    @property
    def counts(self) -> Integers:
        """Events, bulk RPCs, and the bytes that these have moved, so far."""
        return self.tables.programs.counts

    @property
    def stats(self) -> Integers:
        """What has been counted so far, by :class:`~xc40io.plane.counters.Stat`."""
        return self.tables.programs.stats

    @property
    def files(self) -> Table:
        """The ``FILE`` records of all files: their size and flags may be set between batches."""
        return self.tables.files.rows

    @property
    def stations(self) -> Table:
        """The ``STATION`` records of all stations, by the numbers in the book."""
        return self.tables.network.stations

    @property
    def first(self) -> Floats:
        """When the first service of every station began in seconds; infinity before that."""
        return self.tables.network.first

    @property
    def bins(self) -> Bins:
        """What the watched stations have served over time."""
        return self.tables.network.bins

    @property
    def program_node(self) -> Indices:
        """The node that each program is on: int32 (programs,), a copy."""
        node: Indices = self.tables.programs.rows.node.copy()
        return node

    def objects(self) -> Indices:
        """Return file, index within the file and OST of every stripe object: int32 (objects, 3).

        The OST is -1 where something else than Lustre keeps the file, or an MDT has the object.
        """
        files = self.tables.files
        file, index = files.owners()
        on_osts = files.objects.ost < self.tables.disks.first_mdt
        in_lustre = files.rows.backend[file] == int(Backend.LUSTRE)
        ost = np.where(in_lustre & on_osts, files.objects.ost, -1)
        return np.stack([file, index, ost], axis=1).astype(np.int32)

    def begin_anew(self, programs: Integers, nodes: Indices, cores: Indices) -> None:
        """Let programs be those of another job, on cores of nodes: int32 (n,) each."""
        known = self.tables.nodes
        self.tables.programs.begin_anew(programs, nodes, known.core + nodes * known.cores + cores)

    def operations_of(self, programs: Integers) -> Integers:
        """Return the current operation, an ``Op``, of each unfinished program among some."""
        table = self.tables.programs
        rows = np.asarray(table.rows)[programs]
        kinds: Integers = np.asarray(table.operations)["kind"][rows["op"][rows["active"] == 1]]
        return kinds

    def lock_waits(self) -> Iterator[LockWait]:
        """Yield the requests for locks that wait now."""
        return lock_waits(self.tables.ldlm)

    def free_rows(self) -> dict[str, int]:
        """Return the number of free rows of each table of things that come and go, by its name."""
        return self._rows.free()

    def make_room(self, wanted: Demands) -> None:
        """Make tables longer from which control itself is about to take so many rows."""
        self._rows.make_room(wanted)

    def widen(self, *, marks: int = 0, timers: int = 0) -> None:
        """Give every program room for so many marks and timers, if it has less."""
        programs = self.tables.programs
        programs.marks = _widened(programs.marks, (len(programs.marks), marks))
        programs.timers = _widened(programs.timers, (timers, programs.timers.shape[1]))

    def occupy(self, nodes: Indices, size: int, limits: DirtyLimits) -> None:
        """Take so many bytes of the page cache of each of some nodes; give back less than none.

        What the page cache has less counts as pages that are dirty, and never written nor dropped.
        ``limits`` are the dirty limits that are left before the nodes' SSDs.
        """
        tables = self.tables
        tables.cache.nodes.cached[nodes] += size
        tables.osc.clients.dirty[nodes] += size
        if len(tables.ssds.rows):
            tables.ssds.rows.background[nodes] = limits.background
            tables.ssds.rows.dirty_limit[nodes] = limits.dirty

    def next_time(self) -> float:
        """Return the time of the next event in seconds; infinity when there is none."""
        calendar = self.tables.network.calendar
        return float(calendar.times[0]) if calendar.counts[0] else np.inf

    def advance(self, until: float) -> tuple[float, list[int]]:
        """Work through events before ``until``; return the time and the batches that ended."""
        outcome = OUT_OF_ROWS
        while outcome == OUT_OF_ROWS:
            self._rows.make_room()
            self._bound_recording()
            try:
                outcome = run(self.tables, self._rows.counts.ravel(), until, _SLICE)
            except NoRowLeftError as error:
                raise self._rows.defect(self.now) from error
        if outcome != ENDED:
            return self.now, []
        programs = self.tables.programs
        ended = programs.ended[: programs.ended_count[0]].tolist()
        programs.ended_count[0] = 0
        if not programs.batches.any():
            self.batches.drop_operations()
        return self.now, ended

    def note_calls(self, programs: Integers, kind: Op, file: Integers, now: float) -> None:
        """Record calls of programs on files that are not simulated, and so take no time."""
        recorder = self.tables.recorder
        if not recorder.on:
            return
        calls = np.zeros(len(programs), CALL)
        calls["program"], calls["op"], calls["file"] = programs, int(kind), file
        calls["start"] = calls["end"] = now
        recorder.add("calls", calls)

    def take_records(self) -> dict[str, Records] | None:
        """End the recording; return it, log by log. None if nothing was to be recorded."""
        recorder = self.tables.recorder
        if not recorder.on and self.recorded_until is None:
            return None
        if recorder.on:
            end_recording(self.tables)
        return recorder.take_all()

    def _bound_recording(self) -> None:
        """End the recording if there are too many records."""
        recorder = self.tables.recorder
        if recorder.on and recorder.is_full():
            end_recording(self.tables)
            self.recorded_until = self.now
            self._rows.demanded()


def _widened(table: Floats, least: tuple[int, int]) -> Floats:
    """Return a table with so many rows and columns at least."""
    rows, columns = map(max, table.shape, least)
    if (rows, columns) == table.shape:
        return table
    wide: Floats = zeros((rows, columns), np.float64)
    wide[: table.shape[0], : table.shape[1]] = table
    return wide
