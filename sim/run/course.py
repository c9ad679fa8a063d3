"""The course of a fault: when what happened, and what came of it."""

from __future__ import annotations

from typing import NamedTuple

import simpy

from sim.config.faults import Fault
from sim.config.kept import kept
from sim.config.units import format_seconds
from sim.engine.environment import Environment


@kept
class FaultRecord(NamedTuple):
    """What a fault did.

    Attributes
    ----------
    fault
        The sentence that says it.
    begin
        When it began, in simulated seconds; None: all jobs had ended before.
    over
        When the last of it was over; None: it lasted to the end.
    recovery
        Seconds from its begin until Lustre's clients, or the network, had got over it; 0 where
        there was nothing to get over, or they had not.
    resent
        Bulk RPCs of an OST, or messages, that were sent again.
    evictions
        Times that an OST evicted a client.
    lost
        Bytes of dirty data that were lost.
    """

    fault: str
    begin: float | None
    over: float | None
    recovery: float
    resent: int
    evictions: int
    lost: int


class Course:
    """What happens in the course of a fault.

    Parameters
    ----------
    fault
        Which one.
    environment
        The clock.

    Attributes
    ----------
    told
        What happened, each with the time.
    recovery, resent, evictions, lost
        As in :class:`FaultRecord`.
    """

    def __init__(self, fault: Fault, environment: Environment) -> None:
        self.fault = fault
        self.told: list[tuple[float, str]] = []
        self.recovery = 0.0
        self.resent = self.evictions = self.lost = 0
        self._environment = environment
        self._begin: float | None = None
        self._over: float | None = None

    @property
    def now(self) -> float:
        """The time in seconds."""
        return float(self._environment.now)

    @property
    def has_begun(self) -> bool:
        """Whether anything has happened."""
        return self._begin is not None

    def begin(self) -> None:
        """Note that it begins."""
        self._begin = self.now

    def end(self) -> None:
        """Note that all of it is over."""
        if self.fault.end is not None:
            self._over = self.now

    def recovered(self) -> None:
        """Note that clients, or the network, have got over it."""
        self.recovery = self.now - self.fault.begin

    def tell(self, text: str) -> None:
        """Note what has just happened."""
        self.told.append((self.now, f"At {format_seconds(self.now, 4)}: {text}"))

    def until(self, time: float) -> simpy.Event:
        """Return the event of a time to come."""
        return self._environment.timeout(max(0.0, time - self.now))

    def record(self) -> FaultRecord:
        """Return what it did."""
        return FaultRecord(
            fault=str(self.fault),
            begin=self._begin,
            over=self._over,
            recovery=self.recovery,
            resent=self.resent,
            evictions=self.evictions,
            lost=self.lost,
        )
