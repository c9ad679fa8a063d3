"""Exponentials and logarithms with the same bits on every processor.

C libraries round them each in its own way, and NumPy otherwise where there is AVX-512. Those here
are made of sums, products and quotients, which IEEE 754 defines to the last bit.
"""

from __future__ import annotations

from math import factorial
from typing import TypeAlias

import numpy as np

from xc40io.engine.compiled import njit
from xc40io.engine.types import Floats

_Pair: TypeAlias = tuple[Floats, Floats]  # a number of 106 bits is the sum of the two

# The logarithm of 2: few enough bits that a product with an exponent has no error, and the rest.
_LN2, _LN2_REST = float.fromhex("0x1.62e42ffp-1"), float.fromhex("-0x1.718432a1b0e26p-35")
_SQUARINGS, _TERMS = 8, 7
_HALF_BITS = float((1 << 27) + 1)


@njit
def logarithm(x: float) -> float:
    """Return the natural logarithm of a number above 0: off by a last bit at most."""
    power = 0
    while x < 0.7071:
        x *= 2.0
        power -= 1
    while x > 1.4143:
        x *= 0.5
        power += 1
    beyond = x - 1.0
    part = beyond / (x + 1.0)
    square = part * part
    series = 0.0
    for odd in range(21, 1, -2):
        series = (series + 1.0 / odd) * square
    most = power * _LN2 + beyond
    lost = power * _LN2 - most + beyond
    return most + (lost + (power * _LN2_REST - part * (beyond - 2.0 * series)))


def exponential(x: Floats) -> Floats:
    """Return e to the power of each number, rounded as if there were 80 bits: float64."""
    power = np.rint(x / _LN2)
    first = x - power * _LN2  # without an error
    high, low = (one / 2.0**_SQUARINGS for one in _sum(first, -power * _LN2_REST))
    whole = float(factorial(_TERMS))
    found: _Pair = np.ones_like(high), np.zeros_like(high)
    for term in range(_TERMS - 1, -1, -1):  # the series, times `whole`
        product, rest = _product(found, (high, low))
        top, error = _sum(np.asarray(whole / factorial(term)), product)
        found = _sum(top, error + rest)
    quotient = found[0] / whole
    exact, rest = _product((quotient, np.asarray(0.0)), (np.asarray(whole), np.asarray(0.0)))
    found = _sum(quotient, (found[0] - exact - rest + found[1]) / whole)
    for _ in range(_SQUARINGS):
        found = _product(found, found)
    return np.ldexp(found[0], power.astype(np.int64))


def _sum(one: Floats, other: Floats) -> _Pair:
    """Return a sum, and what its rounding has lost."""
    total = one + other
    of_other = total - one
    return total, (one - (total - of_other)) + (other - of_other)


def _product(one: _Pair, other: _Pair) -> _Pair:
    """Return a product of pairs."""
    (a, a_rest), (b, b_rest) = _halves(one[0]), _halves(other[0])
    product = one[0] * other[0]
    lost = ((a * b - product) + a * b_rest + a_rest * b) + a_rest * b_rest
    return _sum(product, lost + (one[0] * other[1] + one[1] * other[0]))


def _halves(number: Floats) -> _Pair:
    """Return the upper and the lower half of the bits of a number."""
    far = number * _HALF_BITS
    upper = far - (far - number)
    return upper, number - upper
