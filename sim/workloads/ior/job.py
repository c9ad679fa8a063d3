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
from sim.engine.types import Floats, Integers
from sim.lustre.batch import Batch
from sim.lustre.filesystem import FileSet, FileSystem
from sim.lustre.tables import Cause, Op
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
    threads
        I/O threads of a rank. One is the rank itself; several are the programs that follow its
        own, and its calls are dealt to them in turn.
    """

    programs: Integers
    per_node: int
    threads: int = 1

    @property
    def followers(self) -> Integers:
        """The programs of the threads where a rank has several: int64 (ranks, threads)."""
        return self.programs[:, None] + 1 + np.arange(self.threads)

    def waits(self, of_programs: Floats) -> Floats:
        """Return the seconds that each rank waited: float64 (ranks, causes).

        What its threads waited for, on average, stands in place of the rank's wait for them.
        """
        waits = of_programs[self.programs]
        if self.threads > 1:
            of_threads = of_programs[self.followers].mean(axis=1)
            waits += of_threads
            waits[:, Cause.THREADS] -= of_threads.sum(axis=1)
        return waits


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
            ranks=ranks,
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
        direct = test.direct_io and test.api == "POSIX"
        if known is not None and keeps and len(known.osts) >= count:
            self._filesystem.plane.tables.files.direct[known.first :][: len(known.osts)] = direct
            return known, False
        bytes_each = test.aggregate_bytes(len(self._ranks.programs)) // count
        files = self._filesystem.allocate(
            count,
            self._striping,
            size=0 if access is Access.WRITE else bytes_each,
            direct=direct,
            shared_directory=not test.unique_directory,
        )
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


@dataclass(kw_only=True)
class _Phase:
    """One phase of one repetition.

    ``file`` holds the file number of every rank; ``fresh`` says whether the phase creates the
    files; ``call_limit`` bounds the calls of a rank.
    """

    filesystem: FileSystem
    ranks: Ranks
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
        self._calls = np.zeros(len(self.ranks.programs), np.int64)
        self._waited = self._waits()
        batch = self._opening(self._batch(threads=not test.barriers))
        if test.barriers:
            yield from self._do(batch)
            batch = self._batch()
        self._add(batch, Op.MARK, offset=_IO_START)
        self._transfers(batch, np.zeros_like(self._calls), self._all_calls())
        if test.wear_out:
            self._add(batch, Op.MARK, offset=_IO_END)
            yield from self._do(batch)
            batch = self._worn_out(self._batch())
        if test.min_duration:
            self._add(batch, Op.REPEAT, offset=_IO_START, seconds=test.min_duration)
        if test.fsync and self.access is Access.WRITE:
            self._add(batch, Op.FSYNC, file=self.file)
        self._add(batch, Op.MARK, offset=_IO_END)
        if test.barriers:
            yield from self._do(batch)
            batch = self._batch(threads=False)
        self._add(batch, Op.MARK, offset=_CLOSE_START)
        self._add(batch, Op.CLOSE, file=self.file)
        self._add(batch, Op.MARK, offset=_CLOSE_END)
        yield from self._do(batch)

    def _batch(self, *, threads: bool = True) -> Batch:
        """Return an empty batch of all ranks, their threads resting unless it has none."""
        leaders = self.ranks.programs
        if self.ranks.threads == 1 or not threads:
            return Batch(leaders)
        batch = Batch(np.concatenate([leaders, self.ranks.followers.ravel()]))
        batch.add(Op.PARK, np.arange(len(leaders), len(batch.programs)))
        return batch

    def _add(self, batch: Batch, kind: Op | Integers, **fields: npt.ArrayLike) -> None:
        """Let every rank do one more operation."""
        batch.add(kind, np.arange(len(self.ranks.programs)), **fields)

    def record(self, repetition: int) -> PhaseRecord:
        """Return the clock readings of all ranks."""
        times = self.filesystem.marks(self.ranks.programs)
        waits = self._waits() - self._waited
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
            waits=waits.mean(axis=0),
            last_waits=waits[times[:, _CLOSE_END].argmax()],
            stonewall=self.stonewall,
        )

    def _waits(self) -> Floats:
        """Return the seconds that each rank has waited so far: float64 (ranks, causes)."""
        return self.ranks.waits(self.filesystem.plane.tables.waits)

    def _do(self, batch: Batch) -> Waiting:
        """Run a batch and count its calls."""
        yield self.filesystem.run(batch)
        calls = self.filesystem.calls(batch.programs)
        ranks = len(self.ranks.programs)
        self._calls += calls[:ranks] + calls[ranks:].reshape(ranks, -1).sum(axis=1)

    def _all_calls(self) -> Integers:
        """Return how many calls each rank is to make."""
        calls = np.diff(self.pattern.first)
        return calls if self.call_limit is None else np.minimum(calls, self.call_limit)

    def _opening(self, batch: Batch) -> Batch:
        """Let every rank open its file; whoever is first to open a new one creates it."""
        creates = np.zeros(len(self.file), bool)
        if self.fresh:
            creates[np.unique(self.file, return_index=True)[1]] = True
        self._add(batch, Op.MARK, offset=_OPEN_START)
        self._add(batch, np.where(creates, Op.CREATE, Op.OPEN), file=self.file)
        self._add(batch, Op.MARK, offset=_OPEN_END)
        return batch

    def _transfers(self, batch: Batch, begin: Integers, end: Integers) -> None:
        """Let rank r make its calls ``begin[r]`` to ``end[r] - 1``, by itself or by its threads."""
        ranks, threads = len(self.ranks.programs), self.ranks.threads
        count = np.maximum(end - begin, 0)
        rank = np.repeat(np.arange(ranks), count)
        turn = np.arange(len(rank)) - np.repeat(np.cumsum(count) - count, count)
        offset = self.pattern.offset[self.pattern.first[rank] + begin[rank] + turn]
        workers = np.arange(ranks) if threads == 1 else np.arange(ranks, ranks * (1 + threads))
        worker = rank if threads == 1 else ranks + rank * threads + turn % threads
        if self.test.deadline and not self._calls.any():
            batch.add(Op.LIMIT, workers, seconds=self.test.deadline)
        if threads > 1:
            self._add(batch, Op.FORK, count=threads)
        order = np.argsort(worker, kind="stable")
        self._call(batch, worker[order], self.file[rank[order]], offset[order])
        if threads > 1:
            self._add(batch, Op.JOIN)

    def _call(self, batch: Batch, worker: Integers, file: Integers, offset: Integers) -> None:
        """Let workers make calls, each followed by an fsync or a delay if the test asks for it."""
        test, size = self.test, self.test.transfer_size
        kind = Op.READ if self.access.reads else Op.WRITE
        between: list[Op] = []
        if test.fsync_per_write and kind is Op.WRITE:
            between.append(Op.FSYNC)
        if test.call_delay:
            between.append(Op.THINK)
        if between:
            kinds = [kind, *between]
            batch.add(
                np.tile(kinds, len(worker)),
                np.repeat(worker, len(kinds)),
                file=np.repeat(file, len(kinds)),
                offset=np.repeat(offset, len(kinds)),
                length=size,
                count=1,
                seconds=test.call_delay,
            )
            return
        start, calls = _runs(worker, offset, size)
        batch.add(
            kind,
            worker[start],
            file=file[start],
            offset=offset[start],
            length=size,
            stride=size,
            count=calls,
        )

    def _worn_out(self, batch: Batch) -> Batch:
        """After the deadline, let all ranks make as many calls as the fastest has made."""
        test, done = self.test, self._calls.copy()
        times = self.filesystem.marks(self.ranks.programs)
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
