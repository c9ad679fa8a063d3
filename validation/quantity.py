"""Published numbers with their units: ``60 GB/s``, ``120 us``, ``29 %``, ``1.5``."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from xc40io.config import units
from xc40io.config.errors import InputError


@dataclass(frozen=True)
class Dimension:
    """What a number measures, as powers of bytes and of seconds: bytes/s is ``(1, -1)``.

    Dimensions can be multiplied and divided, also by plain numbers, as what they are of.
    """

    bytes: int
    seconds: int

    def __mul__(self, other: Dimension | float) -> Dimension:
        by = other if isinstance(other, Dimension) else NUMBER
        return Dimension(self.bytes + by.bytes, self.seconds + by.seconds)

    __rmul__ = __mul__

    def __truediv__(self, other: Dimension | float) -> Dimension:
        by = other if isinstance(other, Dimension) else NUMBER
        return Dimension(self.bytes - by.bytes, self.seconds - by.seconds)

    def __rtruediv__(self, other: float) -> Dimension:
        return NUMBER / self


NUMBER = Dimension(0, 0)
BYTES = Dimension(1, 0)
SECONDS = Dimension(0, 1)
RATE = Dimension(1, -1)
PER_SECOND = Dimension(0, -1)

NOUNS = {
    NUMBER: "a number without a unit (or in %)",
    BYTES: "a size, as 9.2 PB",
    SECONDS: "a time, as 0.95 s",
    RATE: "a rate, as 60 GB/s",
    PER_SECOND: "operations per second, as in 30 kop/s",
}
"""What a number of each dimension looks like, for messages."""

_KINDS: dict[Dimension, tuple[Callable[[object], float], Callable[[float], str]]] = {
    RATE: (units.parse_rate, partial(units.format_rate, digits=3)),
    SECONDS: (units.parse_seconds, partial(units.format_seconds, digits=3)),
    PER_SECOND: (units.parse_per_second, partial(units.format_per_second, digits=3)),
    BYTES: (units.parse_bytes, lambda base: units.format_bytes(round(base), 3)),
}
"""How numbers of a dimension are read, and written in a unit that suits them."""

_PERCENT = 0.01


@dataclass(frozen=True)
class Quantity:
    """A number as a source prints it."""

    base: float  # The number in bytes, seconds, bytes/s or operations/s, or without a unit.
    unit: str  # As written; empty for a plain number.
    scale: float  # What one of this unit is in the base unit.
    dimension: Dimension  # What it measures.

    def show(self, base: float) -> str:
        """Write a number of the base unit in the unit of this one, with three or four digits."""
        number = base / self.scale
        digits = 4 if abs(number) >= 1000 else 3
        return f"{float(f'{number:.{digits}g}'):,.10g} {self.unit}".rstrip()

    def __str__(self) -> str:
        """Write it as its source does."""
        return f"{self.base / self.scale:,.10g} {self.unit}".rstrip()


def parse_quantity(value: object) -> Quantity:
    """Read a number with its unit.

    Parameters
    ----------
    value : str, int or float
        ``60 GB/s``, ``9.2 PB``, ``120 us``, ``30 kop/s``, ``29 %``, or a number without a unit.
        Unlike IOR's, a size has a unit that says whether it is binary: ``MB`` or ``MiB``, not
        ``m``.

    Raises
    ------
    InputError
        If it is none of these.
    """
    if isinstance(value, Quantity):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return Quantity(float(value), "", 1.0, NUMBER)
    found = units.split_unit(value)
    if found is not None:
        number, unit = found
        if unit in ("", "%"):
            scale = _PERCENT if unit else 1.0
            return Quantity(float(number) * scale, unit, scale, NUMBER)
        if len(unit) > 1 or unit in "Bs":
            for dimension, (parse, _) in _KINDS.items():
                try:
                    return Quantity(parse(value), unit, float(parse(f"1 {unit}")), dimension)
                except InputError:
                    continue
    raise InputError(
        f"{value!r} is not a number with a unit; right would be 60 GB/s, 9.2 PB, 120 us, "
        "29 % or 1.5"
    )


def parse_fraction(value: object) -> float:
    """Read a part of something: ``25%`` is 0.25; a plain number is one already; else InputError."""
    quantity = parse_quantity(value)
    if quantity.dimension != NUMBER:
        raise InputError(f"{value!r} is not a part of something; right would be 25%")
    return quantity.base


def natural(base: float, dimension: Dimension) -> Quantity:
    """Return a number of the base unit as one with a unit in which it is easy to read."""
    written = _KINDS[dimension][1](base) if dimension in _KINDS else ""
    unit = written.partition(" ")[2]
    scale = parse_quantity(f"1 {unit}").scale if unit else 1.0
    return Quantity(base, unit, scale, dimension)


def _quotient(above: Any, below: Any) -> Any:
    return math.inf if below == 0 else above / below


PRODUCTS: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Mult: operator.mul,
    ast.Div: _quotient,
}
"""The operators of expressions about quantities, for numbers and for their dimensions; a division
by nothing is infinite."""

Measured = Annotated[Quantity, BeforeValidator(parse_quantity)]
"""A number with its unit."""

Fraction = Annotated[float, BeforeValidator(parse_fraction), Field(ge=0)]
"""A part of something, zero or more: ``25%``."""
