"""Numbers with units that stand in a sentence: ``it wrote 752 GB/s, and 590 a year later``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from xc40io.validation.quantity import Quantity, parse_quantity

_NUMBER = r"\d[\d,]*(?:\.\d+)?"
_NUMBERS = re.compile(_NUMBER)
_QUANTITY = re.compile(
    rf"(?<![\w.,])(?P<numbers>{_NUMBER}(?:(?:, | to | and | or ){_NUMBER})*) "
    r"(?P<unit>[kKMGTP]i?B(?:/s)?|B/s|[mun]?s)\b"
)
"""One or several numbers with one unit, as in ``752 to 590 GB/s``."""


class Printed(NamedTuple):
    """A number as a sentence prints it."""

    words: str  # As it stands there, with its unit.
    quantity: Quantity  # What it says.
    half: float  # Half of a one in its last digit, in the base unit: what rounding may have taken.
    digits: str  # All of them, without leading zeros.

    @property
    def tells(self) -> bool:
        """Whether it is no number that two values share by chance.

        Three digits or more, not a single one with zeros: 752 GB/s, 590 GB/s, but not 1,000 MB/s.
        """
        return len(self.digits) > 2 and len(self.digits.rstrip("0")) > 1

    def is_of(self, measured: Quantity) -> bool:
        """Tell whether a measured number would be printed so, in this unit with these digits."""
        alike = measured.dimension == self.quantity.dimension
        away = abs(measured.base - self.quantity.base)
        return alike and away <= self.half * (1.0 + 1e-9)  # 0.5 itself may be rounded either way


def numbers_in(sentence: str) -> Iterator[Printed]:
    """Yield the bytes, rates and times that a sentence prints, in its order."""
    for found in _QUANTITY.finditer(sentence):
        for number in _NUMBERS.findall(found["numbers"]):
            yield _printed(number.rstrip(","), found["unit"])


def _printed(number: str, unit: str) -> Printed:
    plain = number.replace(",", "")
    one = parse_quantity(f"1 {unit}")
    quantity = replace(one, base=float(plain) * one.scale)
    decimals = len(plain.partition(".")[2])
    digits = plain.replace(".", "").lstrip("0")
    return Printed(f"{number} {unit}", quantity, 0.5 * 10.0**-decimals * one.scale, digits)
