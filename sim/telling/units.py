"""The units of figures, and how many digits people see of each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from xc40io.config.units import MB, MIB, format_bytes, format_rate, format_seconds
from xc40io.telling.answer import CELL, TYPED, WORDS, Unit

__all__ = ["CELL", "TYPED", "WORDS"]  # and all below


def four_digits(figure: float) -> str:
    """Write a figure with four digits, zeros at the end among them."""
    return f"{figure:#,.4g}".rstrip(".")


def figure(number: float, digits: int) -> str:
    """Write a number with so many digits at most."""
    return f"{number:,.{digits}g}"


def _measure(pair: Any) -> str:
    value, unit = pair
    return _MEASURED[unit](value)


_DECIMAL = (("GB", 1e9), ("MB", 1e6), ("kB", 1e3), ("bytes", 1.0))


def _amount(size: float) -> str:
    unit, least = next((unit for unit in _DECIMAL if size >= unit[1]), _DECIMAL[-1])
    return f"{size / least:,.4g} {unit}"


def _served(both: tuple[float, int]) -> str:
    size, requests = both
    return f"{size / 1e9:,.3f} GB" if size else f"{requests:,} requests"


def _counted(both: tuple[int, bool]) -> str:
    number, of_bytes = both
    return f"{number / 1e6:,.1f} MB" if of_bytes else f"{number:,}   "


_MEASURED: dict[str, Callable[[float], str]] = {
    "bytes": lambda size: format_bytes(int(size), 3),
    "seconds": lambda seconds: format_seconds(seconds, 3),
    "bytes/s": lambda rate: format_rate(rate, 3),
    "": lambda number: f"{number:,.6g}",
}

NUMBER = Unit("", int, lambda number: f"{number:,}")
FLAG = Unit("", bool, lambda flag: "yes" if flag else "")
SHARE = Unit("0 to 1", float, lambda share: f"{100 * share:.1f} %")
NOTABLE = Unit("0 to 1", float, lambda share: SHARE.write(share) if share >= 0.0005 else "0")
HUNDREDS = Unit("0 to 1", float, lambda share: f"{100 * share:.0f}")  # below %
PERCENT = Unit("0 to 1", float, lambda share: f"{100 * share:.0f} %")
PART = Unit("0 to 1", float, lambda share: f"{100 * share:.3g} %")
CLOCK = Unit("s", float, lambda seconds: f"{seconds:.4f}", above=" (s)")
SECONDS = Unit("s", float, four_digits)
TIME = Unit("s", float, lambda seconds: format_seconds(float(seconds), 4))
QUEUE = Unit("s", float, lambda seconds: format_seconds(float(seconds), 3))
SPAN = Unit("s", object, lambda span: " to ".join(map(TIME.write, span)))  # of a pair
MICROSECONDS = Unit("s", float, lambda seconds: f"{seconds:,.6f}")
HUNDREDTHS = Unit("s", float, lambda seconds: f"{seconds:.2f} s")
PLAIN = Unit("s", float, lambda seconds: f"{figure(seconds, 6)} s")
LONG = Unit("s", float, lambda s: f"{s:,.0f} s" if s >= 10_000 else f"{s:.4g} s")
MONEY = Unit("", float, lambda sum_of: f"{sum_of:,.0f}")
TIMES = Unit("", int, lambda times: f"{times:,} x")
BYTES = Unit("bytes", int, lambda size: format_bytes(size, 3))
SIZE = Unit("bytes", int, format_bytes)  # exactly
AMOUNT = Unit("bytes", float, _amount)
IN_GIGABYTES = Unit("bytes", float, lambda size: figure(size / 1e9, 4))
GIGABYTE = Unit("bytes", float, lambda size: f"{IN_GIGABYTES.write(size)} GB")
MEGABYTES = Unit("bytes, bytes/s", float, lambda size: f"{size / MB:,.3f}")
SERVED = Unit("bytes, requests", object, _served)  # of a pair: what moved no bytes was asked
COUNTED = Unit("see unit", object, _counted)  # of a pair: a number, and whether it is of bytes
MEBIBYTES = Unit("bytes/s", float, lambda rate: f"{figure(rate / MIB, 6)} MiB/s")
RATE = Unit("bytes/s", float, lambda number: format_rate(number, 4))
GIGABYTES = Unit("bytes/s", float, lambda number: four_digits(number / 1e9))
IN_RATES = Unit("bytes/s", float, lambda rate: figure(rate / 1e9, 4))  # below GB/s
THOUSANDTHS = Unit("bytes/s", float, lambda rate: f"{rate / 1e9:,.3f}")  # of 10^9
GAINED = Unit("bytes/s", float, lambda rate: f"{rate / 1e9:+.3f}")
GAINED_PER = Unit(
    "bytes/s", object, lambda pair: f"{pair[0] / 1e6:+,.4g} MB/s per {pair[1]}", left=True
)
PER_SECOND = Unit("1/s", float, lambda number: f"{number:,.4g}", above=" (1/s)")
RATIO = Unit("", float, lambda ratio: f"{ratio:.2f}")
TWO_DECIMALS = Unit("", float, lambda number: f"{number:,.2f}")
TIMES_AS_LONG = Unit("", float, lambda factor: f"{factor:g} times as long", left=True)
FACTOR = Unit("", float, lambda number: f"{number:.3f}")
MEASURE = Unit("see unit", object, _measure)  # of a pair: value, unit
ROWS = Unit("", list)
RECORD = Unit("", dict)
ANY = Unit("", object)


def first_of(most: int) -> Unit:
    """Return the unit of a list of which people see the first so many."""

    def write(all_of_it: Sequence[Any]) -> str:
        more = len(all_of_it) - most
        return ", ".join(map(str, all_of_it[:most])) + (f" and {more:,} more" if more > 0 else "")

    return Unit("", list, write, left=True)
