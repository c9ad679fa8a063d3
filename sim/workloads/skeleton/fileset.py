"""The files of a running skeleton: POSIX files, and what all kinds have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from xc40io.config.errors import InputError, naming
from xc40io.config.striping import StripeRequest
from xc40io.mpi.accesses import Accesses, runs_of
from xc40io.mpi.alltoallv import alltoallv, permute
from xc40io.plane.operations import Op
from xc40io.workloads.job import Job
from xc40io.workloads.listing import add_reading
from xc40io.workloads.skeleton.blocks import Grid, bytes_of
from xc40io.workloads.skeleton.patterns import Places, Sharing, place
from xc40io.workloads.skeleton.scope import Scope
from xc40io.workloads.skeleton.skeleton_file import Cut, Files, Listing, Move, OnFile, Open, Phase
from xc40io.workloads.skeleton.transposition import Transposition

if TYPE_CHECKING:
    import numpy.typing as npt

    from xc40io.engine.types import Integers
    from xc40io.machine.filesystem import FileSet
    from xc40io.plane.batch import Batch

ON_NAMES = {"stat": Op.STAT, "unlink": Op.UNLINK, "mkdir": Op.MKDIR, "rename": Op.RENAME}
"""Verbs that are about the name of a file, whatever it is reached by."""

_MOST_FILES = 5_000_000
_MOST_STATS = 5_000_000


class FileGroups(ABC):
    """A set of files: one or more for each group of ranks.

    Parameters
    ----------
    name, spec
        As the skeleton has it.
    scope
        The names of its expressions.
    job
        Where the files are used.
    """

    def __init__(self, name: str, spec: Files, scope: Scope, job: Job) -> None:
        self.name = name
        self.spec = spec
        self.scope = scope
        self.job = job
        self.where = f"files.{name}"
        with naming(self.where):
            self.owner = self._owners()
            self.owners = int(self.owner[-1]) + 1
            self.each = self.scope.one(spec.count, least=1)
            if self.owners * self.each > _MOST_FILES:
                raise InputError(
                    f"{self.owners * self.each:,} files; right would be at most {_MOST_FILES:,}"
                )
        self._made = 0
        self._created = False
        self._meetings: Integers | None = None  # one for each file
        self._rows: Integers | None = None  # one for each row of a transposition

    def _owners(self) -> Integers:
        """Return the group of each rank: int64 (ranks,), ascending."""
        ranks = np.arange(self.scope.ranks)
        per = self.scope.word(self.spec.per)
        if per == "group":
            if self.spec.ranks is None:
                raise InputError("per: group needs ranks: HOW MANY")
            return ranks // self.scope.one(self.spec.ranks, least=1)
        if per == "node":
            return np.asarray(self.scope["node"])
        return ranks if per == "rank" else np.zeros_like(ranks)

    @property
    def striping(self) -> StripeRequest:
        """What the files ask for: as the job does, or else as the skeleton does."""
        asked, spec = self.job.striping, self.spec
        count, size = asked.count, asked.size
        if count is None and spec.stripe_count is not None:
            count = self.scope.one(spec.stripe_count, least=-1)
            count = min(count, self.job.machine.lustre.osts)
        if size is None and spec.stripe_size is not None:
            size = self.scope.one(spec.stripe_size)
        return StripeRequest(count=count, size=size, offset=asked.offset)

    def make(self) -> None:
        """Make the files, unless they are there: they get numbers and layouts."""
        if self._made == 0:
            self._make_more()

    def _make_more(self) -> None:
        """Make new files in place of those there are."""
        count = self.owners * self.each
        with naming(self.where):
            self.files = self._allocate(count)
            self.position = np.zeros(count, np.int64)
            self._set_sizes()
        number = f".{self._made}" if self.spec.series else ""
        self.job.files[f"{self.name}{number}"] = self.files
        self._made += 1
        self._created = False

    def _allocate(self, count: int) -> FileSet:
        """Let the file system choose the layouts of new files."""
        return self.job.filesystem.allocate(
            count,
            self.striping,
            direct=self.scope.holds(self.spec.direct),
            shared_directory=self.scope.word(self.spec.directory) == "shared",
        )

    def _set_sizes(self) -> None:
        """Let the files hold what they are said to hold at the start."""
        if self.spec.size is None:
            return
        size = self.scope.whole(self.spec.size)
        first = np.searchsorted(self.owner, np.arange(self.owners))
        table = self.job.filesystem.plane.files
        table.end[self.files.first : self.files.first + len(self.position)] = np.repeat(
            size[first], self.each
        )

    def settle(self) -> None:
        """Let the data plane know what was written before the job began."""
        if self._made:
            end = self.job.filesystem.plane.files.end
            every = slice(self.files.first, self.files.first + len(self.position))
            end[every] = np.maximum(end[every], self.position)

    def begin(self, *, creating: bool) -> None:
        """Get ready to be opened; a file of a series that is there already gets a successor."""
        if creating and self.spec.series and self._created:
            self._make_more()
        self.make()
        self._created |= creating
        self.position[:] = 0

    def file(self, what: OnFile) -> Integers:
        """Return which file of the set each rank uses, from 0: int64 (ranks,)."""
        if what.number is None:
            return self.owner * self.each
        number = self.scope.whole(what.number)
        if number.max() >= self.each:
            raise InputError(
                f"{what.number} is {number.max():,}; {self.where} has {self.each:,} files for each"
            )
        return self.owner * self.each + number

    def meet(self, batch: Batch, what: OnFile) -> None:
        """Let the ranks that share a file wait for each other; a message tells them to go on."""
        if self._meetings is None:
            self._meetings = self.job.meetings(self.owners * self.each)
        ranks = np.flatnonzero(self.scope.true(what.only))
        file = self.file(what)[ranks]
        members = np.bincount(file, minlength=len(self._meetings))[file]
        seconds = self.job.machine.mpi.step_latency
        meeting = self._meetings[file]
        batch.add(Op.MEET, ranks, meeting=meeting, members=members, seconds=seconds)

    def places(self, what: Move, file: Integers, base: Integers | None) -> Places:
        """Return the pieces of all ranks; ``base`` is where they begin if nothing is said."""
        scope = self.scope
        chosen = scope.true(what.only)
        if what.offset is not None:
            base = scope.whole(what.offset)
        elif base is None:
            base = self.position[file]
        if what.blocks is not None:
            whole = self._whole(what)
            if whole is not None:
                return whole.places(Sharing.of(file), base)
            return self._blocks(Grid.of(what.blocks, scope), file, base, np.flatnonzero(chosen))
        size = np.where(chosen, bytes_of(what, scope), 0)
        stride = None
        if what.stride is not None:
            stride = scope.one(what.stride, least=1)
        pattern = scope.word(what.pattern)
        return place(
            pattern,
            Sharing.of(file),
            size,
            self.piece(what, size),
            base,
            stride=stride,
            draws=scope.stream(self.name, scope.where) if pattern in ("boxes", "random") else None,
        )

    def _blocks(self, grid: Grid, file: Integers, base: Integers, chosen: Integers) -> Places:
        """Return the rows of the blocks of some ranks."""
        places, note = grid.places(Sharing.of(file), base, chosen)
        if note and note not in self.job.notes:
            self.job.notes.append(note)
        return places

    def _whole(self, what: Move) -> Transposition | None:
        """Return how blocks are exchanged before they are written, or None if they are not."""
        whole = 0 if what.blocks is None else self.scope.one(what.blocks.whole)
        if what.blocks is None or not whole:
            return None
        if not self.scope.true(what.only).all():
            raise InputError("only beside blocks.whole: right would be all ranks, which exchange")
        return Transposition.of(Grid.of(what.blocks, self.scope), whole)

    def exchange(self, batch: Batch, what: Move, file: Integers, *, writing: bool) -> None:
        """Let the ranks of a row exchange their blocks: before a write, or after a read."""
        whole, world, mpi = self._whole(what), self.job.world, self.job.machine.mpi
        if whole is None:
            return
        sharing = Sharing.of(file)
        row, messages = whole.row(sharing), whole.messages(sharing)
        rows = int(row.max()) + 1
        if self._rows is None or len(self._rows) < rows:
            self._rows = self.job.meetings(rows)
        size = np.bincount(messages.receiver, messages.size, world.size).astype(np.int64)
        if not writing:
            permute(batch, world, mpi, size)
            messages = messages.back()
        alltoallv(batch, world, mpi, messages, row, self._rows)
        if writing:
            permute(batch, world, mpi, size)

    def transfer(self, what: Move, size: Integers) -> Integers:
        """Return the bytes of a call: int64 (ranks,); everything in one unless it is said."""
        if what.transfer is None:
            return np.maximum(size, 1)
        return self.scope.whole(what.transfer, least=1)

    def piece(self, what: Move, size: Integers) -> Integers:
        """Return the bytes that lie together: int64 (ranks,)."""
        return self.transfer(what, size)

    checked: ClassVar[float] = 0.0
    """Seconds that a thread waits before it does something in the background."""

    def in_background(self, what: Move) -> bool:
        """Tell whether a thread of each rank is to make its calls."""
        return what.background is not None and self.scope.holds(what.background)

    @abstractmethod
    def act(self, batch: Batch, phase: Phase) -> int:
        """Add a phase to a batch; return the bytes that it moves."""


class PosixFiles(FileGroups):
    """Files that every rank uses by itself, through POSIX."""

    _directory: int | None = None

    def act(self, batch: Batch, phase: Phase) -> int:
        """Add a phase to a batch; return the bytes that it moves."""
        what, verb = phase.what, phase.verb
        if isinstance(what, Move):
            return self._move(batch, what, writing=verb == "write")
        if isinstance(what, Open):
            self.begin(creating=verb == "create")
        self.make()
        chosen = self.scope.true(what.only)
        if isinstance(what, Listing):
            self._list(batch, np.flatnonzero(chosen))
            return 0
        file = self.file(what)
        numbers, ranks = self.files.first + file, np.flatnonzero(chosen)
        if verb == "create":
            kind = np.where(_first_of_each(file[ranks]), Op.CREATE, Op.OPEN)
            batch.add(kind, ranks, file=numbers[ranks])
            return 0
        if verb in ON_NAMES and verb != "stat":
            ranks = ranks[_first_of_each(file[ranks])]
        if isinstance(what, Cut):
            size = self.scope.whole(what.size)
            batch.add(Op.TRUNCATE, ranks, file=numbers[ranks], offset=size[ranks])
            return 0
        kinds = {"open": Op.OPEN, "close": Op.CLOSE, "fsync": Op.FSYNC, **ON_NAMES}
        batch.add(kinds[verb], ranks, file=numbers[ranks])
        return 0

    def _list(self, batch: Batch, ranks: Integers) -> None:
        """Let ranks list the directory of all files."""
        files = len(self.position)
        if self.scope.word(self.spec.directory) != "shared":
            raise InputError(f"{self.where} has directory: own; right would be shared")
        if len(ranks) * files > _MOST_STATS:
            raise InputError(
                f"{len(ranks):,} ranks list {files:,} files; right would be at most "
                f"{_MOST_STATS:,} in all"
            )
        if self._directory is None:
            self._directory = self.job.filesystem.allocate_names(1)
        each = self.job.machine.nodes.name_time
        add_reading(batch, ranks, self._directory, files, each, entries=self.files.first)

    def _move(self, batch: Batch, what: Move, *, writing: bool) -> int:
        """Let every rank make its calls."""
        if what.piece is not None:
            raise InputError("piece is for calls of MPI-IO; right would be transfer")
        if self.scope.holds(what.collective):
            raise InputError("collective: POSIX has no collective calls")
        self.make()
        file = self.file(what)
        places = self.places(what, file, None)
        if writing:
            self.exchange(batch, what, file, writing=True)
        runs = runs_of(Accesses(places.rank, places.offset, places.length))
        batch.add(
            Op.WRITE if writing else Op.READ,
            runs.rank,
            file=self.files.first + file[runs.rank],
            offset=runs.offset,
            length=runs.length,
            stride=runs.stride,
            count=runs.count,
        )
        if not writing:
            self.exchange(batch, what, file, writing=False)
        self.position[np.unique(file)] = places.end
        return int(places.length.sum())


def _first_of_each(file: Integers) -> npt.NDArray[np.bool_]:
    """Tell who is the first to name each file: bool of the same shape."""
    first = np.zeros(len(file), bool)
    first[np.unique(file, return_index=True)[1]] = True
    return first
