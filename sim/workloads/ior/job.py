"""IOR at work: the phases of a test as batches of programs on the file system.

Within a phase every rank opens, transfers and closes by itself; ranks meet only before and after
the phase, and with ``-g`` also before and after the transfers (IOR 4.1, TestIoSys).
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import simpy

from sim.config.errors import InputError
from sim.config.striping import StripeRequest
from sim.engine.types import Integers
from sim.lustre.batch import Batch
from sim.lustre.filesystem import FileSet, FileSystem
from sim.lustre.tables import Op
from sim.workloads.ior.parameters import Access, IorTest
from sim.workloads.ior.pattern import Pattern, file_indices, file_name, offsets, pretend_ranks
from sim.workloads.ior.phases import PhaseRecord, Stonewall

Waiting: TypeAlias = Generator[simpy.Event, Any, None]

# What every rank notes in a phase, in the order of IOR's clock readings.
_OPEN_START, _OPEN_END, _IO_START, _IO_END, _CLOSE_START, _CLOSE_END = range(6)


@dataclass(frozen=True)
class Ranks:
    """The ranks of a job.

    Attributes
    ----------
    programs
        int64 (ranks,): the program of each.
    per_node
        Ranks on a node; neighbours share a node.
    """

    programs: Integers
    per_node: int


@dataclass
class Namespace:
    """What one IOR command leaves for its later tests: files kept, and calls at a stonewall."""

    files: dict[str, FileSet] = field(default_factory=dict)
    stonewall_calls: dict[str, int] = field(default_factory=dict)


def striping_of(test: IorTest, striping: StripeRequest) -> StripeRequest:
    """Return the striping of a test's files: its own options go before ``striping``."""
    return StripeRequest(
        count=test.stripe_count or striping.count,
        size=test.stripe_size or striping.size,
        offset=test.start_ost if test.start_ost >= 0 else striping.offset,
    )


class IorJob:
    """One IOR test as a SimPy process.

    Parameters
    ----------
    filesystem
        Where the files are.
    ranks
        Who takes part.
    test
        What to do.
    striping
        Of the files, unless the test itself sets it.
    namespace
        What earlier tests of the same command have left.
    seed
        Of the scenario, for random offsets.

    Attributes
    ----------
    records
        One for each phase that has ended, in order.
    files
        The files of the latest phase.
    """

    def __init__(
        self,
        filesystem: FileSystem,
        ranks: Ranks,
        test: IorTest,
        striping: StripeRequest,
        namespace: Namespace,
        seed: int,
    ) -> None:
        self._filesystem = filesystem
        self._ranks = ranks
        self._test = test
        self._striping = striping_of(test, striping)
        self._namespace = namespace
        self._seed = seed
        self.records: list[PhaseRecord] = []
        self.files: FileSet | None = None

    def run(self) -> Waiting:
        """Do all repetitions: the SimPy process of the test."""
        clock = self._filesystem.environment
        started = clock.now
        for repetition in range(self._test.repetitions):
            for access in self._test.phases:
                yield clock.timeout(self._test.delay)
                yield from self._phase(access, repetition)
            if not self._test.keep_file:
                yield from self._remove(repetition)
            if 0 < self._test.max_duration <= clock.now - started:
                break

    def _phase(self, access: Access, repetition: int) -> Waiting:
        """Run one phase and add its record."""
        test, ranks = self._test, self._ranks
        pretend = pretend_ranks(
            test, access, len(ranks.programs), ranks.per_node, repetition=repetition
        )
        self.files, fresh = self._open_files(access, repetition)
        phase = _Phase(
            filesystem=self._filesystem,
            programs=ranks.programs,
            test=test,
            access=access,
            pattern=offsets(test, access, pretend, seed=self._seed),
            file=self.files.first + file_indices(test, pretend),
            fresh=fresh,
            call_limit=self._call_limit(access),
        )
        yield from phase.run()
        self.records.append(phase.record(repetition))
        if phase.stonewall is not None and test.stonewall_file is not None:
            self._namespace.stonewall_calls[test.stonewall_file] = phase.stonewall.calls_max

    def _open_files(self, access: Access, repetition: int) -> tuple[FileSet, bool]:
        """Find the files of a phase; say whether the phase creates them."""
        test = self._test
        count = len(self._ranks.programs) if test.file_per_process else 1
        name = self._name(repetition)
        known = self._namespace.files.get(name)
        keeps = access is not Access.WRITE or test.use_existing_file
        if known is not None and keeps and len(known.osts) >= count:
            return known, False
        files = self._filesystem.allocate(count, self._striping)
        self._namespace.files[name] = files
        return files, access is Access.WRITE

    def _call_limit(self, access: Access) -> int | None:
        """Return how many calls of a rank an earlier stonewalled write has left to read."""
        name = self._test.stonewall_file
        if name is None or access is Access.WRITE:
            return None
        if name not in self._namespace.stonewall_calls:
            raise InputError(
                f"stoneWallingStatusFile={name}: no earlier test of this command wrote with it; "
                "write with -D SECONDS -k and stoneWallingWearOut=1 first"
            )
        return self._namespace.stonewall_calls[name]

    def _name(self, repetition: int) -> str:
        """Return the name under which the files of a repetition are known."""
        name = file_name(self._test, 0, repetition)
        return f"{name} and the others" if self._test.file_per_process else name

    def _remove(self, repetition: int) -> Waiting:
        """Unlink the files, each by the rank that made it."""
        files = self._namespace.files.pop(self._name(repetition))
        batch = Batch(self._ranks.programs[: len(files.osts)])
        batch.add(Op.UNLINK, file=files.first + np.arange(len(batch.programs)))
        yield self._filesystem.run(batch)
        if not self._namespace.files:
            self._filesystem.plane.forget_files()


