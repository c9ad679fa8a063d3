"""The units of figures, and how many digits people see of each. No other module writes a number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xc40io.config.units import format_bytes, format_rate, format_seconds
from xc40io.telling.answer import CELL, TYPED, WORDS, Unit

__all__ = ["CELL", "TYPED", "WORDS"]  # and all below


def four_digits(figure: float) -> str:
    """Write a figure with four digits, zeros at the end among them."""
    return f"{figure:#,.4g}".rstrip(".")


def _measure(figure: Any) -> str:
    value, unit = figure
    return _MEASURED[unit](value)


_MEASURED: dict[str, Callable[[float], str]] = {
    "bytes": lambda size: format_bytes(int(size), 3),
    "seconds": lambda seconds: format_seconds(seconds, 3),
    "bytes/s": lambda rate: format_rate(rate, 3),
    "": lambda number: f"{number:,.6g}",
}

NUMBER = Unit("", int, lambda number: f"{number:,}")
FLAG = Unit("", bool, lambda flag: "yes" if flag else "")
SHARE = Unit("0 to 1", float, lambda share: f"{100 * share:.1f} %")
CLOCK = Unit("s", float, lambda seconds: f"{seconds:.4f}", above=" (s)")
SECONDS = Unit("s", float, four_digits)
BYTES = Unit("bytes", int, lambda size: format_bytes(size, 3))
RATE = Unit("bytes/s", float, lambda number: format_rate(number, 4))
GIGABYTES = Unit("bytes/s", float, lambda number: four_digits(number / 1e9))
PER_SECOND = Unit("1/s", float, lambda number: f"{number:,.4g}", above=" (1/s)")
FACTOR = Unit("", float, lambda number: f"{number:.3f}")
MEASURE = Unit("see unit", object, _measure)  # of a pair: value, unit
ROWS = Unit("", list)
RECORD = Unit("", dict)
ANY = Unit("", object)
