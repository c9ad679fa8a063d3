"""The job that a workload finds when it runs.

A workload puts together batches of what its ranks do and lets the file system run them, one after
the other, and adds a row to its table for each thing worth a row.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import simpy

from sim.config.machine import Machine
from sim.config.scenario import Scenario
from sim.config.striping import StripeRequest
from sim.engine.types import Floats, Indices, Integers
from sim.machine.filesystem import FileSet, FileSystem
from sim.mpi.communicator import Communicator
from sim.mpi.record import MpiRecord
from sim.plane.batch import Batch
from sim.plane.causes import Cause
from sim.plane.operations import Op
from sim.workloads.activity import Activity
from sim.workloads.attribution import stretch_of
from sim.workloads.ranks import Ranks
from sim.workloads.row import Figure, Row
from sim.workloads.stretch import Stretch
from sim.workloads.trouble import Trouble

Waiting: TypeAlias = Generator[simpy.Event, Any, None]
"""A SimPy process, or a part of one."""

LAST_MARK = 7
"""The mark of a program that :meth:`Job.do` uses; those below are the workload's."""


class MadeFiles(dict[str, FileSet]):
    """Files by name, each the latest of its name.

    Attributes
    ----------
    ever
        All that there have been, each with its name, in the order in which they were made.
    """

    def __init__(self) -> None:
        super().__init__()
        self.ever: list[tuple[str, FileSet]] = []

    def __setitem__(self, name: str, files: FileSet) -> None:
        super().__setitem__(name, files)
        self.ever.append((name, files))


@dataclass(frozen=True, eq=False, kw_only=True)
class Job:
    """A job on its nodes.

    Attributes
    ----------
    scenario
        The job: where several share the machine, as if it were there by itself.
    machine
        As described, with the scenario's changes made.
    filesystem
        Where its files are.
    world
        All ranks as a communicator.
    all_ranks
        All ranks and their programs. In the batches of :meth:`batch` the program of rank r has
        position r.
    helpers
        Helper threads of each rank: the programs that follow its own.
    stagers
        int64 (service nodes, n): the programs on the service nodes of its burst buffer that move
        files between there and Lustre.
    nodes
        int32 (nodes,): its nodes in the tables of the data plane.
    files
        The files that it has made, by name: for one set of several, ``NAME.0``, ``NAME.1`` and so
        on are its files.
    rows
        The rows of its table so far.
    stretches
        When its ranks were at work so far, by the part of the workload and what they did there.
    notes
        What the user should know: a sentence each.
    mpi_records
        What MPI-IO has to tell of its files: one for each time that one was open to write or to
        read data, in that order, and the step to which it belongs.
    troubles
        What went wrong with its bytes beyond what the data plane counts.
    before_repetition
        To be called before each repetition of the same run but the first: the machine is in
        another state then.
    """

    scenario: Scenario
    machine: Machine
    filesystem: FileSystem
    world: Communicator
    all_ranks: Ranks
    helpers: int
    stagers: Integers
    nodes: Indices
    files: MadeFiles = field(default_factory=MadeFiles)
    rows: list[Row] = field(default_factory=list)
    stretches: dict[tuple[int, str], list[Stretch]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    mpi_records: list[tuple[str, MpiRecord]] = field(default_factory=list)
    troubles: list[Trouble] = field(default_factory=list)
    before_repetition: list[Callable[[], None]] = field(default_factory=list)

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
        waited = self.filesystem.plane.waited(self.programs) - before
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
