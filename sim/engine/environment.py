"""One clock over two planes: SimPy's calendar of decisions and the compiled calendar of bytes.

Any SimPy process works in this environment unchanged. What moves bytes is handed to the data
plane in batches; the process gets one SimPy event a batch and yields it like any other.

Ties have one fixed order: at equal times SimPy's events come first, so that all decisions of an
instant are taken before bytes move.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol

import simpy
from simpy.core import EmptySchedule


class DataPlane(Protocol):
    """What the environment asks of a data plane."""

    def next_time(self) -> float:
        """Return the time of its next event in seconds; infinity when there is none."""
        ...

    def advance(self, until: float) -> tuple[float, Iterable[int]]:
        """Work through events before ``until`` (s), up to the first that ends a batch.

        Returns the time reached and the numbers of the batches that ended at that time. May stop
        early without any, so that the caller can show progress and notice an interrupt.
        """


class Environment(simpy.Environment):
    """A SimPy environment that advances a data plane as part of its own time.

    ``watch`` is called between slices of compiled work, several times a second of wall time; it may
    raise.
    """

    def __init__(self, plane: DataPlane, watch: Callable[[], None] | None = None) -> None:
        super().__init__()
        self._plane = plane
        self._watch = watch
        self._batches: dict[int, simpy.Event] = {}

    def close(self) -> None:
        """Let go of the data plane, so that its memory is free at once; nothing happens any more.

        What SimPy makes refers to its environment in circles.
        """
        del self._plane, self._watch

    def batch_event(self, batch: int) -> simpy.Event:
        """Return the event that succeeds, with the batch number, when the batch has ended."""
        event = self.event()
        self._batches[batch] = event
        return event

    def peek(self) -> float:
        """Return the time of the next event of either plane; infinity when there is none."""
        return min(float(super().peek()), self._plane.next_time())

    def step(self) -> None:
        """Process the next SimPy event, or the data plane's events up to it or to a batch's end.

        Raises
        ------
        EmptySchedule
            When neither plane has anything left to do.
        """
        decision = float(super().peek())
        if self._plane.next_time() >= decision:
            super().step()
            return
        time, ended = self._plane.advance(decision)
        self._now = time
        for batch in ended:
            self._batches.pop(batch).succeed(batch)
        if self._watch is not None:
            self._watch()


__all__ = ["DataPlane", "EmptySchedule", "Environment"]
