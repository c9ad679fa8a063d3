"""How far simulated *ratios* are off: of two runs that differ in one thing.

Who asks whether more stripes would be faster asks for a ratio, of which an error that both runs
have in common is no part. Two measured rates of one series of measurements make one if they are of
one machine and differ in one thing (:mod:`xc40io.trust.differences`). So do claims that are ratios
themselves.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from xc40io.config.scenario import Scenario
from xc40io.trust.differences import differences
from xc40io.trust.turns import Turn, turns_of
from xc40io.validation.claim import Claim
from xc40io.validation.fold import series_of
from xc40io.validation.measure import FUNCTIONS
from xc40io.validation.metric import EACH
from xc40io.validation.number import part_keys
from xc40io.validation.quantity import SECONDS


class RatedRatio(NamedTuple):
    """A rate of a run, as simulated beside measured."""

    series: str  # The series of measurements that it is of.
    # The run, and which phase of it.
    scenario: Scenario
    phase: str
    number: str  # Which simulated number it is.
    # ``ln(simulated / measured)``, with the machine files and cross-validated.
    fitted: float
    crossed: float
    measured: float  # The measured rate.
    claim: str = ""  # Whose it is.


class RatioPair(NamedTuple):
    """A ratio of two runs."""

    series: str  # The series of measurements that it is of.
    thing: str  # What they differ in.
    numbers: frozenset[str]  # The two simulated numbers.
    # ``ln`` of the simulated ratio over the measured one.
    fitted: float
    crossed: float
    measured: float  # The measured ratio.
    # What it counts: a series of n runs has n - 1 ratios that do not follow from each other.
    weight: float
    claims: tuple[str, ...] = ()  # That it is of.
    # The knob that is turned from the run below to the one above, if it is a knob.
    turn: Turn | None = None

    @property
    def turned(self) -> bool:
        """Whether the slower one of the two was simulated as the faster one."""
        return math.log(self.measured) * (math.log(self.measured) + self.crossed) < 0


def compared(rates: Iterable[RatedRatio]) -> list[RatioPair]:
    """Return the ratios of two rates of one series that differ in one thing."""
    return [ratio for same in by_series(rates) for ratio in _weighed(_pairs(same))]


def by_series(rates: Iterable[RatedRatio]) -> list[list[RatedRatio]]:
    """Return the rates of each series, machine and phase that can be compared, each number once."""
    series: dict[tuple[str, str, str], list[RatedRatio]] = {}
    for rate in rates:
        machine = str(rate.scenario.machine)
        same = series.setdefault((rate.series, machine, rate.phase), [])
        if rate.number not in {one.number for one in same}:
            same.append(rate)
    return list(series.values())


def _pairs(rates: Iterable[RatedRatio]) -> Iterator[RatioPair]:
    for one, other in combinations(rates, 2):
        things = differences(one.scenario, other.scenario)
        if len(things) == 1:
            yield RatioPair(
                one.series,
                things[0],
                frozenset((one.number, other.number)),
                one.fitted - other.fitted,
                one.crossed - other.crossed,
                one.measured / other.measured,
                1.0,
                tuple(dict.fromkeys((one.claim, other.claim))),
                turn_of(other.scenario, one.scenario, one.phase),
            )


def turn_of(before: Scenario, after: Scenario, phase: str) -> Turn | None:
    """Return the knob that two runs are apart by; None if there is not just one."""
    turns = turns_of(before, after, phase)
    return turns[0] if len(turns) == 1 else None


def _weighed(ratios: Iterable[RatioPair]) -> Iterator[RatioPair]:
    """Yield ratios of one series with their weights, thing by thing."""
    things: dict[str, list[RatioPair]] = {}
    for ratio in ratios:
        things.setdefault(ratio.thing, []).append(ratio)
    for same in things.values():
        for chain in _chains(same):
            runs = len(frozenset[str]().union(*(ratio.numbers for ratio in chain)))
            yield from (ratio._replace(weight=(runs - 1) / len(chain)) for ratio in chain)


def _chains(ratios: Iterable[RatioPair]) -> list[list[RatioPair]]:
    """Return ratios in parts that have no run in common."""
    chains: list[list[RatioPair]] = []
    for ratio in ratios:
        joined = [one for one in chains if any(ratio.numbers & other.numbers for other in one)]
        chains = [one for one in chains if one not in joined]
        chains.append([*(other for one in joined for other in one), ratio])
    return chains


def quotient_of(claim: Claim) -> tuple[str, str] | None:
    """Return the two runs of a claim that is a ratio of the same rate of both; else None."""
    if claim.metric is None or claim.relation is None or claim.relation.ratio is None:
        return None
    tree = claim.metric.expression.tree
    calls = list(claim.metric.expression.calls)
    plain = isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.Div) and len(calls) == 2
    if not plain or calls[0][0] != calls[1][0] or calls[0][1][1:] != calls[1][1][1:]:
        return None
    above, below = calls[0][1][0], calls[1][1][0]
    return (above, below) if {above, below} <= claim.runs.keys() else None


def claimed(claim: Claim, fitted: float, crossed: float) -> RatioPair | None:
    """Return the ratio that a claim is itself, if its runs differ in one thing."""
    runs = quotient_of(claim)
    if runs is None or claim.relation is None or claim.relation.ratio is None:
        return None
    things = differences(*(claim.runs[run] for run in runs))
    if len(things) != 1:
        return None
    numbers, measured = frozenset(part_keys(claim)), claim.relation.ratio.base
    turn = _turn_in(claim, *runs)
    return RatioPair(
        series_of(claim), things[0], numbers, fitted, crossed, measured, 1.0, (claim.id,), turn
    )


def _turn_in(claim: Claim, above: str, below: str) -> Turn | None:
    """Return the knob that is turned to the faster one of two runs of a quotient, by its rates."""
    assert claim.metric is not None
    function, (_, *words) = claim.metric.expression.calls[0]
    if FUNCTIONS[function].dimension == SECONDS:
        above, below = below, above
    return turn_of(claim.runs[below], claim.runs[above], " ".join(words) or function)


class Gain(NamedTuple):
    """A simulated gain of a turned knob beside a measured one, or beside a bound."""

    turn: Turn  # The knob.
    claims: tuple[str, ...]  # That say so.
    off: float  # ``ln(simulated / measured)``; of a bound that holds 0.
    weight: float  # What it counts.
    # Between which bounds the measured gain lies; both are it where it is known.
    measured: tuple[float, float]


def gains_of(ratios: Iterable[RatioPair]) -> Iterator[Gain]:
    """Yield the ratios of runs that one knob makes different."""
    for ratio in ratios:
        if ratio.turn is not None:
            both = ratio.measured, ratio.measured
            yield Gain(ratio.turn, ratio.claims, ratio.crossed, ratio.weight, both)


def bounded(claim: Claim, simulated: Sequence[float]) -> Iterator[Gain]:
    """Yield the gains of a claim that bounds them, as ``write(*) / write(1)`` at most 1.05.

    ``simulated``: of each run, in their order.
    """
    metric, relation = claim.metric, claim.relation
    if metric is None or relation is None or claim.unjudged or claim.role != "check":
        return
    calls = list(metric.expression.calls)
    low, high = relation.at_least, relation.at_most
    if len(calls) != 2 or calls[0][1][0] != EACH or FUNCTIONS[calls[0][0]].dimension == SECONDS:
        return
    function, (below, *words) = calls[1]
    known = len(simulated) == len(claim.runs) and min(simulated) > 0.0 and below in claim.runs
    if (low is None and high is None) or not known:
        return
    least, most = low.base if low else 0.0, high.base if high else math.inf
    found = []
    for name, gain in zip(claim.runs, simulated, strict=True):
        turn = turn_of(claim.runs[below], claim.runs[name], " ".join(words) or function)
        if turn is not None:
            found.append((turn, math.log(gain / min(max(gain, least), most))))
    yield from (
        Gain(turn, (claim.id,), off, 1.0 / len(found), (least, most)) for turn, off in found
    )
