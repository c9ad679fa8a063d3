"""The reads and writes of a replay as its trace counts them, by file: without a recording."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from xc40io.engine.types import Floats, Integers
from xc40io.workloads.replay.intake import COLLECTIVE
from xc40io.workloads.replay.outcome import Call, ReplayOutcome
from xc40io.workloads.trace import TraceOp

_MOVES = (TraceOp.READ, TraceOp.WRITE)
_DATA = (Call.POSIX_READ, Call.POSIX_WRITE, Call.MPI_READ, Call.MPI_WRITE)
_ALL_DATA = (*_DATA, Call.MPI_COLL_READ, Call.MPI_COLL_WRITE)
_META = (Call.POSIX_META, Call.MPI_META)


class CountedCalls:
    """What a replay's trace counts; collective calls, which aggregators make larger, are left out.

    Attributes
    ----------
    calls, bytes
        int64 (files,): reads and writes that each rank makes by itself, and what they move.
    """

    def __init__(self, outcome: ReplayOutcome) -> None:
        self._outcome = outcome
        totals = outcome.totals
        self.calls: Integers = totals.calls[:, _MOVES, :COLLECTIVE].sum(axis=(1, 2))
        self.bytes: Integers = totals.bytes[:, _MOVES, :COLLECTIVE].sum(axis=(1, 2))

    @cached_property
    def asked(self) -> Integers:
        """int64 (ranks,): the bytes that each rank reads and writes, collectively or not."""
        asked: Integers = self._outcome.totals.by_rank.sum(axis=1)
        return asked

    @cached_property
    def made(self) -> Integers:
        """int64 (files,): how often each file is made."""
        return self._opens(TraceOp.CREATE)

    @cached_property
    def opened(self) -> Integers:
        """int64 (files,): how often each file is opened, or made."""
        return self.made + self._opens(TraceOp.OPEN)

    def _opens(self, op: TraceOp) -> Integers:
        counted: Integers = self._outcome.totals.calls[:, op].sum(axis=1)
        return counted

    def name(self, file: int) -> str:
        """Return the name of a file."""
        return self._outcome.files[file].name

    @cached_property
    def seconds(self) -> Floats:
        """float64 (files,): of all ranks in these reads and writes."""
        return self._by_file(_DATA)

    @cached_property
    def seconds_in_metadata(self) -> Floats:
        """float64 (files,): of all ranks in opens, closes and the like."""
        return self._by_file(_META)

    def _by_file(self, calls: tuple[Call, ...]) -> Floats:
        spent = self._outcome.spent
        some = np.isin(spent.call, calls) & (spent.file >= 0)
        sums = np.bincount(spent.file[some], spent.seconds[some], len(self.calls))
        return sums.astype(np.float64)

    @cached_property
    def seconds_of_ranks(self) -> Floats:
        """float64 (ranks,): in all reads and writes."""
        took: Floats = np.sum([self._outcome.seconds_in(call) for call in _ALL_DATA], axis=0)
        return took
