"""The job that a workload finds when it runs.

A workload puts together batches of what its ranks do and lets the file system run them, one after
the other, and adds a row to its table for each thing worth a row.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
import simpy

from xc40io.config.machine import Machine
from xc40io.config.scenario import Scenario
from xc40io.config.striping import StripeRequest
from xc40io.engine.types import Floats, Indices, Integers
from xc40io.machine.filesystem import FileSet, FileSystem
from xc40io.machine.plane import Plane
from xc40io.mpi.communicator import Collectives, Communicator
from xc40io.mpi.stats import MpiRecord
from xc40io.plane.batch import Batch
from xc40io.plane.causes import Cause, WaitSeconds
from xc40io.plane.operations import Op
from xc40io.workloads.job_results import Activity, Figure, Row, Stretch, Trouble, stretch_of

Waiting: TypeAlias = Generator[simpy.Event, Any, None]
"""A SimPy process, or a part of one."""

LAST_MARK = 7
"""The mark of a program that :meth:`Job.do` uses; those below are the workload's."""


@dataclass(frozen=True)
class Ranks:
    """The ranks of a job, and the programs that stand for them in the data plane.

    One I/O thread of a rank is the rank itself; several are the programs that follow its own, and
    its calls are dealt to them in turn.
    """

    programs: Integers  # (ranks,)
    per_node: int  # neighbours share a node
    threads: int = 1  # of each rank, for its I/O

    def __len__(self) -> int:
        return len(self.programs)

    def first(self, count: int) -> Ranks:
        """Return the first so many of the ranks."""
        return replace(self, programs=self.programs[:count])

    @property
    def all(self) -> Integers:
        """Every rank: int64 (ranks,), which is also its position in a batch of them all."""
        return np.arange(len(self.programs))

    @property
    def followers(self) -> Integers:
        """The programs of the threads where a rank has several: int64 (ranks, threads)."""
        return self.programs[:, None] + 1 + np.arange(self.threads)

    def batch(self, *, threads: bool = True) -> Batch:
        """Return an empty batch of all ranks, their threads resting unless it has none."""
        if self.threads == 1 or not threads:
            return Batch(self.programs)
        batch = Batch(np.concatenate([self.programs, self.followers.ravel()]))
        batch.add(Op.PARK, np.arange(len(self.programs), len(batch.programs)))
        return batch

    def waited(self, plane: Plane) -> WaitSeconds:
        """Return what each rank has waited for so far.

        What its threads waited for, on average, stands in place of the rank's wait for them.
        """
        own = plane.waited(self.programs)
        if self.threads > 1:
            followers = plane.waited(self.followers.ravel())
            for waits, of_threads in zip(own, followers, strict=True):
                mean = of_threads.reshape(len(waits), self.threads, -1).mean(axis=1)
                waits += mean
                waits[:, Cause.THREADS] -= mean.sum(axis=1)
        return own


class MadeFiles(dict[str, FileSet]):
    """Files by name, each the latest of its name; ``ever`` has all, in the order of making."""

    def __init__(self) -> None:
        super().__init__()
        self.ever: list[tuple[str, FileSet]] = []

    def __setitem__(self, name: str, files: FileSet) -> None:
        super().__setitem__(name, files)
        self.ever.append((name, files))


