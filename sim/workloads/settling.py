"""When a run that a deadline is to stop may stop before it: once it goes on at one pace.

A stonewalled benchmark does the same for minutes. Once all ranks together make as many calls a
second in one span of time as in the one before, and the fastest rank has the same lead over the
others, the rest of the time tells nothing new; what the whole time would come to follows by
proportion. As long as a cache fills, what is written is no measure of the pace.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import numpy as np
import simpy

from xc40io.engine.types import Integers
from xc40io.machine.filesystem import FileSystem

_FIRST = 0.25
"""Seconds of the first span; each of the next is as long as all before it together."""

_LOOKS = 16
"""How often it is looked at the calls in a span, so that ranks do not run out of them."""

_LEAST_CALLS = 20
"""Calls of a rank, on average, in a span whose rate can be told from that of another."""

_ROOM_LEFT = 0.2
"""Share of a rank's calls that must be left for those that go on when it stops."""

_OUT_OF_CACHE = 0.8
"""Share of what is written in a span that must leave the caches in it: less, and they fill."""

_BULK_BYTES = 2  # of the plane's counts


class Settling:
    """Watches a run with a deadline, and ends it when it has settled.

    Parameters
    ----------
    tolerance
        By how much the rates of two spans may differ in a run that has settled: 0.02 is 2 %.
        0: no run has, and each goes on to its deadline.
    cut
        Whether a run that has not settled is to end before its ranks run out of calls: there are
        more than were listed for them.
    """

    def __init__(self, tolerance: float, *, cut: bool = True) -> None:
        self._tolerance = tolerance
        self._cut = cut
        self._since = self._calls = self._rate = self._lead = self._moved = 0.0
        self._end = _FIRST
        self._over = False
        self.stopped: float | None = None  # seconds after its begin when the run was ended
        # by how much the last two spans differed, in their rates or in the lead of the fastest rank
        self.change = float("inf")

    def has_settled(
        self, seconds: float, calls: Integers, room: int, moved: float = np.inf
    ) -> bool:
        """Look at a run; tell whether it may end.

        Parameters
        ----------
        seconds
            Since its begin.
        calls
            int64 (n,): calls that each rank has made.
        room
            Calls that there are for a rank.
        moved
            What has left the caches, in calls; unless given, there is no cache to fill.
        """
        if self._tolerance <= 0.0:
            return False
        runs_out = self._cut and int(calls.max()) >= room * (1.0 - _ROOM_LEFT)
        if seconds < self._end and not runs_out:
            return False
        made = float(calls.sum())
        rate = (made - self._calls) / (seconds - self._since)
        lead = int(calls.max()) * len(calls) / made if made else 0.0
        more = made - self._calls
        fills = moved - self._moved < _OUT_OF_CACHE * more
        enough = more >= _LEAST_CALLS * len(calls) and not fills
        self.change = max(_change(rate, self._rate), _change(lead, self._lead))
        if runs_out or (enough and self.change <= self._tolerance):
            self.stopped = seconds
        self._since, self._calls, self._rate, self._lead = seconds, made, rate, lead
        self._moved = 0.0 if moved == np.inf else moved
        self._end = 2.0 * seconds
        return self.stopped is not None

    def watch(
        self, filesystem: FileSystem, programs: Integers, room: int, written: int = 0
    ) -> Generator[simpy.Event, Any, None]:
        """Watch programs until they have settled, or :meth:`end` is called: a SimPy process.

        Parameters
        ----------
        filesystem
            Where they run.
        programs
            int64 (n,): those that make the calls.
        room
            Calls that there are for each.
        written
            Bytes that each call leaves in a cache; 0: none.
        """
        clock, counts = filesystem.environment, filesystem.plane.counts
        began, before = float(clock.now), int(counts[_BULK_BYTES])
        while True:
            yield clock.timeout(self._end / (2 * _LOOKS))
            if self._over:
                return
            calls = filesystem.calls(programs)
            moved = (int(counts[_BULK_BYTES]) - before) / written if written else np.inf
            if self.has_settled(float(clock.now) - began, calls, room, moved):
                filesystem.plane.batches.end_deadlines(programs)
                return

    def end(self) -> None:
        """Note that the run is over."""
        self._over = True


def _change(now: float, before: float) -> float:
    """Return by how much a figure has changed, as a share; infinite if there was none."""
    return abs(now / before - 1.0) if before else float("inf")
