"""What all kernels have in common: workloads that are no IOR command.

A kernel is a small program that does the I/O of a library or of an application. Its options are the
fields of a model: what they are called, in which units they are typed and what they mean is said
there once, for scenario files, for Python and for the command line. At work it puts together
batches of what its ranks do and lets the file system run them, one after the other, and adds a row
to its table for each thing worth a row.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, TypeAlias

from sim.config.machine import Machine
from sim.config.model import Model
from sim.config.striping import StripeRequest
from sim.workloads.stretch import Stretch
from sim.workloads.trouble import Trouble

if TYPE_CHECKING:  # --help of a kernel must not wait for Numba
    import simpy

    from sim.config.scenario import Scenario
    from sim.engine.types import Floats, Integers
    from sim.lustre.batch import Batch
    from sim.lustre.filesystem import FileSet, FileSystem
    from sim.mpi.communicator import Communicator
    from sim.mpi.record import MpiRecord

    Waiting: TypeAlias = Generator[simpy.Event, Any, None]

LAST_MARK = 7
"""The mark of a program that :meth:`KernelJob.do` uses; those below are the kernel's."""


class Figure(NamedTuple):
    """One more number of a row, with its unit."""

    value: float
    unit: Literal["bytes", "seconds", "bytes/s", ""]


@dataclass(frozen=True, kw_only=True)
class KernelRecord:
    """One row of a kernel's table: a phase of a step.

    Attributes
    ----------
    step
        What the phase belongs to, as the kernel calls it: ``3``, ``16 MiB``.
    phase
        What was done: ``open``, ``write``.
    start, end
        When the first rank began and when the last one ended, in simulated seconds.
    longest
        Seconds of the rank that took longest.
    bytes
        What all ranks together read or wrote; 0 where the phase moves no data of theirs.
    figures
        What else the kernel tells, by name; the same names in all rows of one phase.
    """

    step: str
    phase: str
    start: float
    end: float
    longest: float
    bytes: int = 0
    figures: Mapping[str, Figure] = field(default_factory=dict)

    @property
    def seconds(self) -> float:
        """From the first rank's begin to the last one's end."""
        return self.end - self.start

    @property
    def bandwidth(self) -> float | None:
        """Bytes/s over this time; None where there are no bytes."""
        return self.bytes / self.seconds if self.bytes and self.seconds > 0.0 else None


