"""Values that are drawn: a number, some that are alike or weighted, or a lognormal distribution."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Annotated, Any, TypeVar

from pydantic import BeforeValidator, Field, ValidationError, model_validator

from xc40io.config.files import find, read_mapping
from xc40io.config.model import Model, as_tuple, explain
from xc40io.config.parts.provenance import Provenance
from xc40io.config.reading import reading

Kind = TypeVar("Kind", bound=Model)

_Numbers = Annotated[tuple[float, ...], BeforeValidator(as_tuple)]


class DrawnValue(Provenance):
    """From what a value is drawn, and where that comes from."""

    values: _Numbers = ()  # the values there are; one alone is no chance at all
    weights: _Numbers = ()  # how often each comes, compared with the others; alike unless given
    # in place of values: of a lognormal distribution
    median: Annotated[float, Field(gt=0)] | None = None
    mean: Annotated[float, Field(gt=0)] | None = None
    most: Annotated[float, Field(gt=0)] | None = None  # what is drawn above it becomes it

    @model_validator(mode="after")
    def _one_of_the_two(self) -> DrawnValue:
        lognormal = self.median is not None and self.mean is not None
        if bool(self.values) == lognormal or (self.median is None) != (self.mean is None):
            raise ValueError("right would be values: [...], or median and mean")
        if self.weights and len(self.weights) != len(self.values):
            raise ValueError(
                f"{len(self.weights)} weights for {len(self.values)} values; right would be one "
                "for each"
            )
        if self.weights and (min(self.weights) < 0 or sum(self.weights) <= 0):
            raise ValueError("weights are at least 0, and one of them more")
        if self.median and self.mean and self.mean < self.median:
            raise ValueError("the mean of a lognormal distribution is at least its median")
        return self

    def value(self, share: float) -> float:
        """Return the value below which this share of all draws is; ``share`` between 0 and 1."""
        if self.median is None or self.mean is None:
            drawn = self._one_of_the_values(share)
        else:
            # The mean of a lognormal distribution is exp(spread**2 / 2) times its median.
            spread = math.sqrt(2.0 * math.log(self.mean / self.median))
            drawn = self.median * math.exp(spread * NormalDist().inv_cdf(max(share, 1e-12)))
        return drawn if self.most is None else min(drawn, self.most)

    def _one_of_the_values(self, share: float) -> float:
        weights = self.weights or (1.0,) * len(self.values)
        left = share * sum(weights)
        for value, weight in zip(self.values, weights, strict=True):
            if left < weight:
                return value
            left -= weight
        return self.values[-1]


def load_drawn(folder: str, name_or_path: str, kind: type[Kind]) -> Kind:
    """Read what values are drawn from: a file of a folder of ``configs`` by its name, or any file.

    Raises
    ------
    InputError
        If there is none of this name, or a field is wrong.
    """
    path = find(folder, name_or_path)
    with reading(path, f"a file as in configs/{folder}"):
        try:
            return kind.model_validate(_floats(read_mapping(path)))
        except ValidationError as error:
            raise explain(error, str(path), kind) from error


def _floats(value: Any) -> Any:
    """Return whole numbers of a YAML file as floats: the model is strict."""
    if isinstance(value, list | tuple):
        return [_floats(one) for one in value]
    if isinstance(value, dict):
        return {name: _floats(one) for name, one in value.items()}
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value
