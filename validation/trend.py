"""Trends: how a metric goes from run to run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

import numpy as np

from xc40io.validation.relation import Relation

Curve = tuple[Sequence[str], Sequence[float]]
"""Runs and their numbers, in order."""


def trend_complaints(
    relation: Relation, curves: Mapping[str, Sequence[str]], numbers: Mapping[str, float]
) -> list[str]:
    """Return what does not hold of the trends of a relation, in words.

    Parameters
    ----------
    relation
        What should hold.
    curves
        The runs of each series, by its name, in order; a single series may have no name.
    numbers
        The metric by the names of the runs.
    """
    drawn = {name: (runs, [numbers[run] for run in runs]) for name, runs in curves.items()}
    complaints = []
    for name, curve in drawn.items():
        place = f"{name}: " if name else ""
        for kind, check in _OF_A_CURVE.items():
            if kind in relation.kinds:
                complaints += [f"{place}{words}" for words in check(relation, curve)]
    if relation.crossover is not None:
        complaints += _crossover(relation.crossover.between, list(drawn.items()))
    if relation.peak is not None and relation.peak.moves is not None:
        complaints += _moving_peak(relation.slack, drawn)
    return complaints


def _rises(relation: Relation, curve: Curve) -> list[str]:
    return _goes_on(curve, relation, up=True)


def _falls(relation: Relation, curve: Curve) -> list[str]:
    return _goes_on(curve, relation, up=False)


def _goes_on(curve: Curve, relation: Relation, *, up: bool) -> list[str]:
    """Return where a curve turns, and whether it ends where it began."""
    runs, values = curve
    sign, word = (1, "falls") if up else (-1, "rises")
    steps = zip(pairwise(runs), pairwise(values), strict=True)
    complaints = [
        f"{word} by {abs(after / before - 1):.1%} from {one} to {other}"
        for (one, other), (before, after) in steps
        if sign * (after - before) < -relation.slack * before
    ]
    change = sign * (values[-1] / values[0] - 1)
    if change <= 0 or change < relation.gain:
        complaints.append(
            f"changes by {values[-1] / values[0] - 1:+.1%} from {runs[0]} to {runs[-1]}"
        )
    return complaints


def _flat(relation: Relation, curve: Curve) -> list[str]:
    runs, values = curve
    low, high = int(np.argmin(values)), int(np.argmax(values))
    excess = values[high] / values[low] - 1
    if excess <= (relation.flat or 0.0):
        return []
    return [f"{runs[high]} is {excess:.1%} above {runs[low]}"]


def _plateau(relation: Relation, curve: Curve) -> list[str]:
    assert relation.plateau is not None
    runs, values = curve
    if relation.plateau.after not in runs:
        return []
    begin = runs.index(relation.plateau.after)
    return [
        f"{run} is {value / values[begin] - 1:+.1%} off {runs[begin]}"
        for run, value in zip(runs[begin:], values[begin:], strict=True)
        if abs(value / values[begin] - 1) > relation.plateau.within
    ]


def _peak(relation: Relation, curve: Curve) -> list[str]:
    assert relation.peak is not None
    if relation.peak.moves is not None:
        return []
    runs, values = curve
    top = int(np.argmax(values))
    first, last = 1, len(runs) - 2
    if relation.peak.between is not None:
        first, last = (runs.index(run) for run in relation.peak.between)
    return [] if first <= top <= last else [f"is largest at {runs[top]}"]


_OF_A_CURVE: dict[str, Callable[[Relation, Curve], list[str]]] = {
    "rises": _rises,
    "falls": _falls,
    "flat": _flat,
    "plateau": _plateau,
    "peak": _peak,
}


def _crossover(between: tuple[str, str], curves: Sequence[tuple[str, Curve]]) -> list[str]:
    """Return whether two curves do not change places once, between two runs of the first."""
    (one, (runs, above)), (other, (_, below)) = curves[:2]
    over = [first > second for first, second in zip(above, below, strict=True)]
    changes = [place for place in range(1, len(over)) if over[place] != over[place - 1]]
    first, last = (runs.index(run) for run in between)
    if len(changes) == 1 and first < changes[0] <= last:
        return []
    where = ", ".join(f"between {runs[place - 1]} and {runs[place]}" for place in changes)
    return [f"{one} and {other} change places {where or 'nowhere'}"]


def _moving_peak(slack: float, curves: Mapping[str, Curve]) -> list[str]:
    """Return whether the place of the peak comes down from one series to the next, or stays.

    A series may have its peak wherever it is below its largest value by ``slack`` at most.
    """
    places: list[int] = []
    for _, values in curves.values():
        as_good = np.flatnonzero(np.asarray(values) >= max(values) * (1 - slack))
        up = (int(place) for place in as_good if not places or place >= places[-1])
        places.append(next(up, -1))
    if places == sorted(places) and places[-1] > places[0]:
        return []
    tops = ", ".join(
        f"{name} at {runs[int(np.argmax(values))]}" for name, (runs, values) in curves.items()
    )
    return [f"the largest values are of {tops}"]
