"""How far simulated *ratios* are off: of two runs that differ in one thing.

Who asks whether more stripes would be faster asks for a ratio, of which an error that both runs
have in common is no part. Two measured rates of one series of measurements make one if they are of
one machine and differ in one thing (:mod:`xc40io.trust.differences`). So do claims that are ratios
themselves.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import NamedTuple

from xc40io.config.scenario import Scenario
from xc40io.trust.differences import differences
from xc40io.validation.claim import Claim
from xc40io.validation.fold import series_of
from xc40io.validation.number import part_keys


class Rated(NamedTuple):
    """A rate of a run, as simulated beside measured.

    Attributes
    ----------
    series
        The series of measurements that it is of.
    scenario, phase
        The run, and which phase of it.
    number
        Which simulated number it is.
    fitted, crossed
        ``ln(simulated / measured)``, with the machine files and cross-validated.
    measured
        The measured rate.
    """

    series: str
    scenario: Scenario
    phase: str
    number: str
    fitted: float
    crossed: float
    measured: float


class Compared(NamedTuple):
    """A ratio of two runs.

    Attributes
    ----------
    series
        The series of measurements that it is of.
    thing
        What they differ in.
    numbers
        The two simulated numbers.
    fitted, crossed
        ``ln`` of the simulated ratio over the measured one.
    measured
        The measured ratio.
    weight
        What it counts: a series of n runs has n - 1 ratios that do not follow from each other.
    """

    series: str
    thing: str
    numbers: frozenset[str]
    fitted: float
    crossed: float
    measured: float
    weight: float

    @property
    def turned(self) -> bool:
        """Whether the slower one of the two was simulated as the faster one."""
        return math.log(self.measured) * (math.log(self.measured) + self.crossed) < 0


def compared(rates: Iterable[Rated]) -> list[Compared]:
    """Return the ratios of two rates of one series that differ in one thing."""
    return [ratio for same in by_series(rates) for ratio in _weighed(_pairs(same))]


def by_series(rates: Iterable[Rated]) -> list[list[Rated]]:
    """Return the rates of each series, machine and phase that can be compared, each number once."""
    series: dict[tuple[str, str, str], list[Rated]] = {}
    for rate in rates:
        machine = str(rate.scenario.machine)
        same = series.setdefault((rate.series, machine, rate.phase), [])
        if rate.number not in {one.number for one in same}:
            same.append(rate)
    return list(series.values())


def _pairs(rates: Iterable[Rated]) -> Iterator[Compared]:
    for one, other in combinations(rates, 2):
        things = differences(one.scenario, other.scenario)
        if len(things) == 1:
            yield Compared(
                one.series,
                things[0],
                frozenset((one.number, other.number)),
                one.fitted - other.fitted,
                one.crossed - other.crossed,
                one.measured / other.measured,
                1.0,
            )


def _weighed(ratios: Iterable[Compared]) -> Iterator[Compared]:
    """Yield ratios of one series with their weights, thing by thing."""
    things: dict[str, list[Compared]] = {}
    for ratio in ratios:
        things.setdefault(ratio.thing, []).append(ratio)
    for same in things.values():
        for chain in _chains(same):
            runs = len(frozenset[str]().union(*(ratio.numbers for ratio in chain)))
            yield from (ratio._replace(weight=(runs - 1) / len(chain)) for ratio in chain)


def _chains(ratios: Iterable[Compared]) -> list[list[Compared]]:
    """Return ratios in parts that have no run in common."""
    chains: list[list[Compared]] = []
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


def claimed(claim: Claim, fitted: float, crossed: float) -> Compared | None:
    """Return the ratio that a claim is itself, if its runs differ in one thing."""
    runs = quotient_of(claim)
    if runs is None or claim.relation is None or claim.relation.ratio is None:
        return None
    things = differences(*(claim.runs[run] for run in runs))
    if len(things) != 1:
        return None
    numbers, measured = frozenset(part_keys(claim)), claim.relation.ratio.base
    return Compared(series_of(claim), things[0], numbers, fitted, crossed, measured, 1.0)
