"""Feeding: each rank's program gets its next operations when it has done the last ones.

No rank waits for another but where the trace has them wait. The lists of the ranks are cut into
pieces, so that what is in memory does not grow with the trace; only a short trace is handed over as
a whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

import numpy as np

from sim.engine.types import Floats, Integers
from sim.plane.operations import Op, Operations, make_operations, no_operations
from sim.workloads.job import LAST_MARK, Job, Waiting
from sim.workloads.replaying.assembly import Assembler, Listed, merged
from sim.workloads.replaying.files import ReplayFiles
from sim.workloads.replaying.intake import Intake, Timing
from sim.workloads.replaying.outcome import NO_FILE, Call, Times, code_of
from sim.workloads.replaying.windows import Planner, Window

AT_ONCE = 6 << 20
"""Operations, about, up to which a trace is handed over as a whole."""

ROWS = 1 << 19
"""Rows of all ranks that are with the data plane at a time, about, of a longer one."""

LEAST, MOST = 128, 4096
"""Fewest and most rows of a piece."""


class Piece(NamedTuple):
    """What a rank is given at a time.

    Attributes
    ----------
    operations
        ``OPERATION`` records; ``timer`` holds the codes of what their time is spent for.
    held
        The transfers that its ``EXCHANGE`` operations begin, as the data plane holds them.
    """

    operations: Operations
    held: int | None


class Feeder:
    """Feeds the programs of all ranks.

    Parameters
    ----------
    job
        The job.
    intake
        What its ranks do.
    files
        On which files.
    timing
        What the times of the intake mean.

    Attributes
    ----------
    times
        What the ranks spent.
    end
        float64 (ranks,): when each had done everything, in simulated seconds.
    """

    def __init__(self, job: Job, intake: Intake, files: ReplayFiles, timing: Timing) -> None:
        self._job, self._intake = job, intake
        self._ranks = intake.trace.ranks
        self._plane = job.filesystem.plane
        self._planner = Planner(job, intake, files)
        self._windows: list[Window | None] = []  # None: no rank has anything left to do there
        self._left: list[int] = []  # ranks that have not gone beyond each
        self._planned = 0  # calls
        self._rows = intake.rows.counts(self._ranks)
        self._limit = int(np.clip(ROWS // self._ranks, LEAST, MOST))
        began = float(job.filesystem.environment.now)
        self._assembler = Assembler(intake, files, timing, began)
        self.times = Times(self._ranks)
        self.end: Floats = np.full(self._ranks, began)

    def run(self) -> Waiting:
        """Replay everything: the SimPy process."""
        room = AT_ONCE - int(self._rows.sum())
        if room > 0:
            self._add_window(room)
            window = self._window(0)
            if window.stop == self._planner.calls and len(window.operations) <= room:
                yield from self._whole(window)
                return
        environment = self._job.filesystem.environment
        yield environment.all_of(
            [environment.process(self._rank(rank)) for rank in range(self._ranks)]
        )

    def _whole(self, window: Window) -> Waiting:
        """Replay everything in one go; the window has all collective calls."""
        operations, rank = self._everything(window)
        spare = no_operations(0)
        self._windows[0] = window._replace(operations=spare)  # they are in the list by now
        codes, codes_rank, operations["timer"] = self._columns(operations["timer"], rank)
        bounds = np.append(0, np.cumsum(np.bincount(rank, minlength=self._ranks)))
        programs, environment = self._job.programs[: self._ranks], self._job.filesystem.environment
        number = self._plane.batches.submit(
            programs, operations, bounds, environment.now, held=window.held
        )
        del operations, rank
        yield environment.batch_event(number)
        first = np.searchsorted(codes_rank, np.arange(self._ranks))
        local = np.arange(len(codes)) - first[codes_rank]
        self.times.add(codes_rank, codes, self._plane.timers[programs[codes_rank], local])
        self._plane.timers[programs] = 0.0
        self.end[:] = self._plane.marks[programs, LAST_MARK]
        self._left[0] = 1
        self._leave(0)

    def _everything(self, window: Window) -> tuple[Operations, Integers]:
        """Return all operations, rank after rank, and whose they are; the last ones are marks."""
        rank = np.repeat(np.arange(self._ranks), self._rows)
        position = np.arange(len(rank)) - (np.cumsum(self._rows) - self._rows)[rank]
        counts = enumerate(self._rows.tolist())
        rows = np.concatenate([self._intake.rows.take(number, count) for number, count in counts])
        alone = self._assembler.rows(rows, rank, position)
        del rows, rank, position
        calls = self._assembler.calls(window, range(self._ranks), np.zeros(self._ranks, np.int64))
        operations, rank = merged(calls, alone)
        del calls, alone
        no_time = code_of(NO_FILE, Call.COMPUTE)
        ends = make_operations(Op.MARK, self._ranks, mark=LAST_MARK, timer=no_time)
        places = np.searchsorted(rank, np.arange(self._ranks), side="right")
        return np.insert(operations, places, ends), np.insert(rank, places, np.arange(self._ranks))

    def _columns(self, code: Integers, rank: Integers) -> tuple[Integers, Integers, Integers]:
        """Give each rank a timer for each code among its operations.

        Returns
        -------
        int64 (timers,), int64 (timers,)
            The code of each timer, and its rank: sorted by rank, each rank's from column 0 on.
        int64 (operations,)
            The column of each operation.
        """
        size = int(code.max(initial=0)) + 1
        keys, inverse = np.unique(rank * size + code, return_inverse=True)
        codes_rank, codes = np.divmod(keys, size)
        first = np.searchsorted(codes_rank, np.arange(self._ranks))
        self._plane.widen(timers=int(np.bincount(codes_rank).max(initial=0)))
        return codes, codes_rank, inverse - first[rank]

    def _rank(self, rank: int) -> Waiting:
        """Replay one rank, piece by piece."""
        environment = self._job.filesystem.environment
        programs = self._job.programs[rank : rank + 1]
        going_on = False
        for operations, held in self._pieces(rank):
            codes, column = np.unique(operations["timer"], return_inverse=True)
            operations["timer"] = column
            self._plane.widen(timers=len(codes))
            bounds = np.array([0, len(operations)])
            number = self._plane.batches.submit(
                programs, operations, bounds, environment.now, going_on=going_on, held=held
            )
            yield environment.batch_event(number)
            shown = self._plane.timers[programs[0], : len(codes)]
            self.times.add(rank, codes, shown.copy())
            shown[:] = 0.0
            going_on = True
        self.end[rank] = environment.now

    def _add_window(self, enough: int | None = None) -> None:
        """Plan the next window."""
        window = self._planner.plan(self._planned, enough)
        self._windows.append(window)
        self._left.append(self._ranks)
        self._planned = window.stop

    def _window(self, number: int) -> Window:
        """Return a window that some rank has not gone beyond; plan it if it is new."""
        if number == len(self._windows):
            self._add_window()
        window = self._windows[number]
        assert window is not None
        return window

    def _leave(self, number: int) -> None:
        """Note that a rank has gone beyond a window; forget it after the last one."""
        self._left[number] -= 1
        window = self._windows[number]
        if self._left[number] or window is None:
            return
        if window.held is not None:
            self._plane.batches.release_transfers(window.held)
        self._windows[number] = None

    def _pieces(self, rank: int) -> Iterator[Piece]:
        """Yield what a rank does.

        With the calls of a window go the rows up to its last call there; what follows belongs to
        the next window.
        """
        done = number = 0
        first = self._assembler.calls_before(rank, 0)
        while True:
            window = self._window(number)
            last = window.stop == self._planner.calls
            following = self._assembler.calls_before(rank, window.stop)
            end = done
            if last:
                end = int(self._rows[rank])
            elif following > first:
                end = int(self._intake.together.position[following - 1])
            calls = self._assembler.calls(window, range(rank, rank + 1), np.array([done]))
            yield from self._in_window(rank, window.held, calls, done, end)
            self._leave(number)
            if last:
                return
            first, done, number = following, end, number + 1

    def _in_window(
        self, rank: int, held: int | None, calls: Listed, done: int, end: int
    ) -> Iterator[Piece]:
        """Yield what a rank does in a window: its rows ``done`` to ``end - 1`` and the calls."""
        taken = 0
        while done < end or taken < len(calls.rank):
            stop = min(end, done + self._limit)
            side: Literal["left", "right"] = "right" if stop == end else "left"
            upto = int(np.searchsorted(calls.position, stop, side))
            rows = self._intake.rows.take(rank, stop - done)
            position = np.arange(done, stop)
            alone = self._assembler.rows(rows, np.full(len(rows), rank), position)
            operations, _ = merged(_part(calls, taken, upto), alone)
            if len(operations):
                yield Piece(operations, held)
            done, taken = stop, upto


def _part(listed: Listed, first: int, stop: int) -> Listed:
    """Return some operations; a copy."""
    part = slice(first, stop)
    return Listed(listed.operations[part].copy(), listed.rank[part], listed.position[part])
