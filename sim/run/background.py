"""What other jobs do in the whole file system while those of a scenario run."""

from __future__ import annotations

import numpy as np

from sim.config.errors import InputError
from sim.config.machine import Machine
from sim.config.scenario import Background as AskedBackground
from sim.config.units import format_rate
from sim.engine.randomness import stream
from sim.machine.plane import Plane
from sim.plane.site import Background
from sim.plane.stationbook import StationBook

_MOST = 0.95  # of the time of the busiest station: more leaves jobs next to nothing


def background_of(asked: AskedBackground, machine: Machine, seed: int) -> Background:
    """Return what other jobs do: what the scenario says, and on a typical day what is drawn.

    The factor between the day and the usual one is lognormal with mean 1.

    Raises
    ------
    InputError
        If a typical day is asked for and nobody has measured what others do on the machine.
    """
    read, write = asked.read, asked.write
    if asked.typical:
        lustre = machine.lustre
        if lustre.other_reads == lustre.other_writes == 0.0:
            raise InputError(
                f"background.typical: what other jobs do on a typical day of {machine.name} is not "
                "known (lustre.other_reads and lustre.other_writes are 0); right would be rates of "
                "your own (--background-read, --background-write), or a machine that has them, as "
                "cori-knl"
            )
        normal = stream(seed, "other jobs").standard_normal(2)
        factor = np.exp(lustre.other_spread * normal - lustre.other_spread**2 / 2)
        read += lustre.other_reads * float(factor[0])
        write += lustre.other_writes * float(factor[1])
    return Background(read, write)


def check_background(traffic: Background, plane: Plane, book: StationBook) -> None:
    """Make sure that the machine carries what other jobs do.

    What a station cannot serve in the time in which it comes piles up before it without end, and
    the jobs of the scenario would never get their turn.

    Raises
    ------
    InputError
        If a part of the machine would be busy all the time with others alone.
    """
    load = plane.tables.others.load()
    busiest = int(load.argmax())
    if load[busiest] < 1.0:
        return
    part = _label(book, busiest)
    raise InputError(
        f"background: for what other jobs do ({_rates(traffic, 1.0)}) {part} alone would need "
        f"{load[busiest]:.2f} s a second; right would be at most "
        f"{_rates(traffic, _MOST / load[busiest])}"
    )


def _rates(traffic: Background, part: float) -> str:
    """Return a part of what others read and write, in words."""
    rates = {"read": part * traffic.read, "write": part * traffic.write}
    return " and ".join(f"{way} {format_rate(rate, 2)}" for way, rate in rates.items() if rate > 0)


def _label(book: StationBook, station: int) -> str:
    """Return what a station is called."""
    section = next(one for one in book.sections if one.first <= station < one.first + one.size)
    return section.label(station - section.first)
