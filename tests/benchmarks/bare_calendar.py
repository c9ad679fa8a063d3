"""The limit of the data plane: a loop that takes events from its calendar and does nothing else."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from xc40io.compiler.core import prepare
from xc40io.engine.calendar import (
    Calendar,
    make_calendar,
    next_time,
    reschedule_next,
    schedule,
)
from xc40io.engine.compiled import entry
from xc40io.engine.component import Component
from xc40io.engine.pool import NoRowLeftError
from xc40io.engine.types import Floats

EVENTS = 10_000_000

STEPS = {0.1e-6: 5, 0.3e-6: 2, 35e-6: 2, 0.2e-3: 2}
"""Seconds from an event of an RPC to its next one, and how many such: links, interfaces, routers,
bulk of 1 MiB. One event more ends its wait for the disks."""


class Turnover(Component):
    """A calendar, and the delays to come."""

    calendar: Calendar
    delays: Floats


def turnover(pending: int, cycle: float) -> Turnover:
    """Return a calendar with so many events, each of an RPC that takes ``cycle`` seconds."""
    random = np.random.default_rng(1)
    each = np.repeat([*STEPS, 0.0], [*STEPS.values(), 1])
    each[-1] = cycle - each.sum()
    calendar = make_calendar(pending)
    for entity, at in enumerate(random.uniform(0.0, cycle, pending).tolist()):
        schedule(calendar, at, 0, entity)
    delays = random.choice(each, EVENTS) * random.uniform(0.5, 1.5, EVENTS)
    return Turnover(calendar=calendar, delays=delays)


def bare_loop(pending: int, cycle: float, clock: Callable[[], float] = time.perf_counter) -> float:
    """Return the seconds, by some clock, in which ``EVENTS`` events are taken and put back."""
    work = turnover(pending, cycle)
    prepare([_turn_over], work)
    began = clock()
    _turn_over(work)
    return clock() - began


@entry(raises=NoRowLeftError)
def _turn_over(work: Turnover) -> None:
    """Move the entity that acts next by each delay in turn."""
    calendar = work.calendar
    for delay in work.delays:
        reschedule_next(calendar, next_time(calendar) + delay)
