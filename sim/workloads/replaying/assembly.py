"""Putting together what ranks do: their own rows, and the collective calls between them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sim.engine.types import Floats, Integers
from sim.mpi.stats import Timer
from sim.plane.library_calls import ALONE, OWN
from sim.plane.operations import (
    Op,
    Operations,
    join_operations,
    make_operations,
    no_operations,
)
from sim.workloads.replaying.files import ReplayFiles
from sim.workloads.replaying.intake import Intake, Timing
from sim.workloads.replaying.outcome import NO_FILE, Call, code_of
from sim.workloads.replaying.store import Rows
from sim.workloads.replaying.windows import Window
from sim.workloads.trace.block import TraceOp

_KINDS = np.zeros(len(TraceOp), np.int64)  # operation of the data plane by that of the trace
_CODES = np.zeros((2, len(TraceOp)), np.int64)  # call and part of it by API and operation
for _op in TraceOp:
    if _op < TraceOp.COMPUTE:
        _KINDS[_op] = int(Op[_op.name])
        _CODES[0, _op] = code_of(NO_FILE, Call.POSIX_META)
        _CODES[1, _op] = code_of(NO_FILE, Call.MPI_META, Timer.OPEN)
_CODES[0, TraceOp.READ] = code_of(NO_FILE, Call.POSIX_READ)
_CODES[0, TraceOp.WRITE] = code_of(NO_FILE, Call.POSIX_WRITE)
_CODES[0, TraceOp.FSYNC] = code_of(NO_FILE, Call.POSIX_SYNC)
_CODES[1, TraceOp.READ] = code_of(NO_FILE, Call.MPI_READ, Timer.INDEPENDENT)
_CODES[1, TraceOp.WRITE] = code_of(NO_FILE, Call.MPI_WRITE, Timer.INDEPENDENT)
_CODES[1, TraceOp.FSYNC] = code_of(NO_FILE, Call.MPI_SYNC, Timer.SYNC)
_THINKING = int(code_of(NO_FILE, Call.COMPUTE))
_FILE_STEP = int(code_of(0, 0)) - int(code_of(NO_FILE, 0))


class Listed(NamedTuple):
    """Operations, and before which row of its rank each is done.

    Attributes
    ----------
    operations
        ``OPERATION`` records, rank after rank; ``timer`` holds the codes of what their time is
        spent for.
    rank, position
        int64 (operations,): whose they are, and how many rows of the rank come before.
    """

    operations: Operations
    rank: Integers
    position: Integers


class Assembler:
    """Makes operations of what the intake has.

    Parameters
    ----------
    intake
        What the ranks do.
    files
        On which files.
    timing
        What the times of the intake mean.
    began
        When the job began, in simulated seconds.
    """

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

    def calls(self, window: Window, ranks: range, done: Integers) -> Listed:
        """Return what the calls of a window make ranks do.

        Where a rank takes part with nothing, it does so right after its call before.

        Parameters
        ----------
        window
            The calls.
        ranks
            Whose operations are wanted, one rank after the next.
        done
            int64 (ranks,): rows that each has done before the window.
        """
        part = slice(int(window.bounds[ranks.start]), int(window.bounds[ranks.stop]))
        count = np.diff(window.bounds[ranks.start : ranks.stop + 1])
        rank = np.repeat(np.arange(ranks.start, ranks.stop), count)
        operations, place = window.operations[part], window.place[part]
        key = rank * self._calls + place
        pair = np.searchsorted(self._pair, key, side="right") - 1
        earliest = np.searchsorted(
            self._pair, np.arange(ranks.start, ranks.stop) * self._calls + window.first
        )
        own = pair >= earliest[rank - ranks.start]
        position = np.where(
            own, np.append(self._together.position, 0)[pair], done[rank - ranks.start]
        )
        listed = Listed(operations, rank, position)
        if not self._waits:
            return listed
        return self._with_pauses(listed, place, window, ranks)

    def _with_pauses(self, listed: Listed, place: Integers, window: Window, ranks: range) -> Listed:
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
        return Listed(operations[order], rank[order], position[order])

    def rows(self, rows: Rows, rank: Integers, position: Integers) -> Listed:
        """Return what rows make ranks do: int64 (rows,), whose they are and which of its rows."""
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
            return Listed(operations, rank, position)
        moves = np.flatnonzero(rows["op"] != TraceOp.COMPUTE)
        row = np.concatenate([waits, moves])
        order = np.argsort(row, kind="stable")
        both = join_operations([self._pauses(rows["seconds"][waits]), operations[moves]])
        row = row[order]
        return Listed(both[order], rank[row], position[row])

    def _pauses(self, seconds: Floats) -> Operations:
        """Return operations that compute: for so long, or until then."""
        seconds = seconds + self._offset
        return make_operations(self._pause, len(seconds), seconds=seconds, timer=_THINKING)


def merged(calls: Listed, rows: Listed) -> tuple[Operations, Integers]:
    """Return all operations in the order in which ranks do them, and whose they are.

    What calls make a rank do comes before the row at the same place.
    """
    if not len(calls.operations):
        return rows.operations, rows.rank
    rank = np.concatenate([calls.rank, rows.rank])
    turn = np.concatenate([2 * calls.position, 2 * rows.position + 1])
    order = np.lexsort((turn, rank))
    return join_operations([calls.operations, rows.operations])[order], rank[order]
