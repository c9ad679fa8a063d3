"""Sizes, rates and times as people write them, and as the simulator keeps them.

Inside, every quantity is a plain number: bytes, bytes per second, seconds, operations per second.
Units appear only where a person reads or types. A prefix never has two meanings here:

======================  ==========================  =========================================
written                 means                       who writes so
======================  ==========================  =========================================
``8m``, ``1g``          powers of 1024              IOR and ``lfs``: one letter, any case
``8 MiB``, ``1 GiB``    powers of 1024              everyone
``172 GB/s``, ``6 TB``  powers of 1000              vendors, the Theta documents
``5.5 us``, ``20 ms``   seconds                     everyone
``99.6 kop/s``          operations per second       metadata benchmarks
``8388608``             bytes, bytes/s, s or op/s   programs
======================  ==========================  =========================================

``Mb``, ``Gb/s`` and their kind are refused: they mean bits, and a factor of eight lost in a machine
file would never be found.

Programs that are simulated read whole numbers with suffixes of their own, :class:`Suffixed`:
``8m`` is 8 MiB for IOR, and so is ``8MB``.

The annotated types :data:`Bytes`, :data:`Rate`, :data:`Seconds` and :data:`PerSecond` let a
pydantic model read all of these forms, and write them with a unit when it is dumped in JSON mode.
:data:`Count` and :data:`Fraction` are for numbers without a unit.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Generic, TypeVar

from pydantic import BeforeValidator, Field, PlainSerializer

from xc40io.config.errors import InputError, shown

KIB = 1 << 10
MIB = 1 << 20
GIB = 1 << 30
MB = 1e6
GB = 1e9

_MICRO = ("us", "\u00b5s", "\u03bcs")  # with the micro sign and with the Greek letter
_NUMBER_AND_UNIT = re.compile(
    r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,9})?)\s*([^\s\d]*)\s*", re.ASCII
)
_ABSURD = 30  # a number with more digits than this would only make the arithmetic slow
_MOST_DIGITS = 18  # of a count: fits 64 bits

MOST_BYTES = 1 << 62
"""The largest size: sums of two still fit 64 bits."""

MOST_COUNT = (1 << 31) - 1
"""The largest number of things: they are numbered with 32 bits."""

MOST_SECONDS = float(1 << 23)
"""The longest time, 97 days: after that the clock would not tell nanoseconds apart."""


@dataclass(frozen=True)
class _Quantity:
    """One kind of quantity: its units, and how it is read and printed.

    Parameters
    ----------
    noun : str
        What the quantity is called in a message, with its article.
    scales : mapping of str to Decimal
        Every accepted unit and how many of the base unit it is.
    printed : tuple of str
        The units that are printed, largest first.
    examples : str
        Forms that would be right, for the message about one that is not.
    most : float
        The largest in the base unit; 0: any that can be reckoned with.
    most_written : str
        The largest, for the message about one that is larger.
    """

    noun: str
    scales: Mapping[str, Decimal]
    printed: tuple[str, ...]
    examples: str
    most: float = 0.0
    most_written: str = f"10^{_ABSURD}"

    def parse(self, value: object) -> Decimal:
        """Return `value`, a number or a text with or without a unit, in the base unit."""
        number, scale = self.read(value)
        return number * scale

    def read(self, value: object) -> tuple[Decimal, Decimal]:
        """Return the number of `value` as it is written, and how much its unit is."""
        if isinstance(value, int | float) and not isinstance(value, bool):
            number, scale = _decimal(value), Decimal(1)
        else:
            found = split_unit(value)
            if found is None or found[1] not in self.scales:
                raise self._refusal(value)
            number, scale = Decimal(found[0]), self.scales[found[1]]
        if not (number.is_finite() and number >= 0):
            raise self._refusal(value)
        if number.adjusted() >= _ABSURD or (self.most and number * scale > self.most):
            raise InputError(
                f"{shown(value)} is too large; right would be at most {self.most_written}"
            )
        return number, scale

    def _refusal(self, value: object) -> InputError:
        return InputError(f"{shown(value)} is not {self.noun}; right would be {self.examples}")

    def format(self, value: float, digits: int | None) -> str:
        """Return `value` with the largest unit that is not larger than it.

        With `digits`, that many significant ones; without, exactly.
        """
        exact = _decimal(value)
        if not exact:
            return f"0 {next(unit for unit in self.printed if self.scales[unit] == 1)}"
        unit = next((u for u in self.printed if abs(exact) >= self.scales[u]), self.printed[-1])
        scaled = exact / self.scales[unit]
        if digits is None:
            return f"{_plain(scaled)} {unit}"
        return f"{scaled:.{max(0, digits - 1 - scaled.adjusted())}f} {unit}"


def _decimal(value: float) -> Decimal:
    """Return an int exactly, and a float as the shortest decimal number that stands for it."""
    return Decimal(value if isinstance(value, int) else repr(float(value)))


def _plain(number: Decimal) -> str:
    """Return a number without an exponent and without zeros that say nothing."""
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


_DECIMAL_PREFIXES = {"": 0, "k": 1, "K": 1, "M": 2, "G": 3, "T": 4, "P": 5}
_BINARY_PREFIXES = {"Ki": 1, "Mi": 2, "Gi": 3, "Ti": 4, "Pi": 5}
_BYTE_UNITS = {
    **{f"{prefix}B": Decimal(1000) ** power for prefix, power in _DECIMAL_PREFIXES.items()},
    **{f"{prefix}B": Decimal(1024) ** power for prefix, power in _BINARY_PREFIXES.items()},
}
_LETTERS = {
    letter: Decimal(1024) ** power
    for power, letters in enumerate(("kK", "mM", "gG", "tT", "pP"), start=1)
    for letter in letters
}

_SIZE = _Quantity(
    noun="a size",
    scales={"": Decimal(1), **_BYTE_UNITS, **_LETTERS},
    printed=("PiB", "TiB", "GiB", "MiB", "KiB", "B"),
    examples="8m or 8 MiB (2^20 bytes each), 8 MB (10^6 bytes each) or a number of bytes",
    most=MOST_BYTES,
    most_written="4096 PiB (2^62 bytes)",
)
_DECIMAL_SIZES = ("PB", "TB", "GB", "MB", "kB")
_RATE = _Quantity(
    noun="a rate",
    scales={"": Decimal(1), **{f"{unit}/s": scale for unit, scale in _BYTE_UNITS.items()}},
    printed=("TB/s", "GB/s", "MB/s", "kB/s", "B/s"),
    examples="172 GB/s (10^9 bytes/s), 200 MiB/s (2^20 bytes/s) or a number of bytes/s",
)
_TIME = _Quantity(
    noun="a time",
    scales={
        "": Decimal(1),
        "s": Decimal(1),
        "ms": Decimal("1e-3"),
        **dict.fromkeys(_MICRO, Decimal("1e-6")),
        "ns": Decimal("1e-9"),
        "min": Decimal(60),
        "h": Decimal(3600),
    },
    printed=("s", "ms", "us", "ns"),
    examples="5.5 us, 20 ms, 3 s, 2 min or a number of seconds",
    most=MOST_SECONDS,
    most_written=f"{MOST_SECONDS:.0f} s (97 days: the clock tells nanoseconds apart up to there)",
)
_FREQUENCY = _Quantity(
    noun="a rate of operations",
    scales={
        "": Decimal(1),
        "op/s": Decimal(1),
        "kop/s": Decimal(1000),
        "Mop/s": Decimal(1000) ** 2,
    },
    printed=("Mop/s", "kop/s", "op/s"),
    examples="99.6 kop/s, 500 op/s or a number of operations per second",
)


def split_unit(value: object) -> tuple[str, str] | None:
    """Return number and unit of a text, as they are written; None where it is no such text."""
    match = _NUMBER_AND_UNIT.fullmatch(value) if isinstance(value, str) else None
    return None if match is None else (match[1], match[2])


def parse_bytes(value: object) -> int:
    """Read a size in bytes.

    Parameters
    ----------
    value : str, int or float
        ``8m``, ``8 MiB``, ``8 MB``, ``8388608``: see the table at the top of this module. A
        fraction of a larger unit is rounded to whole bytes: ``20.1 TiB``.

    Raises
    ------
    InputError
        If it is not a size, is negative, or differs from a whole number of bytes by more than half
        of its last digit: ``1.5 B``.
    """
    number, scale = _SIZE.read(value)
    size = number * scale
    whole = size.to_integral_value()
    last_digit = scale.scaleb(int(number.as_tuple().exponent))
    if size != whole and abs(size - whole) > last_digit / 2:
        raise InputError(
            f"{shown(value)} is {_plain(size)} bytes; a size is a whole number of bytes"
        )
    return int(whole)


def is_count(text: str) -> bool:
    """Tell whether a text is a number of things in the digits 0 to 9, without a sign.

    Python itself also reads digits of other scripts, and numbers that no memory holds.
    """
    return text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS


def parse_rate(value: object) -> float:
    """Read a rate in bytes/s: ``172 GB/s``, ``200 MiB/s`` or a number; else InputError."""
    return float(_RATE.parse(value))


def parse_seconds(value: object) -> float:
    """Read a time in seconds: ``5.5 us``, ``20 ms``, ``3 s`` or a number; else InputError."""
    return float(_TIME.parse(value))


def parse_per_second(value: object) -> float:
    """Read a rate of operations per second: ``99.6 kop/s`` or a number; else InputError."""
    return float(_FREQUENCY.parse(value))


def format_bytes(size: int, digits: int | None = None) -> str:
    """Write a size in bytes with its unit.

    Parameters
    ----------
    size : int
        Bytes.
    digits : int, optional
        How many significant digits to show, in a binary unit: ``format_bytes(3 << 29, 3)`` is
        ``'1.50 GiB'``. Without it the text is exact and :func:`parse_bytes` reads it back; the
        unit, binary or decimal, is the one that leaves the smallest whole number: ``'8 MiB'``,
        ``'9200 TB'``.
    """
    if digits is not None:
        return _SIZE.format(size, digits)
    if size == 0:
        return "0 B"
    fitting = (
        unit for unit in (*_SIZE.printed, *_DECIMAL_SIZES) if size % int(_SIZE.scales[unit]) == 0
    )
    unit = min(fitting, key=lambda unit: size // int(_SIZE.scales[unit]))
    return f"{size // int(_SIZE.scales[unit])} {unit}"


def format_rate(rate: float, digits: int | None = None) -> str:
    """Write a rate in bytes/s with a decimal unit: ``'172 GB/s'`` is 172 x 10^9 bytes/s.

    With `digits`, that many significant ones; without, exactly, so that :func:`parse_rate` reads
    the same number back.
    """
    return _RATE.format(rate, digits)


def format_seconds(seconds: float, digits: int | None = None) -> str:
    """Write a time in seconds with its unit: ``'5.5 us'``; `digits` as in :func:`format_rate`."""
    return _TIME.format(seconds, digits)


def format_per_second(rate: float, digits: int | None = None) -> str:
    """Write operations per second: ``'99.6 kop/s'``; `digits` as in :func:`format_rate`."""
    return _FREQUENCY.format(rate, digits)


_Scale = TypeVar("_Scale", int, float)


@dataclass(frozen=True)
class Suffixed(Generic[_Scale]):
    """Whole numbers with a suffix, in either case, as another program reads them."""

    scales: Mapping[str, _Scale]  # how many of the base unit each suffix is
    number: str = "[0-9]{1,19}"  # a regular expression
    blank: str = r"\s*"  # what may stand before the suffix: a regular expression

    def split(self, text: str) -> tuple[int, str] | None:
        """Return number and suffix; None unless the text is of this form."""
        suffixes = "|".join(sorted(self.scales, key=len, reverse=True))
        pattern = rf"({self.number}){self.blank}({suffixes})"
        match = re.fullmatch(pattern, text.strip().lower())
        return None if match is None else (int(match[1]), match[2])

    def read(self, text: str) -> _Scale | None:
        """Return the number in the base unit; None unless the text is of this form."""
        found = self.split(text)
        return None if found is None else found[0] * self.scales[found[1]]

    def write(self, number: int) -> str:
        """Return a number with the largest suffix of which it is a whole multiple."""
        scale, suffix = max(
            (scale, suffix) for suffix, scale in self.scales.items() if number % scale == 0
        )
        return f"{number // int(scale)}{suffix}"


def _powers(letters: str, *endings: str) -> dict[str, int]:
    """Return suffixes: each letter 1024 times the one before it, whatever ends it."""
    scales = {letter: 1 << 10 * power for power, letter in enumerate(letters, start=1)}
    return {letter + ending: scale for letter, scale in scales.items() for ending in endings}


SHORT_SIZES = Suffixed({"": 1, **_powers("kmg", "")}, number="[1-9][0-9]{0,11}", blank="")
"""Bytes, more than zero, as IOR and ``lfs`` write them shortest: ``8m``, ``256k``."""

IOR_SIZES = Suffixed({"": 1, **_powers("kmgtp", "", "b", "ib")}, number="[+-]?[0-9]{1,999}")
"""Bytes, or any number, as IOR and mdtest read them; ``1MB`` is 1 MiB."""

H5BENCH_SIZES = Suffixed({"": 1, "b": 1, **_powers("kmgt", "", "b")})
"""Bytes, or any number, as h5bench reads them: ``16777216``, ``16 M``, ``8KB``."""

H5BENCH_TIMES = Suffixed(
    {"us": 1e-6, "ms": 1e-3, "s": 1.0, "sec": 1.0, "min": 60.0}, number="[0-9]{1,9}"
)
"""Seconds as h5bench reads them, always with a unit: ``5 s``, ``100 ms``."""

Bytes = Annotated[
    int,
    BeforeValidator(parse_bytes),
    PlainSerializer(format_bytes, return_type=str, when_used="json"),
]
"""A size in bytes, zero or more."""

Size = Annotated[Bytes, Field(gt=0)]
"""A size in bytes, more than zero."""

Load = Annotated[
    float,
    BeforeValidator(parse_rate),
    Field(ge=0),
    PlainSerializer(format_rate, return_type=str, when_used="json"),
]
"""A load in bytes/s, zero or more."""

Rate = Annotated[Load, Field(ge=1)]
"""A rate in bytes/s, one or more: with less a block would outlast the calendar."""

Seconds = Annotated[
    float,
    BeforeValidator(parse_seconds),
    PlainSerializer(format_seconds, return_type=str, when_used="json"),
]
"""A time in seconds, zero or more."""

PerSecond = Annotated[
    float,
    BeforeValidator(parse_per_second),
    Field(gt=0),
    PlainSerializer(format_per_second, return_type=str, when_used="json"),
]
"""Operations per second, more than zero."""

Count = Annotated[int, Field(gt=0, le=MOST_COUNT)]
"""A number of things, one or more."""

Few = Annotated[int, Field(gt=0, le=10_000)]
"""A number of parts of one thing, such as cores of a node: far more than anybody has built."""

Fraction = Annotated[float, Field(gt=0, le=1)]
"""A part of a whole, more than nothing and at most all of it."""
