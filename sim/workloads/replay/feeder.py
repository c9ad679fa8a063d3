"""Feeding: each rank gets its next operations, its own and its calls', after the last ones.

No rank waits for another but where the trace has them wait. The lists of the ranks are cut into
pieces, so that what is in memory does not grow with the trace; only a short trace is handed over as
a whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

import numpy as np

from xc40io.engine.types import Floats, Integers
from xc40io.mpi.stats import Timer
from xc40io.plane.library_calls import ALONE, OWN
from xc40io.plane.operations import Op, Operations, join_operations, make_operations, no_operations
from xc40io.workloads.job import LAST_MARK, Job, Waiting
from xc40io.workloads.replay.intake import Intake, Rows, Timing
from xc40io.workloads.replay.outcome import NO_FILE, Call, Times, code_of
from xc40io.workloads.replay.windows import Planner, ReplayFiles, Window
from xc40io.workloads.trace import TraceOp

_KINDS = np.zeros(len(TraceOp), np.int64)  # operation of the data plane by that of the trace
_CODES = np.zeros((2, len(TraceOp)), np.int64)  # call and part of it by API and operation
for _op in TraceOp:
    if _op < TraceOp.COMPUTE:
        _KINDS[_op] = int(Op[_op.name])
        _CODES[:, _op] = code_of(NO_FILE, [Call.POSIX_META, Call.MPI_META], [0, Timer.OPEN])
for _op, _calls, _timer in (
    (TraceOp.READ, [Call.POSIX_READ, Call.MPI_READ], Timer.INDEPENDENT),
    (TraceOp.WRITE, [Call.POSIX_WRITE, Call.MPI_WRITE], Timer.INDEPENDENT),
    (TraceOp.FSYNC, [Call.POSIX_SYNC, Call.MPI_SYNC], Timer.SYNC),
):
    _CODES[:, _op] = code_of(NO_FILE, _calls, [0, _timer])

_THINKING = int(code_of(NO_FILE, Call.COMPUTE))
_FILE_STEP = int(code_of(0, 0)) - int(code_of(NO_FILE, 0))


class OperationList(NamedTuple):
    """Operations, rank after rank, and before which row of its rank each is done."""

    operations: Operations  # OPERATION records; `timer` holds the codes of what time is spent for
    rank: Integers  # int64 (operations,): whose they are
    position: Integers  # int64 (operations,): how many rows of the rank come before


class Assembler:
    """Makes operations of what the intake has; the job ``began`` then, in simulated seconds."""

    def __init__(self, intake: Intake, files: ReplayFiles, timing: Timing, began: float) -> None:
        together = intake.together
        self._together, self._number = together, files.number
        self._pause = Op.UNTIL if timing == "start" else Op.THINK
        self._offset = began if timing == "start" else 0.0
        self._waits = bool((together.seconds > 0.0).any())
        self._calls = len(together.place) + 1
        self._place = together.place[together.call]
        self._pair = together.rank * self._calls + self._place  # ascending
        self._first = np.searchsorted(together.rank, np.arange(intake.trace.ranks + 1))

    def calls_before(self, rank: int, place: int) -> int:
        """Return how many of all parts of ranks in calls are before a rank's at a place."""
        return int(np.searchsorted(self._pair, rank * self._calls + place))

    def calls(self, window: Window, ranks: range, done: Integers) -> OperationList:
        """Return what the calls of a window make ranks do, one rank after the next.

        Where a rank takes part with nothing, it does so right after its call before. ``done``,
        int64 (ranks,), is how many rows each has done before the window.
        """
        part = slice(int(window.bounds[ranks.start]), int(window.bounds[ranks.stop]))
        count = np.diff(window.bounds[ranks.start : ranks.stop + 1])
        rank = np.repeat(ranks, count)
        operations, place = window.operations[part], window.place[part]
        pair = np.searchsorted(self._pair, rank * self._calls + place, side="right") - 1
        earliest = np.searchsorted(self._pair, np.array(ranks) * self._calls + window.first)
        own = pair >= np.repeat(earliest, count)
        position = np.where(
            own, np.append(self._together.position, 0)[pair], np.repeat(done, count)
        )
        listed = OperationList(operations, rank, position)
        if not self._waits:
            return listed
        return self._with_pauses(listed, place, window, ranks)

    def _with_pauses(
        self, listed: OperationList, place: Integers, window: Window, ranks: range
    ) -> OperationList:
        """Add what the ranks compute before their calls, or until when."""
        together = self._together
        first, stop = int(self._first[ranks.start]), int(self._first[ranks.stop])
        inside = (self._place[first:stop] >= window.first) & (self._place[first:stop] < window.stop)
        waits = np.flatnonzero(inside & (together.seconds[first:stop] > 0.0)) + first
        rank = np.concatenate([together.rank[waits], listed.rank])
        turn = np.concatenate([2 * self._place[waits], 2 * place + 1])
        order = np.lexsort((turn, rank))
        pauses = self._pauses(together.seconds[waits])
        position = np.concatenate([together.position[waits], listed.position])
        operations = join_operations([pauses, listed.operations])
        return OperationList(operations[order], rank[order], position[order])

    def rows(self, rows: Rows, rank: Integers, position: Integers) -> OperationList:
        """Return the operations of rows; int64 (rows,): the rank of each row, its number there."""
        operations = no_operations(len(rows))
        operations["kind"] = _KINDS[rows["op"]]
        if len(rows):
            operations["file"] = np.append(self._number, 0)[rows["file"]]
        for column in ("offset", "length", "stride", "count"):
            operations[column] = rows[column]
        file = rows["file"].astype(np.int64) - NO_FILE
        operations["timer"] = _CODES[rows["mpi"], rows["op"]] + file * _FILE_STEP
        operations["tag"] = np.where(rows["mpi"], ALONE, OWN)
        waits = np.flatnonzero(rows["seconds"] > 0.0)
        if not len(waits):
            return OperationList(operations, rank, position)
        moves = np.flatnonzero(rows["op"] != TraceOp.COMPUTE)
        row = np.concatenate([waits, moves])
        order = np.argsort(row, kind="stable")
        both = join_operations([self._pauses(rows["seconds"][waits]), operations[moves]])
        row = row[order]
        return OperationList(both[order], rank[row], position[row])

    def _pauses(self, seconds: Floats) -> Operations:
        """Return operations that compute: for so long, or until then."""
        seconds = seconds + self._offset
        return make_operations(self._pause, len(seconds), seconds=seconds, timer=_THINKING)


