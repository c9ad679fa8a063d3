"""A skeleton at work: its phases become batches, and rows of the table.

Ranks wait for each other only where the skeleton says so. A batch therefore goes from one barrier
to the next; within it each rank notes when it begins and ends what is worth a row.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from xc40io.config.errors import InputError, naming
from xc40io.engine.types import Floats
from xc40io.mpi.communicator import Collectives
from xc40io.plane.operations import Op
from xc40io.workloads.background import Background
from xc40io.workloads.job import LAST_MARK, Job, Waiting
from xc40io.workloads.kernels.subfiled import batch_of
from xc40io.workloads.skeleton.blocks import bytes_of
from xc40io.workloads.skeleton.fileset import FileGroups, PosixFiles
from xc40io.workloads.skeleton.hdf5_files import Hdf5Files
from xc40io.workloads.skeleton.mpi_files import MpiFiles
from xc40io.workloads.skeleton.scope import Scope, Step, walk
from xc40io.workloads.skeleton.skeleton_file import Compute, Files, Move, Share, Skeleton

_KINDS: dict[str, type[FileGroups]] = {"posix": PosixFiles, "mpiio": MpiFiles, "hdf5": Hdf5Files}
_MOST_ROWS = 400
_LABELS = ("write", "read", "compute")


@dataclass
class _Row:
    """A row of the table that ranks are at: marks ``2 * number`` and the next of theirs."""

    label: str
    name: str
    number: int
    moved: int = 0
    aside: bool = False  # whether threads in the background are at it, and not the ranks


class SkeletonRun:
    """One run of a skeleton.

    Parameters
    ----------
    skeleton
        What is to be done.
    scope
        Its names, for the ranks of the job.
    job
        Where.
    """

    def __init__(self, skeleton: Skeleton, scope: Scope, job: Job) -> None:
        self._skeleton = skeleton
        self._scope = scope
        self._job = job
        self._files = {
            name: self._kind(spec)(name, spec, scope, job) for name, spec in skeleton.files.items()
        }
        self._costs = Collectives(job.machine.mpi, job.world.nodes, job.world.size)
        self._timers = job.filesystem.timers(job.programs)
        self._begin_batch()

    def _kind(self, spec: Files) -> type[FileGroups]:
        return _KINDS[self._scope.word(spec.api)]

    def run(self) -> Waiting:
        """Do everything."""
        for step in walk(self._skeleton.before, self._scope, "before"):
            self._add(step)
        for files in self._files.values():
            files.settle()
        self._begin_batch()
        for step in walk(self._skeleton.phases, self._scope, "phases"):
            if step.phase.barrier is not None:
                self._end_row()
                if not self._pending:
                    yield from self._finish_batch()
                self._job.barrier(self._batch)
                continue
            self._add(step)
        yield from self._finish_batch()

    def _begin_batch(self) -> None:
        """Begin to put together what comes up to the next barrier."""
        places = [files.place for files in self._files.values() if isinstance(files, Hdf5Files)]
        place = next(filter(None, places), None)
        self._background = Background(self._job) if self._job.helpers and not place else None
        self._batch = self._background.batch if self._background else batch_of(self._job, place)
        self._pending: dict[str, int] = {}  # by files: the count of the threads behind them
        self._rows: list[_Row] = []
        self._row: _Row | None = None
        self._verbs: set[str] = set()

    def _finish_batch(self) -> Waiting:
        """Run the batch, if there is anything in it, and add its rows."""
        self._end_row()
        rows, verbs = self._rows, self._verbs
        if verbs:
            self._make_room_for_marks(len(rows))
            label = next((label for label in _LABELS if label in verbs), "metadata")
            background = self._background
            yield from self._job.do(background.finish() if background else self._batch, label)
            marks = [self._job.marks()]
            if background:
                marks.append(self._job.filesystem.marks(background.threads))
            for row in rows:
                began, ended = marks[row.aside][:, _mark(row.number) :][:, :2].T
                self._job.record(row.label, row.name, began, ended, row.moved)
            self._keep_mpi_records(rows)
        self._begin_batch()

    def _keep_mpi_records(self, rows: list[_Row]) -> None:
        """Keep what MPI-IO has to tell of the files that were closed."""
        now = self._job.filesystem.timers(self._job.programs)
        label = rows[-1].label if rows else "-"
        for files in self._files.values():
            if isinstance(files, MpiFiles) and getattr(files, "closed", None):
                told = files.records(now - self._timers)
                self._job.mpi_records.extend((label, record) for record in told)
                self._timers = now

    def _make_room_for_marks(self, rows: int) -> None:
        """Give the programs more marks than the few that others need."""
        self._job.filesystem.plane.widen(marks=_mark(rows))

    def _add(self, step: Step) -> None:
        """Add a phase to the batch, or say in which phase something is wrong."""
        with naming(self._scope.where):
            self._act(step)

    def _act(self, step: Step) -> None:
        what, verb = step.phase.what, step.phase.verb
        self._verbs.add(verb)
        if isinstance(what, Compute):
            self._compute(step, self._scope.number(what.seconds))
            return
        row = self._begin_row(step)
        if isinstance(what, Share):
            self._share(step, what)
        elif verb == "meet":
            self._files[what.file].meet(self._batch, what)
        elif isinstance(what, Move) and self._files[what.file].in_background(what):
            self._hand_over(step, what)
        else:
            self._wait(what.file)
            if verb != "wait":
                row.moved += self._files[what.file].act(self._batch, step.phase)

    def _compute(self, step: Step, seconds: Floats) -> None:
        """Let every rank compute; where threads may take of its core, in a row of the table."""
        if seconds.min() < 0.0:
            raise InputError(f"seconds is {seconds.min():g}; at least 0 is right")
        if self._background:
            self._begin_row(step)
        else:
            self._end_row()
        kind = Op.COMPUTE if self._background else Op.THINK
        self._batch.add(kind, np.arange(self._scope.ranks), seconds=seconds)

    def _hand_over(self, step: Step, what: Move) -> None:
        """Let the threads of the ranks do a phase."""
        background, files = self._background, self._files[what.file]
        assert background is not None
        copied = bytes_of(what, self._scope) if self._scope.holds(what.copy_first) else None
        row = self._new_row(step.label, f"{step.row} (background)")
        row.aside = True
        with background.handing_over(copied, files.checked):
            self._mark(_mark(row.number))
            row.moved = files.act(self._batch, step.phase)
            self._mark(_mark(row.number) + 1)
        self._pending[what.file] = background.counted

    def _wait(self, name: str) -> None:
        """Let the ranks wait for what was handed over of some files."""
        if self._background and name in self._pending:
            self._background.wait(self._pending.pop(name))

    def _share(self, step: Step, what: Share) -> None:
        """Let bytes go between rank 0 and the others."""
        size = self._scope.one(what.size)
        bcast = step.phase.verb == "bcast"
        seconds = self._costs.bcast(size) if bcast else self._costs.gatherv(size)
        self._job.meet(self._batch, seconds)

    def _begin_row(self, step: Step) -> _Row:
        """Let every rank note that it begins, unless it goes on with what it is at."""
        row = self._row
        if row is not None and (row.label, row.name) == (step.label, step.row):
            return row
        self._end_row()
        self._row = self._new_row(step.label, step.row)
        self._mark(_mark(self._row.number))
        return self._row

    def _new_row(self, label: str, name: str) -> _Row:
        """Add a row of the table."""
        if len(self._rows) == _MOST_ROWS:
            raise InputError(
                f"more than {_MOST_ROWS} rows of the table without a barrier between "
                "them; right would be a barrier in the loop, or a repeat with row: NAME"
            )
        row = _Row(label, name, len(self._rows))
        self._rows.append(row)
        return row

    def _end_row(self) -> None:
        """Let every rank note that it has done its part."""
        if self._row is not None:
            self._mark(_mark(self._row.number) + 1)
        self._row = None

    def _mark(self, mark: int) -> None:
        """Let every rank, or its thread, note the time."""
        self._batch.add(Op.MARK, np.arange(self._scope.ranks), mark=mark)


def _mark(row: int) -> int:
    """Return the mark at which a row begins; it ends at the next one."""
    return LAST_MARK + 1 + 2 * row