@dataclass(frozen=True, eq=False, kw_only=True)
class KernelJob:
    """The job that a kernel runs in.

    Attributes
    ----------
    filesystem
        Where its files are.
    world
        All ranks. In the batches of :meth:`batch` the program of rank r has position r.
    programs
        int64 (ranks,): the number of each rank's program. Its helper threads, as many as
        ``threads``, are the programs that follow.
    threads
        Helper threads of each rank.
    stagers
        int64 (service nodes, n): the programs on the service nodes of its burst buffer that move
        files between there and Lustre.
    machine
        As described, with the scenario's changes made.
    environment
        Environment variables of the job, MPI-IO's among them.
    striping
        Of the files, as the scenario asks for it.
    seed
        Of the scenario: everything random follows from it.
    files
        The files that the kernel has made, by name: for one set of several, ``NAME.0``, ``NAME.1``
        and so on are its files.
    records
        The rows so far.
    stretches
        The batches so far, by what the ranks did in them.
    notes
        What the user should know: a sentence each, added by the kernel.
    mpi_records
        What MPI-IO has to tell of the kernel's files: one for each time that one was open to write
        or to read data, in that order, and the step to which it belongs.
    troubles
        What went wrong with its bytes beyond what the data plane counts.
    """

    filesystem: FileSystem
    world: Communicator
    programs: Integers
    threads: int
    stagers: Integers
    machine: Machine
    environment: Mapping[str, str]
    striping: StripeRequest
    seed: int
    files: dict[str, FileSet] = field(default_factory=dict)
    records: list[KernelRecord] = field(default_factory=list)
    stretches: dict[str, list[Stretch]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    mpi_records: list[tuple[str, MpiRecord]] = field(default_factory=list)
    troubles: list[Trouble] = field(default_factory=list)

    @property
    def ranks(self) -> int:
        """How many ranks there are."""
        return self.world.size

    def communicator(self, ranks: Integers) -> Communicator:
        """Return a new communicator of some ranks: int64 (members,), in their new order."""
        return self.world.part(ranks, self.filesystem.meetings())

    def meetings(self, count: int) -> Integers:
        """Return the numbers of new meetings for ``MEET`` operations: int64 (count,).

        All at once, since replacing a table of the data plane takes a millisecond or two.
        """
        import numpy as np

        first = self.filesystem.meetings(count)
        return np.arange(first, first + count)

    def batch(self, leaders: Integers | None = None) -> Batch:
        """Return an empty batch: rank r at position r, then helper threads.

        Parameters
        ----------
        leaders
            int64 (n,): the ranks whose helper threads take part, all of each; none unless given.
            The threads of the i-th of them have the positions ``ranks + i * threads`` and
            following. They begin with the batch; one that is to begin later first waits at a
            meeting (``MEET``) with its rank, which may start and await it so as often as it likes.
        """
        import numpy as np

        from sim.lustre.batch import Batch

        if leaders is None:
            return Batch(self.programs)
        helpers = self.programs[leaders][:, None] + 1 + np.arange(self.threads)
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
        import numpy as np

        from sim.lustre.tables import Cause, Op

        started = self.filesystem.environment.now
        before = self.filesystem.plane.tables.waits[self.programs]
        batch.add(Op.MARK, np.arange(self.ranks), offset=LAST_MARK)
        if think:
            batch.add(Op.THINK, np.arange(self.ranks), seconds=think)
        yield self.filesystem.run(batch)
        ended = self.filesystem.marks(self.programs)[:, LAST_MARK]
        waits = self.filesystem.plane.tables.waits[self.programs] - before
        waits[:, Cause.THINK] -= think
        # Of those who ended last, whoever waited least for others is whom the others waited for.
        last = np.lexsort((-waits[:, Cause.MEETING], ended))[-1]
        stretch = Stretch(
            start=float(started),
            end=float(ended.max()),
            waits=waits.mean(axis=0),
            last_waits=waits[last],
        )
        self.stretches.setdefault(label, []).append(stretch)

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
        self.records.append(
            KernelRecord(
                step=step,
                phase=phase,
                start=float(start.min()),
                end=float(end.max()),
                longest=float((end - start).max()),
                bytes=moved,
                figures=figures or {},
            )
        )


class Kernel(Model):
    """The options of a kernel, and the kernel itself.

    A subclass describes each option as a pydantic field, ``Field(description=...)``, in the units
    of :mod:`sim.config.units`; it is listed in :mod:`sim.workloads.kernels`.
    """

    name: ClassVar[str]
    """What it is called in a scenario and on the command line."""

    runtime: ClassVar[str]
    """The module whose ``run(kernel, job)`` does it: imported when the kernel runs, not before."""

    def threads(self) -> int:
        """Return how many helper threads each rank has; they share its core."""
        return 0

    def stagers(self, scenario: Scenario) -> int:  # noqa: ARG002
        """Return how many programs on each service node of its burst buffer a job needs."""
        return 0

    def check(self, scenario: Scenario, machine: Machine) -> None:
        """Raise InputError unless the job of a scenario can run it on a machine."""

    @abstractmethod
    def bytes_to_move(self, ranks: int) -> int:
        """Return the bytes that so many ranks will read and write in all, about."""

    def run(self, job: KernelJob) -> Waiting:
        """Do everything, and leave ``job.records``: the SimPy process of the job."""
        process: Waiting = import_module(self.runtime).run(self, job)
        return process
