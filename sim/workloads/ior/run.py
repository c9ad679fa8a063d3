"""IOR at work: the tests of a command and the phases of a test, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import simpy

from xc40io.config.machine import Machine
from xc40io.engine.types import Integers
from xc40io.machine.filesystem import FileSet
from xc40io.mpi.communicator import Collectives
from xc40io.plane.batch import Batch
from xc40io.plane.operations import Op
from xc40io.storage.ssd.device import dirty_limits
from xc40io.workloads.ior.backend import Backend, Task
from xc40io.workloads.ior.files import (
    Contents,
    IorHints,
    file_name,
    hints_of,
    names_of,
    striping_of,
)
from xc40io.workloads.ior.options import STATUS_OPTION, IorCommand
from xc40io.workloads.ior.outcome import FinishedTest, IorOutcome, PhaseRecord, Removal, row_of
from xc40io.workloads.ior.parameters import Access, IorTest
from xc40io.workloads.ior.pattern import file_indices, offsets, pretend_ranks
from xc40io.workloads.ior.phase import Phase
from xc40io.workloads.ior.posix import DummyBackend, MappedBackend, PosixBackend
from xc40io.workloads.ior.untimed import UntimedCalls
from xc40io.workloads.job import Job, Waiting
from xc40io.workloads.settling import Settling
from xc40io.workloads.stonewall_file import read_status

_WITHOUT_MPI: dict[str, Callable[[Task], Backend]] = {
    "POSIX": PosixBackend,
    "MMAP": MappedBackend,
    "DUMMY": DummyBackend,
}
"""The backends of the APIs below MPI-IO."""


@dataclass
class Namespace:
    """What one IOR command leaves for its later tests, and for commands after it."""

    # the files kept, and what is in them, by name
    files: dict[str, FileSet] = field(default_factory=dict)
    contents: dict[str, Contents] = field(default_factory=dict)
    # calls at a stonewall, by the name of the file that would hold their number
    stonewall_calls: dict[str, int] = field(default_factory=dict)
    # the numbers of the folders that it has made, by name
    folders: dict[str, int] = field(default_factory=dict)


def run(command: IorCommand, job: Job) -> Generator[simpy.Event, Any, IorOutcome]:
    """Run the tests of a command one after the other: a SimPy process."""
    namespace, tests = Namespace(), []
    for number, test in enumerate(command.tests):
        tests.append((yield from run_test(test, job, namespace, number)))
    return IorOutcome(command=command, tests=tuple(tests))


def run_test(
    test: IorTest,
    job: Job,
    namespace: Namespace,
    number: int = 0,
    settling: Settling | None = None,
    listed: int | None = None,
) -> Generator[simpy.Event, Any, FinishedTest]:
    """Run one test, the ``number``-th of its command from 0: a part of a SimPy process.

    ``settling`` ends calls with a deadline before it, once they go on at one pace; ``listed`` is
    how many segments are gone through at most (:func:`~xc40io.workloads.ior.pattern.offsets`).
    """
    return (yield from _TestRun(job, number, test, namespace, settling, listed).run())


class _TestRun:
    """One IOR test at work, on the first ranks of a job."""

    def __init__(
        self,
        job: Job,
        number: int,
        test: IorTest,
        namespace: Namespace,
        settling: Settling | None = None,
        listed: int | None = None,
    ) -> None:
        self._job = job
        self._filesystem = job.filesystem
        self._number = number
        self._test = test
        self._ranks = job.all_ranks.first(test.tasks_of(job.ranks))
        self._namespace = namespace
        self._settling = settling
        self._listed = listed
        self._world = job.world.part(self._ranks.all, job.filesystem.meetings())
        self._inner_meeting = job.filesystem.meetings()
        self._records: list[PhaseRecord] = []
        self._removals: list[Removal] = []
        self._files: FileSet | None = None
        self._opened = np.zeros(0, np.int64)  # by each rank in the last phase
        self._written: Integers | None = None  # calls of each rank before its deadline to write
        hints = self._hints(0)
        opens = 1 if hints is None else hints.in_force.hints.opens(job.machine.mpi.library)
        folders = namespace.folders
        self._untimed = UntimedCalls(job.filesystem, self._ranks, test, opens, folders)

    def run(self) -> Generator[simpy.Event, Any, FinishedTest]:
        """Run the test in what it leaves of the nodes' memory."""
        job, tasks = self._job, len(self._ranks)
        started = float(self._filesystem.environment.now)
        occupied = self._test.occupied_memory(
            job.machine.nodes.memory, min(self._ranks.per_node, tasks)
        )
        _occupy(job, occupied)
        yield from self._repetitions()
        _occupy(job, 0, before=occupied)
        assert self._files is not None  # every test has a phase
        return FinishedTest(
            test=self._test,
            tasks=tasks,
            started=started,
            records=tuple(self._records),
            files=self._filesystem.as_it_is(self._files),
            removals=tuple(self._removals),
        )

    def _repetitions(self) -> Waiting:
        """Do all repetitions."""
        clock = self._filesystem.environment
        started = clock.now
        for repetition in range(self._test.repetitions):
            if repetition:
                for change in self._job.before_repetition:
                    change()
            for access in self._test.phases:
                yield clock.timeout(self._test.delay)
                yield from self._phase(access, repetition)
            if not self._test.keep_file:
                yield from self._remove(repetition)
            if 0 < self._test.max_duration <= clock.now - started:
                break

    def _phase(self, access: Access, repetition: int) -> Waiting:
        """Run one phase and add its record."""
        test, ranks, world = self._test, self._ranks, self._world
        pretend = pretend_ranks(test, access, len(ranks), ranks.per_node, repetition=repetition)
        hints = self._hints(repetition)
        old = self._old_files(access, repetition)
        if len(old):
            self._untimed.before_write(old, old=True)
            yield from self._unlink(old)
        self._files, fresh = self._open_files(access, repetition, hints)
        task = Task(
            ranks=ranks,
            test=test,
            access=access,
            pattern=offsets(test, pretend, seed=self._job.seed, listed=self._listed),
            pretend=pretend,
            file=self._files.first + file_indices(test, pretend),
            fresh=fresh,
        )
        phase = Phase(
            filesystem=self._filesystem,
            task=task,
            backend=_WITHOUT_MPI[test.api](task)
            if hints is None
            else self._backend(task, hints, repetition),
            decision=Collectives(self._job.machine.mpi, world.nodes, world.size).bcast(4),
            meeting=world.meeting,
            call_limit=self._call_limit(access),
            settling=self._settling,
        )
        if task.writes and not len(old):
            self._untimed.before_write(task.file, old=False)
        elif not task.writes:
            self._untimed.before_read(task.file - self._files.first)
        yield from phase.run()
        record = phase.record(repetition)
        self._tell(record)
        if task.writes:
            self._written = record.calls if test.deadline else None
        self._untimed.after(task)
        self._opened = task.file
        if phase.stonewall is not None and test.stonewall_file is not None:
            self._namespace.stonewall_calls[test.stonewall_file] = phase.stonewall.calls_max

    def _tell(self, record: PhaseRecord) -> None:
        """Keep the record of a phase, and tell of it as all workloads do."""
        job, step = self._job, str(record.repetition)
        self._records.append(record)
        job.rows.append(row_of(record, self._number))
        job.add_stretch(record.access.value, record.stretch, self._number)
        if record.mpi is not None:
            job.mpi_records.append((step, record.mpi))

    def _hints(self, repetition: int) -> IorHints | None:
        """Return the hints of the test's files; where MPI-IO takes no part there are none."""
        job = self._job
        if self._test.api in _WITHOUT_MPI:
            return None
        return hints_of(
            self._test, job.striping, job.environment, job.machine, repetition=repetition
        )

    def _backend(self, task: Task, hints: IorHints, repetition: int) -> Backend:
        """Return the test's API over MPI-IO, ready for one phase."""
        from xc40io.workloads.ior.over_mpi import backend_of

        files, test = self._files, self._test
        assert files is not None
        return backend_of(
            task,
            self._world,
            files,
            inner_meeting=self._inner_meeting,
            hints=hints,
            machine=self._job.machine,
            file_name=file_name(test, int(task.file[0]) - files.first, repetition),
            contents=self._namespace.contents[self._name(repetition)],
            table=self._filesystem.plane.files,
        )

    def _open_files(
        self, access: Access, repetition: int, hints: IorHints | None
    ) -> tuple[FileSet, bool]:
        """Find the files of a phase; say whether the phase creates them."""
        test = self._test
        count = len(self._ranks) if test.file_per_process else 1
        name = self._name(repetition)
        known = self._namespace.files.get(name)
        keeps = access is not Access.WRITE or test.use_existing_file
        direct = test.direct_io and test.api == "POSIX"
        if known is not None and keeps and len(known.osts) >= count:
            self._filesystem.plane.files.direct[known.first :][: len(known.osts)] = direct
            if access is Access.WRITE and self._namespace.contents[name].api != test.api:
                self._namespace.contents[name] = Contents(test.api)
            return known, False
        bytes_each = test.aggregate_bytes(len(self._ranks)) // count
        files = self._filesystem.allocate(
            count,
            striping_of(test, self._job.striping) if hints is None else hints.in_force.striping,
            size=0 if access is Access.WRITE else bytes_each,
            direct=direct,
            shared_directory=not test.unique_directory,
        )
        if test.file_per_process:
            files = files._replace(naming=names_of(test, repetition))
        self._namespace.files[name] = files
        if test.api != "DUMMY":
            self._job.files[file_name(test, 0, repetition)] = files
        self._namespace.contents[name] = Contents(test.api if access is Access.WRITE else "")
        return files, access is Access.WRITE

    def _call_limit(self, access: Access) -> Integers | int | None:
        """Return how many calls a rank makes at most.

        So many as are asked for; behind a write that a deadline ended, as many as it made itself;
        or what an earlier stonewalled write has left to read (ior.c, TestIoSys).
        """
        name, asked = self._test.stonewall_file, self._test.wear_out_calls or None
        if access is Access.WRITE:
            return asked
        if name is None or access is Access.WRITE_CHECK:
            return asked if self._written is None else self._written
        if name not in self._namespace.stonewall_calls:
            return read_status(
                name,
                f"{STATUS_OPTION}={name}",
                "an earlier test, or an earlier run, with -w -D SECONDS -k and "
                "stoneWallingWearOut=1",
            )
        return self._namespace.stonewall_calls[name]

    def _name(self, repetition: int) -> str:
        """Return the name under which the files of a repetition are known."""
        name = file_name(self._test, 0, repetition)
        return f"{name} and the others" if self._test.file_per_process else name

    def _old_files(self, access: Access, repetition: int) -> Integers:
        """Return the files in the way of a write, which unlinks them (ior.c, RemoveFile)."""
        nothing = np.zeros(0, np.int64)
        if access is not Access.WRITE or self._test.use_existing_file or self._test.api == "DUMMY":
            return nothing
        old = self._namespace.files.pop(self._name(repetition), None)
        if old is None:
            return nothing
        count = len(self._ranks) if self._test.file_per_process else 1
        return old.first + np.arange(min(count, len(old.osts)), dtype=np.int64)

    def _remove(self, repetition: int) -> Waiting:
        """Unlink the files; DUMMY has none.

        Each rank removes the one that it has opened last, which with ``-C`` is another's; with
        ``-Z`` it goes back to its own (ior.c, RemoveFile).
        """
        files = self._namespace.files.pop(self._name(repetition))
        mine = self._opened
        if not self._test.file_per_process:
            mine = mine[:1]
        elif self._test.reorder_random:
            mine = files.first + np.arange(len(mine))
        clock = self._filesystem.environment
        started = float(clock.now)
        self._untimed.before_removal(mine)
        if self._test.api != "DUMMY":
            yield from self._unlink(mine)
        seconds = float(clock.now) - started
        self._removals.append(Removal(repetition=repetition, seconds=seconds))

    def _unlink(self, files: Integers) -> Waiting:
        batch = Batch(self._ranks.programs[: len(files)])
        batch.add(Op.UNLINK, file=files)
        yield self._filesystem.run(batch)


def _occupy(job: Job, size: int, before: int = 0) -> None:
    """Take so many bytes of the memory of each node of a job, in place of ``before``.

    What the page cache has less counts there as pages that are dirty, and never written nor
    dropped.
    """
    kept = [_kept_from_cache(job.machine, taken) for taken in (before, size)]
    limits = dirty_limits(job.machine, size)
    job.filesystem.plane.occupy(job.nodes, kept[1] - kept[0], limits)


def _kept_from_cache(machine: Machine, occupied: int) -> int:
    """Return the bytes that a node's page cache has less while so many bytes are occupied.

    Lustre caches up to half of a node's memory (max_cached_mb), and no more than what is left:
    a small occupation costs the cache nothing.
    """
    left = machine.nodes.memory - occupied
    return max(machine.nodes.max_cached - left, 0)
