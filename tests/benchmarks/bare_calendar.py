"""Limits of the data plane: loops that take events from its calendar, and compute nothing.

The *bare loop* does nothing else. The *floor* also reads and writes what every hop of a message
does, wherever that lies in memory: its record, its meters, a station, the station's time bin.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from xc40io.compiler.core import prepare
from xc40io.engine.calendar import (
    Calendar,
    make_calendar,
    next_index,
    next_time,
    reschedule_next,
    schedule,
)
from xc40io.engine.compiled import entry
from xc40io.engine.component import Component
from xc40io.engine.network import STATION, Bins, Network, make_network, set_stations
from xc40io.engine.pool import NoRowLeftError
from xc40io.engine.types import Floats, Indices, make_table
from xc40io.plane.stations import METERS

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


class Touched(Component):
    """A calendar, the delays to come, and the rows that events touch."""

    turnover: Turnover
    network: Network
    stations: Indices  # int32 (events,): the station of each


def floor_loop(pending: int, cycle: float, clock: Callable[[], float] = time.perf_counter) -> float:
    """Return the seconds in which ``EVENTS`` events touch what a hop touches, and do nothing."""
    network = make_network(meters=METERS, messages=pending)
    set_stations(network, make_table(STATION, _STATIONS), bins=_BINS, bin_width=cycle / _BINS)
    network.bins = Bins(np.zeros((2, _STATIONS, _BINS), order="F"), np.ones(1))
    stations = np.random.default_rng(2).integers(0, _STATIONS, EVENTS).astype(np.int32)
    work = Touched(turnover=turnover(pending, cycle), network=network, stations=stations)
    prepare([_touch], work)
    began = clock()
    _touch(work)
    return clock() - began


_STATIONS, _BINS = 1024, 1024
"""Interfaces, routers, links, servers and disks that IOR of 256 nodes meets, about; time bins."""


@entry(raises=NoRowLeftError)
def _touch(work: Touched) -> None:
    """Move the entity that acts next by each delay in turn; touch its rows and a station's."""
    calendar, network = work.turnover.calendar, work.network
    for i in range(len(work.stations)):
        message_id, station_id = next_index(calendar), work.stations[i]
        message, station = network.messages[message_id], network.stations[station_id]
        message.tail += 1.0
        station.free += 1.0
        network.spent[message_id, i & 7] += 1.0
        now = next_time(calendar)
        network.bins.served[1, station_id, int(now) & (_BINS - 1)] += 1.0
        reschedule_next(calendar, now + work.turnover.delays[i])


@entry(raises=NoRowLeftError)
def _turn_over(work: Turnover) -> None:
    """Move the entity that acts next by each delay in turn."""
    calendar = work.calendar
    for delay in work.delays:
        reschedule_next(calendar, next_time(calendar) + delay)
