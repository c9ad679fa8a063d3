"""How sure a figure is, as every answer tells it unless it is to be exact: in words, as columns."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from math import floor, log10
from typing import Any, TypeAlias

from xc40io.config.errors import InputError
from xc40io.config.scenario import Scenario
from xc40io.config.units import MIB, format_rate, format_seconds
from xc40io.telling.answer import Card, Column, Columns, To, Unit
from xc40io.telling.units import ANY, FLAG, RECORD, WORDS
from xc40io.trust.differences import differences
from xc40io.trust.doubts import doubt_of
from xc40io.trust.how_sure import (
    NINE_OF_TEN,
    ExpectedError,
    Interval,
    chance_better,
    expected,
    interval,
)
from xc40io.workloads.catalogue import traits_if_known
from xc40io.workloads.traits import METADATA, Traits

_FIGURES = 2  # significant ones: the bounds are known no better
_PLACES = 20  # of the last digit in an interval, at least
_MOST_FIGURES = 4  # of a figure within them, however narrow they are
_NOTHING = 0.5  # the chance where the simulator has nothing to say
_SURE = 0.995  # from this chance on more digits would say more than is known


class Sureness:
    """How sure the phases of a run are, each looked up once.

    Nothing is told of a kept run whose kernel or machine is a file that has gone, nor of messages
    between nodes.

    Parameters
    ----------
    scenario
        Of the run.
    traits
        Of the same, where they are at hand, as in its result.
    """

    def __init__(self, scenario: Scenario, traits: Traits | None = None) -> None:
        self._scenario = scenario
        self._traits = traits_if_known(scenario) if traits is None else traits
        self._expected: dict[str, ExpectedError | None] = {}

    def interval(self, phase: str, rate: float | None) -> Interval | None:
        """Return where the rates of nine of ten real runs lie; ``rate``: as simulated, if any."""
        if not rate:
            return None
        if phase not in self._expected:
            self._expected[phase] = self._look_up(phase)
        known = self._expected[phase]
        return None if known is None else interval(rate, known)

    def seconds(self, phase: str, seconds: float | None) -> Interval | None:
        """Return where the times of nine of ten real runs lie."""
        rates = self.interval(phase, 1.0 / seconds if seconds else None)
        return rates and rates.inverse

    def is_metadata(self, phase: str) -> bool:
        """Return whether a phase is about metadata: then its rate is of operations."""
        return self._traits.of(phase).access == METADATA

    def _look_up(self, phase: str) -> ExpectedError | None:
        if self._traits.bytes > 0 or self.is_metadata(phase):
            with suppress(InputError):
                return expected(self._scenario, self._traits, phase)
        return None


def chance_faster(ratio: float, before: object, after: object, phase: str) -> float:
    """Return the chance that what was simulated ``ratio`` times as fast really is faster.

    ``before`` and ``after``: the scenarios; ``phase``: what was looked at. In what runs of several
    jobs differ is not looked into, nor a kernel whose file has gone: they are given the errors of
    all ratios. Of a change that the simulator is known to get wrong it says nothing: one half.
    """
    things: list[str] = []
    if isinstance(before, Scenario) and isinstance(after, Scenario):
        with suppress(InputError):
            things = differences(before, after)
    if doubt_of(ratio, before, after, phase) is not None:
        return _NOTHING
    return chance_better(ratio, things) if ratio > 0.0 else 0.0


def span(found: Interval, write: Write) -> str:
    """Write an interval: ``36 to 62 GB/s``, with the unit once where both bounds have the same."""
    low, high = (write(bound, _FIGURES) for bound in (found.low, found.high))
    number, _, unit = low.partition(" ")
    return f"{number if unit == high.partition(' ')[2] else low} to {high}"


def digits_within(value: float, real: Interval) -> int:
    """Return how many digits of a figure its interval allows: the last is a twentieth of it."""
    width = real.high - real.low
    if not width:
        return _MOST_FIGURES
    digits = 1 + floor(log10(value)) - floor(log10(width / _PLACES))
    return min(max(digits, _FIGURES), _MOST_FIGURES)


def plain(value: float, digits: int = _FIGURES) -> str:
    """Write a number with so many significant figures."""
    return f"{float(f'{value:.{digits}g}'):,.12g}"


def mebibytes(rate: float, digits: int = _FIGURES) -> str:
    """Write a rate as IOR does: ``36,000 MiB/s``."""
    return f"{plain(rate / MIB, digits)} MiB/s"


def gigabytes(rate: float, digits: int = _FIGURES) -> str:
    """Write a rate where the head of the column says the unit, GB/s."""
    return plain(rate / 1e9, digits)


def in_gigabytes(rate: float, digits: int = _FIGURES) -> str:
    """Write a rate in GB/s, however small: beside others in the same unit."""
    return f"{gigabytes(rate, digits)} GB/s"


def rate(value: float, digits: int = _FIGURES) -> str:
    """Write a rate: ``36 GB/s``."""
    return format_rate(float(f"{value:.{digits}g}"), digits)


def per_second(value: float, digits: int = _FIGURES) -> str:
    """Write operations a second."""
    return f"{plain(value, digits)} op/s"


def seconds(value: float, digits: int = _FIGURES) -> str:
    """Write a time."""
    return format_seconds(float(f"{value:.{digits}g}"), digits)


Write: TypeAlias = Callable[[float, int], str]
"""One of the functions above."""

_EXACT = 4
"""Digits of a figure of which no interval is known, or is to be told."""


def simulated(value: float, real: Interval | None, write: Write) -> str:
    """Write what was simulated, with no more digits than its interval allows."""
    return write(value, _EXACT if real is None else digits_within(value, real))


def real_words(found: Interval, write: Write) -> str:
    """Say where real runs lie, as in ``9 of 10 real runs: 36 to 62 GB/s``."""
    less = "" if found.measured else ", less sure"
    return f"{NINE_OF_TEN}: {span(found, write)}{less}"


def sure_words(value: float, real: Interval | None, write: Write) -> str:
    """Say a figure, its interval first: ``9 of 10 real runs: 36 to 62 GB/s; simulated 47 GB/s``."""
    told = f"simulated {simulated(value, real, write)}"
    return told if real is None else f"{real_words(real, write)}; {told}"


def sure_card(name: str, value: float, real: Interval | None, write: Write, note: str) -> Card:
    """Return the card of a figure: its interval is what is read first."""
    if real is None:
        return Card(name, simulated(value, real, write), note)
    less = "" if real.measured else ", less sure"
    told = f"{NINE_OF_TEN}{less}; simulated {simulated(value, real, write)}"
    return Card(name, span(real, write), f"{told}; {note}" if note else told)


def chance_words(chance: float) -> str:
    """Write a chance: ``93 %``, and ``over 99 %`` where it is all but certain."""
    if chance > _SURE:
        return "over 99 %"
    return f"{100 * chance:.0f} %" if chance >= 1.0 - _SURE else "under 1 %"


CHANCE = Unit("0 to 1", float, chance_words)

INTERVAL = (
    Column("low", ANY, help="The lower bound, in the unit of the figure itself."),
    Column("high", ANY, help="The upper one."),
    Column("measured", FLAG, help="Whether runs like it were ever measured."),
    Column("why", WORDS, help="If not, why it is less sure."),
)


def real_columns(of: Callable[[Any], Interval | None], unit: Unit) -> Columns:
    """Return the columns of an interval: a record for JSON, two bounds for pandas."""
    return (
        Column(
            "real",
            RECORD,
            of,
            to=To.JSON,
            inner=INTERVAL,
            optional=True,
            help="Where 9 of 10 real runs would lie: docs/how-far-to-trust-it.md.",
        ),
        *(
            Column(
                f"real_{bound}",
                unit,
                partial(_bound, of, bound),
                to=To.PANDAS,
                help=f"The {words} bound of where 9 of 10 real runs would lie.",
            )
            for bound, words in (("low", "lower"), ("high", "upper"))
        ),
    )


def _bound(of: Callable[[Any], Interval | None], name: str, row: Any) -> float | None:
    found = of(row)
    return None if found is None else getattr(found, name)


def chance_column(of: Callable[[Any], float | None], help: str, **how: Any) -> Column:  # noqa: A002
    """Return the column of the chance that something really is faster."""
    return Column("chance_better", CHANCE, of, help=help, optional=True, **how)
