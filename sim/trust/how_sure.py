"""How sure a figure is: where real runs would lie, and whether the faster one really is faster.

The simulator was held against measurements, and how far it was off is known by kind of run
(:mod:`xc40io.trust.model_error`). Those errors, cross-validated, are what a prediction is given,
the more of each the nearer its run is: nine of ten were no larger than the interval is wide. Two
runs of one study have much of their error in common, so whether one is faster than the other is
asked of the errors of *ratios*, which are known by what the two runs differ in.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from statistics import NormalDist
from typing import NamedTuple

from xc40io.config.scenario import Scenario, machine_of
from xc40io.config.units import KIB, format_bytes
from xc40io.topology.text import format_count
from xc40io.trust.extent import Extent, extent_of
from xc40io.trust.model_error import ModelErrors, Reach, Spread, model_errors
from xc40io.trust.near_errors import place_of
from xc40io.trust.run_kind import run_kind
from xc40io.workloads.traits import Traits

LIKELY = 0.75
"""From this chance on one run is called faster than another: they differ by more than the median
error of such ratios."""

NINE_OF_TEN = "9 of 10 real runs"
"""How many real runs lie in an interval."""


WIDTH = NormalDist().inv_cdf(0.95)
"""Standard deviations that nine of ten Gaussian errors stay within."""


class Interval(NamedTuple):
    """Where nine of ten real runs would lie of which a rate, or a time, was simulated.

    Attributes
    ----------
    low, high
        Its bounds, in the unit of what was simulated.
    measured
        Whether runs like it were ever measured.
    why
        If not, why the interval is less sure: a clause.
    """

    low: float
    high: float
    measured: bool
    why: str = ""

    @property
    def inverse(self) -> Interval:
        """Of times that of rates, and the other way round."""
        return self._replace(low=1.0 / self.high, high=1.0 / self.low)


class ExpectedError(NamedTuple):
    """How far off a number may be that was not measured, as ``ln(simulated / measured)``.

    Attributes
    ----------
    center
        What runs near it were off in the middle: more than 0 where they were simulated too large.
    nine_of_ten
        How far from there nine of ten may be, to either side.
    why
        Why it is no better known; empty where runs like it were measured.
    """

    center: float
    nine_of_ten: float
    why: str = ""


def real_interval(scenario: Scenario, traits: Traits, phase: str, value: float) -> Interval:
    """Return where nine of ten real runs would lie.

    Parameters
    ----------
    scenario, traits, phase
        What was simulated.
    value
        What came out: a rate.
    """
    return interval(value, expected(scenario, traits, phase))


def interval(value: float, error: ExpectedError) -> Interval:
    """Return the interval of a rate that may be so far off."""
    low, high = (
        value / math.exp(error.center + far) for far in (error.nine_of_ten, -error.nine_of_ten)
    )
    return Interval(low, high, not error.why, error.why)


def expected(
    scenario: Scenario, traits: Traits, phase: str, errors: ModelErrors | None = None
) -> ExpectedError:
    """Return how far off a phase of a run may be: as the measured runs near it were.

    It says why no run like it was measured where it lies beyond all runs of its kind (more nodes,
    another machine): what binds it may be something that none of them saw. ``errors``: others than
    those that the validation found.
    """
    errors = errors or model_errors()
    extent = extent_of(scenario, traits, phase)
    own = [run.model_copy(update={"machine": extent.machine}) for run in extent.measured]
    known = errors.at(place_of(scenario, traits, phase, extent), own)
    if machine_of(scenario).imagined:
        nothing = f"nothing of {extent.machine} was ever measured, so only directions count"
        return ExpectedError(*known, nothing)
    name = run_kind(traits, phase)
    kind, known_here = errors.kinds.get(name), any(run.kind == name for run in own)
    if kind is None:
        return ExpectedError(*known, "" if known_here else "no run of this kind was ever measured")
    beyond = list(_beyond_reach(kind.reach, scenario, extent, known_here=known_here))
    why = f"no run of this kind was ever measured {_or(beyond)}" if beyond else ""
    return ExpectedError(*known, why)


def _beyond_reach(
    reach: Reach, scenario: Scenario, extent: Extent, *, known_here: bool
) -> Iterator[str]:
    """Yield in what a phase of a run lies beyond all runs of its kind that were measured."""
    if extent.machine not in reach.machines and not known_here:
        yield f"on {extent.machine}"
    if not set(extent.changes) <= set(reach.changes):
        yield "with such values of the machine"
    if scenario.faults:
        yield "with faults"
    yield from _beyond_bounds(reach, extent)


def _beyond_bounds(reach: Reach, extent: Extent) -> Iterator[str]:
    """Yield in what a run is larger than all that were measured, or in its calls smaller."""
    if extent.nodes > reach.nodes[1]:
        yield f"on more than {format_count(reach.nodes[1], 'node')}"
    elif extent.ranks > reach.ranks[1]:
        yield f"with more than {format_count(reach.ranks[1], 'rank')}"
    if extent.bytes_a_rank > reach.bytes_a_rank[1]:
        yield f"with more than {_size(reach.bytes_a_rank[1])} a rank"
    if reach.call is None or extent.call is None:
        return
    if extent.call < reach.call[0]:
        yield f"in calls of less than {_size(reach.call[0])}"
    elif extent.call > reach.call[1]:
        yield f"in calls of more than {_size(reach.call[1])}"


def _size(size: int) -> str:
    """Write a size: exactly, or with three figures where that would be many digits."""
    return format_bytes(size) if size % KIB == 0 else format_bytes(size, 3)


def _or(words: Sequence[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} or {last}" if first else last


def chance_better(ratio: float, things: Iterable[str], errors: ModelErrors | None = None) -> float:
    """Return the chance that a run really is faster than another.

    Parameters
    ----------
    ratio
        How many times as fast it was simulated.
    things
        In what they differ, as :func:`~xc40io.trust.differences.differences` has it.
    errors
        Others than those that the validation found.

    Returns
    -------
    float
        0.5 where the simulator has nothing to say, below it where the run is slower.
    """
    return chance_within(ratio, ratio_spread(things, errors))


def ratio_spread(things: Iterable[str], errors: ModelErrors | None = None) -> Spread:
    """Return how far off a simulated ratio may be of two runs that differ in some things.

    Each thing adds an error of its own, so that their squares add up. What no two measured runs
    differed in, is given the errors of all ratios.
    """
    errors = errors or model_errors()
    found = [
        known.crossed if (known := errors.ratios.get(thing)) is not None else errors.any_ratio
        for thing in set(things)
    ]
    return together(found or [errors.any_ratio])


def together(spreads: Sequence[Spread]) -> Spread:
    """Return the spread of several errors, each by itself, that add up."""
    return Spread(
        median=math.hypot(*(one.median for one in spreads)),
        nine_of_ten=math.hypot(*(one.nine_of_ten for one in spreads)),
    )


def chance_within(ratio: float, spread: Spread) -> float:
    """Return the chance that a ratio is more than 1 if it may be so far off.

    Errors to either side are as likely, and of their size two quantiles are known. Up to the median
    the share of larger errors falls at a constant rate, and at another one beyond, so that both
    quantiles come out: the simplest distribution that has them, with an exponential tail. With a
    normal one 4 % of the errors would be beyond three times the median, and it is 10 % of those of
    most things.
    """
    off = abs(math.log(ratio))
    if off <= spread.median:
        larger = math.pow(0.5, off / spread.median)
    else:
        # From one half at the median to one tenth at the other quantile, and on.
        larger = 0.5 * math.pow(0.2, (off - spread.median) / (spread.nine_of_ten - spread.median))
    return 1.0 - larger / 2.0 if ratio >= 1.0 else larger / 2.0
