"""What a claim says of its metric: values with a tolerance, trends, quantiles.

A relation may say several things of one metric, which must all hold: that it rises, and that it
has a plateau from one of its points on.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, model_validator

from xc40io.config.model import Model
from xc40io.validation.quantity import NOUNS, NUMBER, Dimension, Fraction, Measured, Quantity


def _by_text(value: object) -> object:
    """Turn the keys of a mapping, which name runs and may be numbers in YAML, into text."""
    return {str(key): item for key, item in value.items()} if isinstance(value, dict) else value


def _word(value: object) -> object:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


RunName = Annotated[str, BeforeValidator(_word)]
"""A run's name; in YAML it may be a number."""


def _pair(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


Pair = Annotated[tuple[RunName, RunName], BeforeValidator(_pair)]


class Plateau(Model):
    """From one point on, nothing changes any more."""

    after: RunName  #: The run from which on the metric keeps its value.
    #: By which part of that value the metric of the runs behind it may differ.
    within: Fraction = 0.10


class Crossover(Model):
    """Of two series, the first is higher at first and the second in the end, or the reverse."""

    #: The runs of the first series between which they change places, the two included.
    between: Pair


class Peak(Model):
    """The largest value lies within the series, at neither end."""

    #: The runs between which it lies, these two included; in place of "at neither end".
    between: Pair | None = None
    #: Of several series: ``up`` if the peak's place does not come down from one series to the next,
    #: and does go up from the first to the last.
    moves: Literal["up"] | None = None


class Quantiles(Model):
    """Quantiles of the metric over the seeds of a claim."""

    #: The measured ones; those that are not known are left out.
    p05: Measured | None = None
    p25: Measured | None = None
    p50: Measured | None = None
    p75: Measured | None = None
    p95: Measured | None = None
    largest: Measured | None = None
    tolerance: Fraction  #: By which part each simulated one may differ.

    def measured(self) -> dict[str, Quantity]:
        """Return those that are known, by their names."""
        found = {name: getattr(self, name) for name in QUANTILES}
        return {name: quantity for name, quantity in found.items() if quantity is not None}


def _peak(value: object) -> object:
    """Read ``true`` as a peak of which nothing more is said."""
    return {} if value is True else value


class Relation(Model):
    """What must hold of a metric."""

    #: What was measured; ``ratio`` of a metric that is a quotient.
    value: Measured | None = None
    ratio: Measured | None = None
    #: The same for several runs, by their names.
    values: Annotated[dict[str, Measured] | None, BeforeValidator(_by_text)] = None
    #: By which part of the measured value the simulated one may differ.
    tolerance: Fraction | None = None
    #: Bounds, of the metric of every run.
    at_most: Measured | None = None
    at_least: Measured | None = None
    #: Whether the metric does so from run to run, in the order in which they are written. The last
    #: one is then beyond the first by ``gain`` at least.
    rises: Literal[True] | None = None
    falls: Literal[True] | None = None
    #: By which part of the one before it may go the other way. Of a peak that moves: by which part
    #: of the largest value another may be below it and still be the peak.
    slack: Fraction = 0.0
    gain: Fraction = 0.0  #: By which part the last one must be beyond the first.
    flat: Fraction | None = None  #: By which part the largest may exceed the smallest.
    #: See there.
    plateau: Plateau | None = None
    crossover: Crossover | None = None
    peak: Annotated[Peak | None, BeforeValidator(_peak)] = None
    quantiles: Quantiles | None = None
    #: Of a parameter: a word or a number, to be met exactly.
    equals: bool | int | float | str | None = None

    @property
    def kinds(self) -> tuple[str, ...]:
        """What it says something about, in the order above."""
        return tuple(kind for kind in _KINDS if getattr(self, kind) is not None)

    @property
    def has_values(self) -> bool:
        """Whether measured numbers are compared with simulated ones."""
        return bool({"value", "ratio", "values", "quantiles"} & set(self.kinds))

    @property
    def is_trend(self) -> bool:
        """Whether it compares the runs of a claim with each other."""
        return bool(_TRENDS & set(self.kinds))

    @property
    def words(self) -> str:
        """What was published, in a few words; empty if it is a list of numbers."""
        most, least = self.at_most, self.at_least
        said = [str(self.value or self.ratio)] if self.value or self.ratio else []
        if most is not None and least is not None:
            said.append(f"{least} to {most}")
        elif most is not None or least is not None:
            said.append(f"at most {most}" if most is not None else f"at least {least}")
        said += [trend for trend in ("rises", "falls") if trend in self.kinds]
        said += [f"flat within {self.flat:.0%}"] if self.flat is not None else []
        said += [f"plateau from {self.plateau.after}"] if self.plateau is not None else []
        said += ["crossover"] if self.crossover is not None else []
        if self.peak is not None:
            said.append("peak moves up" if self.peak.moves else "peak")
        said += [str(self.equals).lower()] if self.equals is not None else []
        return ", ".join(said)

    @property
    def runs(self) -> list[str]:
        """The runs that it names."""
        named = list(self.values or {})
        named += [self.plateau.after] if self.plateau is not None else []
        for crossing in (self.crossover, self.peak):
            named += crossing.between or () if crossing is not None else ()
        return named

    def measured(self) -> dict[str, Quantity]:
        """Return what was measured, by run or quantile; a single number has no name."""
        single = self.value or self.ratio
        if single is not None:
            return {"": single}
        return dict(self.values or {}) or (self.quantiles.measured() if self.quantiles else {})

    def quantities(self) -> dict[str, Quantity]:
        """Return the measured numbers by the names of their fields."""
        names = ("value", "ratio", "at_most", "at_least")
        found = {name: given for name in names if (given := getattr(self, name)) is not None}
        found |= {f"values.{run}": measured for run, measured in (self.values or {}).items()}
        if self.quantiles is not None:
            measured = self.quantiles.measured()
            found |= {f"quantiles.{name}": quantity for name, quantity in measured.items()}
        return found

    def check(self, dimension: Dimension) -> None:
        """Raise ValueError unless the numbers measure what a metric of `dimension` does."""
        for name, measured in self.quantities().items():
            if measured.dimension != dimension:
                noun = NOUNS.get(dimension, "of another dimension")
                raise ValueError(f"{name} = {measured}; right would be {noun}")
        if self.ratio is not None and dimension != NUMBER:
            raise ValueError("ratio is of a metric that is a quotient; right would be value")

    @model_validator(mode="after")
    def _makes_sense(self) -> Relation:
        if not self.kinds:
            raise ValueError(f"says nothing; right would be one of {', '.join(_KINDS)}")
        numbers = [kind for kind in ("value", "ratio", "values") if kind in self.kinds]
        if bool(numbers) != (self.tolerance is not None) or len(numbers) > 1:
            raise ValueError(
                "right would be one of value, ratio and values with a tolerance, as in 25%, "
                "or none of these four"
            )
        if self.rises and self.falls:
            raise ValueError("a metric does not both rise and fall")
        return self


QUANTILES = {"p05": 0.05, "p25": 0.25, "p50": 0.50, "p75": 0.75, "p95": 0.95, "largest": 1.0}
"""The quantiles by their fields."""

_TRENDS = frozenset({"rises", "falls", "flat", "plateau", "crossover", "peak"})
_KINDS = (
    "value",
    "ratio",
    "values",
    "at_most",
    "at_least",
    "rises",
    "falls",
    "flat",
    "plateau",
    "crossover",
    "peak",
    "quantiles",
    "equals",
)
