"""What the data plane is measured by: plain SimPy models, and a loop over its own calendar."""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Callable
from math import isnan
from statistics import median
from typing import NamedTuple

from bare_calendar import EVENTS, bare_loop, floor_loop
from simpy_models import Work, lean_callbacks, process_per_rpc, theta_write

NODES, PPN, STRIPES = 256, 16, 48
PENDING, CYCLE = 4 * NODES * PPN, 0.1
"""Events in the bare loop's calendar, and the seconds of the RPC that each stands for."""


def seconds_of(work: Callable[[], object]) -> float:
    """Return the processor seconds that a piece of work takes in this process."""
    gc.collect()
    gc.freeze()  # the garbage collector need not look at what was there before
    began = time.process_time()
    work()
    seconds = time.process_time() - began
    gc.unfreeze()
    return seconds


class Yardsticks:
    """Seconds of processor time that others need for what the data plane does.

    Attributes
    ----------
    lean, process
        Seconds for an RPC on Theta's path: of a model with lean callbacks, and of one with a SimPy
        process for each RPC. The latter is NaN where it was left out: it takes long.
    event, floor
        Seconds for an event of a loop that does nothing but take it and put it back; of one that
        also touches the rows that a hop touches.
    """

    def __init__(self, *, with_process: bool) -> None:
        self._work = theta_write(NODES, PPN, 2, STRIPES)
        self._with_process = with_process
        self.lean = self.process = self.event = self.floor = float("nan")

    def measure(self) -> None:
        """Measure all of them, now: the machine may be busier than a while ago."""
        self.lean = self._rpc(lean_callbacks)
        if self._with_process:
            self.process = self._rpc(process_per_rpc)
        self.event = bare_loop(PENDING, CYCLE, time.process_time) / EVENTS
        self.floor = floor_loop(PENDING, CYCLE, time.process_time) / EVENTS

    def __str__(self) -> str:
        """Return what they are, for people."""
        process = (
            "" if isnan(self.process) else f", {1 / self.process:,.0f} RPCs/s with a process each"
        )
        return (
            f"yardsticks: SimPy {1 / self.lean:,.0f} RPCs/s with lean callbacks{process}; "
            f"the bare loop {1 / self.event:,.0f} events/s, {1 / self.floor:,.0f} with the rows "
            "that a hop touches"
        )

    def _rpc(self, model: Callable[[Work], int]) -> float:
        return seconds_of(lambda: model(self._work)) / self._work.rpcs


class Ratios(NamedTuple):
    """How many times as fast as the yardsticks a run is, and its seconds."""

    lean: float
    process: float
    bare: float
    seconds: float


def compare(run: Callable[[], tuple[float, int, int]], by: Yardsticks, times: int) -> Ratios:
    """Run something so many times, the yardsticks measured before each; return the medians.

    ``run`` gives seconds of processor time, RPCs and events.
    """
    found = []
    for _ in range(times):
        by.measure()
        seconds, rpcs, events = run()
        found.append(
            Ratios(
                by.lean * rpcs / seconds,
                by.process * rpcs / seconds,
                by.event * events / seconds,
                seconds,
            )
        )
    return Ratios(*(median(values) for values in zip(*found, strict=True)))


def load() -> str:
    """Return how busy the machine is, in words."""
    return f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors"