@dataclass(kw_only=True)
class _Phase:
    """One phase of one repetition.

    ``file`` holds the file number of every rank; ``fresh`` says whether the phase creates the
    files; ``call_limit`` bounds the calls of a rank.
    """

    filesystem: FileSystem
    programs: Integers
    test: IorTest
    access: Access
    pattern: Pattern
    file: Integers
    fresh: bool
    call_limit: int | None
    stonewall: Stonewall | None = None

    def run(self) -> Waiting:
        """Open, transfer, close; meet in between if the test asks for it."""
        test = self.test
        self._calls = np.zeros(len(self.programs), np.int64)
        batch = self._opening(Batch(self.programs))
        if test.barriers:
            yield from self._do(batch)
            batch = Batch(self.programs)
        if test.deadline:
            batch.add(Op.LIMIT, seconds=test.deadline)
        batch.add(Op.MARK, offset=_IO_START)
        self._transfers(batch, np.zeros_like(self._calls), self._all_calls())
        if test.wear_out:
            batch.add(Op.MARK, offset=_IO_END)
            yield from self._do(batch)
            batch = self._worn_out(Batch(self.programs))
        if test.min_duration:
            batch.add(Op.REPEAT, offset=_IO_START, seconds=test.min_duration)
        if test.fsync and self.access is Access.WRITE:
            batch.add(Op.FSYNC, file=self.file)
        batch.add(Op.MARK, offset=_IO_END)
        if test.barriers:
            yield from self._do(batch)
            batch = Batch(self.programs)
        batch.add(Op.MARK, offset=_CLOSE_START)
        batch.add(Op.CLOSE, file=self.file)
        batch.add(Op.MARK, offset=_CLOSE_END)
        yield from self._do(batch)

    def record(self, repetition: int) -> PhaseRecord:
        """Return the clock readings of all ranks."""
        times = self.filesystem.marks(self.programs)
        return PhaseRecord(
            access=self.access,
            repetition=repetition,
            open_start=times[:, _OPEN_START],
            open_end=times[:, _OPEN_END],
            io_start=times[:, _IO_START],
            io_end=times[:, _IO_END],
            close_start=times[:, _CLOSE_START],
            close_end=times[:, _CLOSE_END],
            calls=self._calls,
            bytes_moved=int(self._calls.sum()) * self.test.transfer_size,
            stonewall=self.stonewall,
        )

    def _do(self, batch: Batch) -> Waiting:
        """Run a batch and count its calls."""
        yield self.filesystem.run(batch)
        self._calls += self.filesystem.calls(self.programs)

    def _all_calls(self) -> Integers:
        """Return how many calls each rank is to make."""
        calls = np.diff(self.pattern.first)
        return calls if self.call_limit is None else np.minimum(calls, self.call_limit)

    def _opening(self, batch: Batch) -> Batch:
        """Let every rank open its file; whoever is first to open a new one creates it."""
        creates = np.zeros(len(self.file), bool)
        if self.fresh:
            creates[np.unique(self.file, return_index=True)[1]] = True
        batch.add(Op.MARK, offset=_OPEN_START)
        batch.add(np.where(creates, Op.CREATE, Op.OPEN), file=self.file)
        batch.add(Op.MARK, offset=_OPEN_END)
        return batch

    def _transfers(self, batch: Batch, begin: Integers, end: Integers) -> None:
        """Let rank r make its calls ``begin[r]`` to ``end[r] - 1``."""
        test, size = self.test, self.test.transfer_size
        kind = Op.READ if self.access.reads else Op.WRITE
        count = np.maximum(end - begin, 0)
        owner = np.repeat(np.arange(len(count)), count)
        turn = np.arange(len(owner)) - np.repeat(np.cumsum(count) - count, count)
        offset = self.pattern.offset[self.pattern.first[owner] + begin[owner] + turn]
        file = self.file[owner]
        between: list[Op] = []
        if test.fsync_per_write and kind is Op.WRITE:
            between.append(Op.FSYNC)
        if test.call_delay:
            between.append(Op.THINK)
        if between:
            kinds = [kind, *between]
            batch.add(
                np.tile(kinds, len(owner)),
                np.repeat(owner, len(kinds)),
                file=np.repeat(file, len(kinds)),
                offset=np.repeat(offset, len(kinds)),
                length=size,
                count=1,
                seconds=test.call_delay,
            )
            return
        start, calls = _runs(owner, offset, size)
        batch.add(
            kind,
            owner[start],
            file=file[start],
            offset=offset[start],
            length=size,
            stride=size,
            count=calls,
        )

    def _worn_out(self, batch: Batch) -> Batch:
        """After the deadline, let all ranks make as many calls as the fastest has made."""
        test, done = self.test, self._calls.copy()
        times = self.filesystem.marks(self.programs)
        self.stonewall = Stonewall(
            time=float(times[0, _IO_END] - times[0, _IO_START]),
            calls_min=int(done.min()),
            calls_max=int(done.max()),
            bytes_min=int(done.min()) * test.transfer_size,
            bytes_mean=int(done.mean() * test.transfer_size),
        )
        goal = test.wear_out_calls or int(done.max())
        self._transfers(batch, done, np.minimum(self._all_calls(), goal))
        return batch


def _runs(
    owner: Integers, offset: Integers, size: int
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Find the runs of calls of one rank that follow each other in the file.

    Returns the first call of each run and its number of calls.
    """
    starts = np.ones(len(owner), bool)
    starts[1:] = (owner[1:] != owner[:-1]) | (offset[1:] != offset[:-1] + size)
    start = np.flatnonzero(starts)
    return start, np.diff(start, append=len(owner))
