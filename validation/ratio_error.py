"""How far simulated *ratios* are off: of two runs that differ in one thing.

Who asks whether more stripes would be faster asks for a ratio, of which an error that both runs
have in common is no part. Two measured rates of one series of measurements make one if they are of
one machine and differ in one thing: nodes, processes a node, the size of calls and data, stripes,
the interface, hints, direct I/O, syncs, settings of the machine, or one file for all or for each.
So do claims that are ratios themselves.
"""

from __future__ import annotations

import ast
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations
from typing import Any, NamedTuple

from sim.config.scenario import Scenario
from sim.studies.model_error import layout_of
from sim.workloads.catalogue import workload_of
from sim.workloads.ior.command import Ior
from validation.claim import Claim
from validation.number import part_keys

LAYOUT = "one file or many"
"""The thing that brings others with it: who writes a file for each rank stripes it otherwise."""

_WITH_LAYOUT = ("stripes", "size", "interface")
_ALIKE = 1.1  # factor between the data of two ranks that count as equally much


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


def differences(one: Scenario, other: Scenario) -> list[str]:
    """Return in what two runs differ, in words; what belongs to another layout is part of it."""
    first, second = _things(one), _things(other)
    found = [name for name in first.keys() | second.keys() if first.get(name) != second.get(name)]
    if LAYOUT in found and _alike(one, other):
        found = [name for name in found if name not in _WITH_LAYOUT]
    return sorted(found)


def compared(rates: Iterable[Rated]) -> list[Compared]:
    """Return the ratios of two rates of one series that differ in one thing."""
    series: dict[tuple[str, str, str], list[Rated]] = {}
    for rate in rates:
        machine = str(rate.scenario.machine)
        same = series.setdefault((rate.series, machine, rate.phase), [])
        if rate.number not in {one.number for one in same}:
            same.append(rate)
    return [ratio for same in series.values() for ratio in _weighed(_pairs(same))]


def _pairs(rates: Iterable[Rated]) -> Iterator[Compared]:
    for one, other in combinations(rates, 2):
        things = differences(one.scenario, other.scenario)
        if len(things) == 1:
            yield Compared(
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
    calls = list(claim.metric.expression.calls())
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
    return Compared(things[0], numbers, fitted, crossed, measured, 1.0)


def _things(scenario: Scenario) -> Mapping[str, Any]:
    """Return what a run is made of, each by a word."""
    document = scenario.model_dump(mode="json", exclude={"title", "description", "workload"})
    things = {
        "nodes": document.pop("nodes"),
        "processes a node": document.pop("ppn"),
        "stripes": document.pop("striping"),
        "hints": document.pop("environment"),
        "settings of the machine": document.pop("changes"),
        LAYOUT: layout_of(scenario),
    }
    workload = workload_of(scenario.workload)
    if isinstance(workload, Ior):
        tests = [vars(test).copy() for test in workload.command.tests]
        things["size"] = [
            [test.pop(name) for name in ("block_size", "transfer_size", "segments")]
            for test in tests
        ]
        # Which of the two API rules hold follows from the interface, as the claims are put.
        things["interface"] = [
            [test.pop(name) for name in ("api", "api_as_typed", "version")] for test in tests
        ]
        things["direct I/O"] = [test.pop("direct_io") for test in tests]
        things["syncs"] = [
            [test.pop(name) for name in ("fsync", "fsync_per_write")] for test in tests
        ]
        for test in tests:
            del test["file_per_process"], test["collective"]
        document["workload"] = repr(tests)
    else:
        document["workload"] = repr(scenario.workload)
    things["something else"] = json.dumps(document, sort_keys=True, default=str)
    return things


def _alike(one: Scenario, other: Scenario) -> bool:
    """Tell whether the ranks of two runs move about as much data each."""
    data = [
        workload_of(scenario.workload).bytes_to_move(scenario.nodes * scenario.ppn)
        / (scenario.nodes * scenario.ppn)
        for scenario in (one, other)
    ]
    return max(data) <= _ALIKE * min(data)
