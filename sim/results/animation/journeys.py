"""Journeys over the stage: what is where in which period, and what it does there.

Times are simulated seconds. What had not happened when the run ended stays where it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from math import isfinite
from typing import NamedTuple


class Doing(StrEnum):
    """What something does at a place, or on its way there."""

    MOVES = "m"  # to this place, with its data
    SMALL = "r"  # to this place, as a small message: a request or a reply
    LEFT = "l"  # waits at its left side
    RIGHT = "o"  # waits at its right side
    INSIDE = "s"  # is worked at inside of it


class JourneyKind(StrEnum):
    """What is under way."""

    WRITE = "write"
    READ = "read"
    LOCK = "lock"
    METADATA = "metadata"
    SYNC = "sync"


class Step(NamedTuple):
    """A part of a journey, which begins when the one before ends."""

    until: float  # when it ends, in s
    place: int  # where it is, or goes to: a position on the stage
    doing: Doing  # what it does


class Stop(NamedTuple):
    """A place on a way, and how long something is held up there, in s.

    ``side`` is where it stands meanwhile.
    """

    place: int
    side: Doing
    seconds: float = 0.0


@dataclass(eq=False)
class Journey:
    """Something that goes over the stage."""

    kind: JourneyKind  # what it is
    what: str  # the same in words, as in ``write`` or ``open``
    size: int  # bytes of data that it carries
    begin: float  # when it begins, in s
    origin: int  # where
    steps: list[Step] = field(default_factory=list)
    """What it does then, in the order of time; those that take no time are left out."""

    @property
    def now(self) -> float:
        """When its last step so far ends."""
        return self.steps[-1].until if self.steps else self.begin

    @property
    def place(self) -> int:
        """Where it is then."""
        return self.steps[-1].place if self.steps else self.origin

    def stay(self, until: float, doing: Doing) -> None:
        """Let it stay where it is; for ever, if ``until`` has not come."""
        self._add(Step(until, self.place, doing))

    def go(self, until: float, way: Sequence[int]) -> None:
        """Let it go along places as a small message; it stays if it has not come there."""
        if not isfinite(until):
            self.stay(until, Doing.INSIDE)
            return
        begin, ways = self.now, len(way)
        for number, place in enumerate(way, 1):
            # The last one ends when it was recorded, to the last bit.
            there = until if number == ways else begin + (until - begin) * number / ways
            self._add(Step(there, place, Doing.SMALL))

    def pass_through(self, until: float, stops: Sequence[Stop]) -> None:
        """Let it go along places at which it is held up; the rest of the time is for the ways.

        If it was held up for longer than there is time, which only comes of parts that were sent
        again, each stop is shortened alike. It stays if it has not come there.
        """
        if not isfinite(until):
            self.stay(until, stops[0].side)
            return
        begin = self.now
        ways = sum(1 for here, there in self._pairs(stops) if here != there)
        held = sum(stop.seconds for stop in stops)
        shrink = min(1.0, (until - begin) / held) if held > 0.0 else 1.0
        each = max(until - begin - shrink * held, 0.0) / max(ways, 1)
        now = begin
        for number, (here, there) in enumerate(self._pairs(stops)):
            last = number == len(stops) - 1
            if here != there:
                now = until if last and stops[number].seconds == 0.0 else now + each
                self._add(Step(min(now, until), there, Doing.MOVES))
            if stops[number].seconds > 0.0:
                now = until if last else now + shrink * stops[number].seconds
                self._add(Step(min(now, until), there, stops[number].side))

    def _pairs(self, stops: Sequence[Stop]) -> list[tuple[int, int]]:
        """Return where it comes from and goes to, stop by stop."""
        places = [stop.place for stop in stops]
        return list(zip([self.place, *places], places, strict=False))

    def _add(self, step: Step) -> None:
        if step.until > self.now:
            self.steps.append(step)

    def cut(self, end: float) -> None:
        """Leave out what comes after the end, or never came."""
        over = sum(1 for step in self.steps if step.until < end)
        self.steps = [
            *self.steps[:over],
            *(step._replace(until=end) for step in self.steps[over : over + 1]),
        ]