def merged(calls: OperationList, rows: OperationList) -> tuple[Operations, Integers]:
    """Return all operations in the order in which ranks do them, and whose they are.

    What calls make a rank do comes before the row at the same place.
    """
    if not len(calls.operations):
        return rows.operations, rows.rank
    rank = np.concatenate([calls.rank, rows.rank])
    turn = np.concatenate([2 * calls.position, 2 * rows.position + 1])
    order = np.lexsort((turn, rank))
    return join_operations([calls.operations, rows.operations])[order], rank[order]


AT_ONCE = 6 << 20
"""Operations, about, up to which a trace is handed over as a whole."""

ROWS = 1 << 19
"""Rows of all ranks that are with the data plane at a time, about, of a longer one."""

LEAST, MOST = 128, 4096
"""Fewest and most rows of a piece."""


Piece = tuple[Operations, int | None]
"""What a rank is given at a time: ``OPERATION`` records, whose ``timer`` holds the codes of what
their time is spent for, and the transfers that they begin, as the data plane holds them."""


class Feeder:
    """Feeds the programs of all ranks of a job with what the intake has."""

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
        self.times = Times(self._ranks)  # what the ranks spent
        # float64 (ranks,): when each had done everything, in simulated seconds.
        self.end: Floats = np.full(self._ranks, began)
        self._behind = 0  # rows that ranks have behind them, and their parts in calls
        job.share_done.append(self._share_done)

    def _share_done(self) -> float:
        """Return how much of their rows and calls the ranks have behind them, 0 to 1."""
        return self._behind / max(1, int(self._rows.sum()) + len(self._intake.together.rank))

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
        processes = [environment.process(self._rank(rank)) for rank in range(self._ranks)]
        yield environment.all_of(processes)

    def _whole(self, window: Window) -> Waiting:
        """Replay everything in one go; the window has all collective calls."""
        operations, rank = self._everything(window)
        self._windows[0] = window._replace(operations=no_operations(0))  # they are in the list
        codes, codes_rank, operations["timer"] = self._columns(operations["timer"], rank)
        bounds = np.append(0, np.cumsum(np.bincount(rank, minlength=self._ranks)))
        programs, environment = self._job.programs[: self._ranks], self._job.filesystem.environment
        self._job.filesystem.place_files(operations, programs[rank])
        number = self._plane.batches.submit(
            programs, operations, bounds, environment.now, held=window.held
        )
        count = len(operations)
        self._job.share_done.append(lambda: 1.0 - self._plane.operations_left(programs) / count)
        del operations, rank
        yield environment.batch_event(number)
        first = np.searchsorted(codes_rank, np.arange(self._ranks))
        local = np.arange(len(codes)) - first[codes_rank]
        self.times.add(codes_rank, codes, self._plane.timers[local, programs[codes_rank]])
        self._plane.timers[:, programs] = 0.0
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

        Returns the code and the rank of each timer, int64 (timers,): sorted by rank, each rank's
        from column 0 on; and the column of each operation, int64 (operations,).
        """
        size = int(code.max(initial=0)) + 1
        keys, inverse = np.unique(rank * size + code, return_inverse=True)
        codes_rank, codes = np.divmod(keys, size)
        first = np.searchsorted(codes_rank, np.arange(self._ranks))
        self._plane.widen(timers=int(np.bincount(codes_rank).max(initial=0)))
        return codes, codes_rank, inverse - first[rank]

    def _rank(self, rank: int) -> Waiting:
        """Replay one rank, piece by piece."""
        filesystem, environment = self._job.filesystem, self._job.filesystem.environment
        programs = self._job.programs[rank : rank + 1]
        going_on = False
        for operations, held in self._pieces(rank):
            codes, column = np.unique(operations["timer"], return_inverse=True)
            operations["timer"] = column
            self._plane.widen(timers=len(codes))
            bounds = np.array([0, len(operations)])
            filesystem.place_files(operations, np.repeat(programs, len(operations)))
            number = self._plane.batches.submit(
                programs, operations, bounds, environment.now, going_on=going_on, held=held
            )
            yield environment.batch_event(number)
            shown = self._plane.timers[: len(codes), programs[0]]
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
            self._behind += following - first
            self._leave(number)
            if last:
                return
            first, done, number = following, end, number + 1

    def _in_window(
        self, rank: int, held: int | None, calls: OperationList, done: int, end: int
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
                yield operations, held
            self._behind += stop - done
            done, taken = stop, upto


def _part(listed: OperationList, first: int, stop: int) -> OperationList:
    """Return some operations; a copy."""
    part = slice(first, stop)
    return OperationList(listed.operations[part].copy(), listed.rank[part], listed.position[part])
