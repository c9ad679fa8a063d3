"""A pattern of h5bench through HDF5's asynchronous connector: a thread of each rank does its calls.

The calls of a time step wait in a queue until the rank makes no more of them; what it writes is
copied first, as the connector does that h5bench's own tests are built with
(``ENABLE_WRITE_MEMCPY``). A rank waits for the time steps that it has closed (``H5ESwait``): for
their groups and datasets, then for their data. While it computes it sleeps, as h5bench does, so
that it is all the same which core its thread has.

The real library has one lock. There a rank that waits for a group waits for the data that its
thread is just at, too, and h5bench counts that as metadata (its issue 117); here each second is
counted where it belongs.
"""

from __future__ import annotations

import numpy as np

from xc40io.plane.operations import Op
from xc40io.workloads.background import CHECK, Background
from xc40io.workloads.h5bench.benchmarks import PARTICLE
from xc40io.workloads.h5bench.pattern_run import PatternRun
from xc40io.workloads.job import LAST_MARK, Waiting

_CALL, _CALLED, _WAIT, _MADE, _DONE = range(5)  # marks of a time step
_EACH = _DONE + 1


class PatternInBackground(PatternRun):
    """One benchmark of particles at work, in the background."""

    def _time_steps(self) -> Waiting:
        """Go through the time steps, all in one batch; wait at last for what is left."""
        task, job = self._task, self._job
        assert task.delay is not None
        job.filesystem.plane.widen(marks=LAST_MARK + 1 + _EACH * task.steps)
        self._background = background = Background(job)
        self._counts: list[tuple[int, int]] = []  # of each step: when it is made, and done
        waited = 0
        for number in range(task.steps):
            # Those that are closed by now, of which enough are waited for.
            closed = number if task.delay == 0 or number >= task.delay else 0
            while waited < closed and self._held(number + 1 - waited):
                self._wait(waited)
                waited += 1
            self._queue(number)
            if number + 1 < task.steps:
                background.batch.add(Op.THINK, job.all_ranks.all, seconds=task.compute)
        for number in range(waited, task.steps):
            self._wait(number)
        yield from job.do(background.finish(), self._label)
        self._tell()

    def _held(self, steps: int) -> bool:
        """Tell whether so many time steps are too many to be left to the threads.

        h5bench counts the bytes of what is written, but the elements of what is read.
        """
        task = self._task
        return steps * task.moved // (1 if self._writes else PARTICLE) >= task.limit

    def _queue(self, number: int) -> None:
        """Let the threads do a time step, and the ranks go on."""
        task, background = self._task, self._background
        copied = np.full(self._job.ranks, task.moved) if self._writes else None
        prepare, move = self._calls(number)
        self._mark(number, _CALL)
        with background.handing_over(copied, CHECK * (1 + 2 * task.datasets)):
            prepare(background.batch)
            background.count()
            made = background.counted
            move(background.batch)
        self._counts.append((made, background.counted))
        self._mark(number, _CALLED)

    def _wait(self, number: int) -> None:
        """Let the ranks wait for a time step."""
        self._mark(number, _WAIT)
        for mark, count in zip((_MADE, _DONE), self._counts[number], strict=True):
            self._background.wait(count)
            self._mark(number, mark)

    def _mark(self, number: int, mark: int) -> None:
        place = LAST_MARK + 1 + _EACH * number + mark
        self._background.batch.add(Op.MARK, self._job.all_ranks.all, mark=place)

    def _tell(self) -> None:
        """Add the rows of all time steps: what its calls took, and the waits for it."""
        task, job = self._task, self._job
        marks = job.marks()[:, LAST_MARK + 1 :]
        call = "H5Dwrite_async" if self._writes else "H5Dread_async"
        for number in range(task.steps):
            times = marks[:, _EACH * number :][:, :_EACH].T
            for name, begin, end in ((call, _CALL, _CALLED), ("H5ESwait", _MADE, _DONE)):
                job.record(self._step, f"{name} {number}", times[begin], times[end])
            self._metadata += float(times[_MADE, 0] - times[_WAIT, 0])
            self._raw += float((times[_CALLED] - times[_CALL] + times[_DONE] - times[_MADE])[0])
