"""One phase of an IOR test: open, transfer, close, as batches of what all ranks do.

Within a phase every rank goes on by itself, unless its calls are collective; ranks meet only before
and after the phase, and with ``-g`` also before and after the transfers (IOR 4.1, TestIoSys).
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import simpy

from xc40io.engine.types import Floats, Integers
from xc40io.machine.filesystem import FileSystem
from xc40io.plane.batch import Batch
from xc40io.plane.operations import Op
from xc40io.workloads.ior.backend import Backend, Task, add_calls
from xc40io.workloads.ior.outcome import PhaseRecord, Stonewall
from xc40io.workloads.ior.pattern import offsets
from xc40io.workloads.job import Waiting
from xc40io.workloads.job_results import stretch_of
from xc40io.workloads.settling import Settling

Filling: TypeAlias = Generator[simpy.Event, Any, Batch]
"""What runs batches as it goes, and returns the one that is to be gone on with."""

# What every rank notes in a phase, in the order of IOR's clock readings; and, where a deadline
# stops collective calls, the time at which it has made the latest.
_OPEN_START, _OPEN_END, _IO_START, _IO_END, _CLOSE_START, _CLOSE_END, _CALLED = range(7)

_CALLS_AT_ONCE = 1 << 17
"""Collective calls of single ranks in one batch: each is some ten operations of 56 bytes."""


@dataclass(kw_only=True)
class Phase:
    """One phase of one repetition."""

    filesystem: FileSystem  # where the files are
    # what to do, and the API that does it
    task: Task
    backend: Backend
    # seconds in which rank 0 tells the others whether a deadline stops their collective calls
    decision: float = 0.0
    meeting: int = -1  # where they wait for it
    call_limit: Integers | int | None = None  # most calls of each rank, or of all
    # ends calls with a deadline before it, once they go on at one pace
    settling: Settling | None = None
    stonewall: Stonewall | None = None  # the state at the deadline, if the ranks then wore on

    def run(self) -> Waiting:
        """Open, transfer, close; meet in between if the test asks for it."""
        test, ranks = self.task.test, self.task.ranks
        self._calls = np.zeros(len(ranks), np.int64)
        self._waited = self.task.ranks.waited(self.filesystem.plane)
        self._timed = self._timers()
        batch = ranks.batch(threads=not test.barriers)
        self._mark(batch, _OPEN_START)
        self.backend.open(batch)
        self._mark(batch, _OPEN_END)
        if test.barriers:
            yield from self._do(batch)
            batch = ranks.batch()
        self._mark(batch, _IO_START)
        if test.prefill and self.task.writes:
            batch = yield from self._prefilled(batch)
        batch = yield from self._transfers(batch, np.zeros_like(self._calls), self._all_calls())
        if test.min_duration:
            batch = yield from self._repeated(batch)
        if test.wear_out:
            self._mark(batch, _IO_END)
            yield from self._do_until_settled(batch)
            batch = yield from self._worn_out(ranks.batch())
        if test.fsync and self.task.writes:
            self.backend.sync(batch)
        self._mark(batch, _IO_END)
        if test.barriers:
            yield from self._do(batch)
            batch = ranks.batch(threads=False)
        self._mark(batch, _CLOSE_START)
        self.backend.close(batch)
        self._mark(batch, _CLOSE_END)
        yield from self._do(batch)
        if self.backend.counted and (test.deadline or test.min_duration):
            self.backend.recount(self._calls)

    def record(self, repetition: int) -> PhaseRecord:
        """Return the clock readings of all ranks."""
        times = self.filesystem.marks(self.task.ranks.programs)
        opened, closed = times[:, _OPEN_START], times[:, _CLOSE_END]
        timers = self._timers()
        timers -= self._timed
        mpi = self.backend.record(timers)
        del timers
        waited = self.task.ranks.waited(self.filesystem.plane).since(self._waited)
        return PhaseRecord(
            access=self.task.access,
            repetition=repetition,
            open_start=opened,
            open_end=times[:, _OPEN_END],
            io_start=times[:, _IO_START],
            io_end=times[:, _IO_END],
            close_start=times[:, _CLOSE_START],
            close_end=closed,
            calls=self._calls,
            bytes_moved=int(self._calls.sum()) * self.task.test.transfer_size,
            stretch=stretch_of(float(opened.min()), closed, waited),
            stonewall=self.stonewall,
            mpi=mpi,
        )

    def _prefilled(self, batch: Batch) -> Filling:
        """Let every rank fill its own blocks in order, in calls of another size; then they meet.

        IOR does that within the time of the transfers, but does not count the bytes.
        """
        task = self.task
        in_order = replace(task.test, transfer_size=task.test.prefill, random_offset=0)
        filling = replace(task, test=in_order, pattern=offsets(in_order, task.ranks.all))
        calls = np.diff(filling.pattern.first)
        rank, _, offset = filling.calls(np.zeros_like(calls), calls)
        add_calls(batch, filling, rank, task.file[rank], offset)
        yield from self._do(batch)
        self._calls[:] = 0
        return task.ranks.batch()

    def _repeated(self, batch: Batch) -> Filling:
        """Let every rank make its calls again and again until the test has taken long enough.

        Whoever has none waits as long, and so does who may begin none any more: after a deadline
        that comes first.
        """
        test, ranks, has_calls = self.task.test, self.task.ranks.all, self._all_calls() > 0
        seconds = min(test.min_duration, test.deadline or test.min_duration)
        batch.add(Op.REPEAT, ranks[has_calls], mark=_IO_START, seconds=seconds)
        batch.add(Op.THINK, ranks[~has_calls], seconds=test.min_duration)
        if seconds == test.min_duration:
            return batch
        yield from self._do(batch)
        began = self.filesystem.marks(self.task.ranks.programs)[:, _IO_START]
        batch = self.task.ranks.batch()
        batch.add(Op.UNTIL, ranks, seconds=began + test.min_duration)
        return batch

    def _mark(self, batch: Batch, column: int) -> None:
        """Let every rank note the time."""
        batch.add(Op.MARK, self.task.ranks.all, mark=column)

    def _timers(self) -> Floats:
        """Return what each rank's timers show: float64 (ranks, timers)."""
        return self.filesystem.timers(self.task.ranks.programs)

    def _do(self, batch: Batch) -> Waiting:
        """Run a batch and count its calls."""
        yield self.filesystem.run(batch)
        if self.backend.counted:
            calls, ranks = self.filesystem.calls(batch.programs), len(self.task.ranks)
            made = calls[:ranks] + calls[ranks:].reshape(ranks, -1).sum(axis=1)
            self._calls += made // self.backend.pieces

    def _do_until_settled(self, batch: Batch) -> Waiting:
        """Run a batch and count its calls; end it before its deadline if it has settled."""
        settling, counted = self.settling, self.backend.counted
        if settling is None or not counted:
            yield from self._do(batch)
            return
        ranks = self.task.ranks
        programs = ranks.programs if ranks.threads == 1 else ranks.followers.ravel()
        room = -(-int(self._all_calls().max()) // ranks.threads)
        written = self.task.test.transfer_size if self.task.writes else 0
        watch = settling.watch(self.filesystem, programs, room, written)
        self.filesystem.environment.process(watch)
        yield from self._do(batch)
        settling.end()

    def _all_calls(self) -> Integers:
        """Return how many calls each rank is to make."""
        calls = np.diff(self.task.pattern.first)
        return calls if self.call_limit is None else np.minimum(calls, self.call_limit)

    def _transfers(self, batch: Batch, begin: Integers, end: Integers) -> Filling:
        """Let rank r make its calls ``begin[r]`` to ``end[r] - 1``."""
        test = self.task.test
        deadline = test.deadline if not self._calls.any() else 0
        if test.collective and not self.backend.counted:
            return (yield from self._together(batch, int(begin[0]), int(end[0]), deadline))
        self.backend.transfer(batch, begin, end, limit=deadline or None)
        if not self.backend.counted:
            self._calls += np.maximum(end - begin, 0)
        return batch

    def _together(self, batch: Batch, begin: int, end: int, deadline: float) -> Filling:
        """Let all ranks make their collective calls ``begin`` to ``end - 1``.

        With a deadline, rank 0 looks at its clock after each call and tells the others whether to
        go on (IOR 4.1, WriteOrRead).
        """
        ranks = self.task.ranks
        step = 1 if deadline else max(1, _CALLS_AT_ONCE // len(ranks))
        for first in range(begin, end, step):
            last = min(first + step, end)
            self.backend.transfer(batch, np.full(len(ranks), first), np.full(len(ranks), last))
            self._calls += last - first
            if not deadline and last == end:
                break
            if deadline:
                self._mark(batch, _CALLED)
                batch.add(
                    Op.MEET,
                    ranks.all,
                    meeting=self.meeting,
                    members=len(ranks),
                    seconds=self.decision,
                )
            yield from self._do(batch)
            batch = ranks.batch()
            if deadline:
                times = self.filesystem.marks(ranks.programs[:1])[0]
                seconds = float(times[_CALLED] - times[_IO_START])
                if seconds > deadline or self._has_settled(seconds, end):
                    break
        return batch

    def _has_settled(self, seconds: float, room: int) -> bool:
        """Tell whether collective calls go on at one pace, so many seconds after the first."""
        settling = self.settling
        return settling is not None and settling.has_settled(seconds, self._calls, room)

    def _worn_out(self, batch: Batch) -> Filling:
        """After the deadline, let all ranks make as many calls as the fastest has made."""
        done = self._calls.copy()
        times = self.filesystem.marks(self.task.ranks.programs)
        self.stonewall = Stonewall(
            time=float(times[0, _IO_END] - times[0, _IO_START]),
            calls_min=int(done.min()),
            calls_max=int(done.max()),
            bytes_min=int(done.min()) * self.task.test.transfer_size,
            bytes_mean=int(done.mean() * self.task.test.transfer_size),
        )
        goal = np.minimum(self._all_calls(), done.max())
        return (yield from self._transfers(batch, done, goal))
