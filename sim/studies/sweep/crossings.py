"""Where one choice overtakes another, as local SSDs overtake Lustre on so many nodes.

A sweep has such a race where one of two axes is of numbers above 0 (nodes, ranks, sizes) and the
other one is a choice, as ``target.kind`` is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, pairwise
from math import exp, log
from typing import Any, NamedTuple

from xc40io.config.units import format_bytes
from xc40io.studies.axes import Axis

_EQUAL = log(1.01)
"""Of logarithms of rates: chance moves one as far, and none of two as near is the faster one."""

_UNITS = {"nodes": "nodes", "ppn": "ranks a node"}


class Crossing(NamedTuple):
    """Where one choice overtakes another."""

    before: str  # the faster one at smaller values
    after: str  # and at larger ones
    between: tuple[str, str]  # the last value where `before` is faster, the first where `after` is
    about: float  # where both are equal, on the line between the two runs; both axes logarithmic


class Fastest(NamedTuple):
    """A choice that is faster than all others at each value."""

    choice: str
    leads: tuple[float, ...]  # how many times the rate of the next it has, at each value


class Race(NamedTuple):
    """The rates of a phase by two axes of a sweep."""

    phase: str
    along: Axis  # of numbers
    among: Axis  # the choices
    rates: Mapping[str, Sequence[float | None]]  # by choice, at each value; None: not measured

    def crossings(self) -> list[Crossing]:
        """Return where one choice overtakes another, pair by pair."""
        pairs = combinations(self.rates, 2)
        return [crossing for pair in pairs for crossing in self._between(*pair)]

    def _between(self, first: str, second: str) -> Iterator[Crossing]:
        """Yield where one of two choices overtakes the other."""
        assert self.along.numbers is not None  # race_of asks for numbers
        leads = [  # logarithms of how many times as fast the second one is
            (place, label, log(other / one))
            for place, label, one, other in zip(
                self.along.numbers.values,
                self.along.labels,
                self.rates[first],
                self.rates[second],
                strict=True,
            )
            if one and other and abs(log(other / one)) > _EQUAL
        ]
        for (low, low_label, lead), (high, high_label, later) in pairwise(sorted(leads)):
            if lead * later < 0.0:
                about = exp(log(low) + lead / (lead - later) * log(high / low))
                before, after = (first, second) if lead < 0.0 else (second, first)
                yield Crossing(before, after, (low_label, high_label), about)

    def always_fastest(self) -> Fastest | None:
        """Return the choice that is the fastest wherever several have a rate; None if none is."""
        winners, leads = set(), []
        for column in zip(*self.rates.values(), strict=True):
            ranking = sorted(
                (rate, name) for name, rate in zip(self.rates, column, strict=True) if rate
            )
            if len(ranking) > 1:
                (next_rate, _), (rate, name) = ranking[-2:]
                winners.add(name if log(rate / next_rate) > _EQUAL else None)
                leads.append(rate / next_rate)
        winner = winners.pop() if len(winners) == 1 else None
        return None if winner is None else Fastest(winner, tuple(leads))

    def words(self) -> Iterator[str]:
        """Say where one choice overtakes another, or which is always the fastest."""
        phase, path = self.phase.capitalize(), self.along.path
        for crossing in self.crossings():
            low, high = crossing.between
            unit = _UNITS.get(path)
            where = f"{low} and {high} {unit}" if unit else f"{path}={low} and {path}={high}"
            yield (
                f"{phase}: {self._name(crossing.after)} overtakes {self._name(crossing.before)} "
                f"between {where}, at about {self._about(crossing.about)}."
            )
        best = self.always_fastest()
        if best is not None:
            low, high = (f"{lead:.3g}" for lead in (min(best.leads), max(best.leads)))
            leads = low if low == high else f"{low} to {high}"
            yield (
                f"{phase}: {self._name(best.choice)} is the fastest at each value of {path}, "
                f"{leads} times the next."
            )

    def _name(self, label: str) -> str:
        """Return a choice as it is told: ``ssd`` says enough, ``True`` does not."""
        words = all(isinstance(value, str) for value in self.among.values)
        return label if words else f"{self.among.path}={label}"

    def _about(self, value: float) -> str:
        """Return a number of the axis with two digits that count, and the unit of its values."""
        assert self.along.numbers is not None
        unit = self.along.numbers.unit
        if unit == "bytes":
            return format_bytes(round(value), 2)
        rounded = float(f"{value:.2g}")
        number = f"{rounded:,.0f}" if rounded >= 10.0 else f"{rounded:g}"
        return f"{number} {unit}".rstrip()

    def documents(self) -> Iterator[dict[str, Any]]:
        """Yield the crossings for JSON; ``about`` is a plain number, of sizes in bytes."""
        for crossing in self.crossings():
            place = {"phase": self.phase, "along": self.along.path, "among": self.among.path}
            yield place | crossing._asdict()


def race_of(
    phase: str, axes: Sequence[Axis], rates: Mapping[tuple[str, ...], float | None]
) -> Race | None:
    """Return the race of a phase over two axes; None unless one is of numbers, one a choice.

    `rates` are bytes/s or items/s by the labels of the values of all axes, in their order.
    """
    several = [axis for axis in axes if len(axis.values) > 1]
    along = [axis for axis in several if axis.numbers and min(axis.numbers.values) > 0.0]
    among = [axis for axis in several if axis.numbers is None]
    if len(several) != 2 or not along or not among:
        return None
    line: dict[str, list[float | None]] = {label: [] for label in among[0].labels}
    places = axes.index(along[0]), axes.index(among[0])
    by_place = {tuple(labels[place] for place in places): rate for labels, rate in rates.items()}
    for choice, row in line.items():
        row += [by_place.get((label, choice)) for label in along[0].labels]
    return Race(phase, along[0], among[0], line)