@dataclass(frozen=True, eq=False, kw_only=True)
class Job:
    """A job on its nodes: what a workload has when it runs."""

    scenario: Scenario  # where several jobs share the machine, as if this one were alone
    machine: Machine  # with the scenario's changes made
    filesystem: FileSystem  # where its files are
    world: Communicator  # all ranks
    all_ranks: Ranks
    """All ranks and their programs; rank r has position r in the batches of :meth:`batch`."""
    helpers: int  # helper threads of each rank: the programs that follow its own
    stagers: Integers
    """int64 (service nodes, n): the programs on the service nodes of its burst buffer, which move
    files between there and Lustre."""
    nodes: Indices  # (nodes,): its nodes in the tables of the data plane
    files: MadeFiles = field(default_factory=MadeFiles)
    """The files that it has made, by name: several of one shape have one."""
    rows: list[Row] = field(default_factory=list)  # of its table so far
    stretches: dict[tuple[int, str], list[Stretch]] = field(default_factory=dict)
    """When its ranks were at work so far, by the part of the workload and what they did there."""
    notes: list[str] = field(default_factory=list)  # for the user, a sentence each
    mpi_records: list[tuple[str, MpiRecord]] = field(default_factory=list)
    """What MPI-IO tells of its files, and the step: one for each time that a file was open to write
    or to read data, in that order."""
    troubles: list[Trouble] = field(default_factory=list)
    """What went wrong with its bytes beyond what the data plane counts."""
    before_repetition: list[Callable[[], None]] = field(default_factory=list)
    """To be called before each repetition of the same run but the first: the machine is in another
    state then."""
    share_done: list[Callable[[], float]] = field(default_factory=list)
    """The last returns how much of its work is done, 0 to 1, where the workload knows that better
    than the bytes tell that were moved: a replay's are more where MPI-IO reads, modifies, writes.
    """

    @property
    def ranks(self) -> int:
        """How many ranks there are."""
        return len(self.all_ranks)

    @property
    def programs(self) -> Integers:
        """The program of each rank: int64 (ranks,)."""
        return self.all_ranks.programs

    @property
    def environment(self) -> Mapping[str, str]:
        """Environment variables of the job, MPI-IO's among them."""
        return self.scenario.environment

    @property
    def striping(self) -> StripeRequest:
        """Of the files, as the scenario asks for it."""
        return self.scenario.striping

    @property
    def seed(self) -> int:
        """Of the scenario: everything random follows from it."""
        return self.scenario.seed

    def activities(self) -> tuple[Activity, ...]:
        """Return what the ranks did so far, in the order in which they first did it."""
        return tuple(Activity(*key, tuple(found)) for key, found in self.stretches.items())

    def communicator(self, ranks: Integers) -> Communicator:
        """Return a new communicator of some ranks: int64 (members,), in their new order."""
        return self.world.part(ranks, self.filesystem.meetings())

    def meetings(self, count: int) -> Integers:
        """Return the numbers of new meetings for ``MEET`` operations: int64 (count,).

        All at once, since replacing a table of the data plane takes a millisecond or two.
        """
        first = self.filesystem.meetings(count)
        return np.arange(first, first + count)

    def batch(self, leaders: Integers | None = None) -> Batch:
        """Return an empty batch: rank r at position r, then helper threads.

        Parameters
        ----------
        leaders
            int64 (n,): the ranks whose helper threads take part, all of each; none unless given.
            The threads of the i-th of them have the positions ``ranks + i * helpers`` and
            following. They begin with the batch; one that is to begin later first waits at a
            meeting (``MEET``) with its rank, which may start and await it so as often as it likes.
        """
        if leaders is None:
            return Batch(self.programs)
        helpers = self.programs[leaders][:, None] + 1 + np.arange(self.helpers)
        return Batch(np.concatenate([self.programs, helpers.ravel()]))

    def meet(self, batch: Batch, seconds: float = 0.0) -> None:
        """Let all ranks wait for each other, and then do a collective that takes so long."""
        world = self.world
        batch.add(Op.MEET, world.owners, meeting=world.meeting, members=world.size, seconds=seconds)

    def barrier(self, batch: Batch) -> None:
        """Let all ranks do ``MPI_Barrier``."""
        world = self.world
        self.meet(batch, Collectives(self.machine.mpi, world.nodes, world.size).barrier())

    def do(self, batch: Batch, label: str, *, think: float = 0.0) -> Waiting:
        """Run a batch of :meth:`batch` to its end, and note what its ranks waited for.

        Parameters
        ----------
        batch
            What the ranks are to do.
        label
            Batches of one label are looked at together when it is said what bound the run.
        think
            Seconds that each rank computes when it has done its part; no part of the stretch.
        """
        started = self.filesystem.environment.now
        before = self.filesystem.plane.waited(self.programs)
        batch.add(Op.MARK, np.arange(self.ranks), mark=LAST_MARK)
        if think:
            batch.add(Op.THINK, np.arange(self.ranks), seconds=think)
        yield self.filesystem.run(batch)
        ended = self.filesystem.marks(self.programs)[:, LAST_MARK]
        waited = self.filesystem.plane.waited(self.programs).since(before)
        for waits in waited:
            waits[:, Cause.THINK] -= think * self.filesystem.plane.pace.of(self.programs)
        self.add_stretch(label, stretch_of(float(started), ended, waited))

    def add_stretch(self, label: str, stretch: Stretch, part: int = 0) -> None:
        """Add a time in which the ranks were at work, in a part of the workload."""
        self.stretches.setdefault((part, label), []).append(stretch)

    def marks(self) -> Floats:
        """Return the times that the ranks noted in the latest batch: float64 (ranks, marks)."""
        return self.filesystem.marks(self.programs)

    def record(
        self,
        step: str,
        phase: str,
        start: Floats,
        end: Floats,
        moved: int = 0,
        figures: Mapping[str, Figure] | None = None,
    ) -> None:
        """Add a row from when each rank began and ended: float64 (ranks,); ``moved`` in bytes."""
        self.rows.append(
            Row(
                step=step,
                phase=phase,
                start=float(start.min()),
                end=float(end.max()),
                longest=float((end - start).max()),
                bytes=moved,
                figures=figures or {},
            )
        )
