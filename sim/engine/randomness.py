"""Random numbers that do not depend on the order in which anybody asks for them.

Every component draws from a stream of its own, addressed by the seed of the scenario and the name
of the component: adding a draw to one never shifts the numbers of another.
"""

from __future__ import annotations

import hashlib

import numpy as np

from xc40io.engine.compiled import njit

_BITS = (1 << 31) - 1


def stream(seed: int, *name: str | int) -> np.random.Generator:
    """Return the random stream of a component.

    Parameters
    ----------
    seed
        Seed of the scenario.
    name
        Path of the component, such as ``("ost speed",)`` or ``("jitter", repetition)``.
    """
    text = "/".join([str(seed), *map(str, name)])
    key = np.frombuffer(hashlib.sha256(text.encode()).digest()[:16], np.uint64)
    return np.random.Generator(np.random.Philox(key=key))


@njit
def _mix(number: int) -> int:
    """Scramble a number of 31 bits; no product leaves 62 bits, so Python computes the same."""
    number = ((number ^ (number >> 16)) * 0x7FEB352D) & _BITS
    number = ((number ^ (number >> 15)) * 0x646CA68B) & _BITS
    return number ^ (number >> 16)


@njit
def uniform(seed: int, source: int, count: int) -> float:
    """Return a number above 0 and below 1: the ``count``-th draw of a source, always the same."""
    number = _mix((int(seed) & _BITS) ^ 0x2545F491)
    number = _mix(number ^ (int(source) & _BITS))
    number = _mix(number ^ (int(count) & _BITS) ^ ((int(count) >> 31) & _BITS))
    return (number + 0.5) / (_BITS + 1.0)


@njit
def pick(seed: int, source: int, count: int, choices: int) -> int:
    """Return a number from 0 to ``choices - 1``: the ``count``-th draw of a source."""
    return int(uniform(seed, source, count) * choices)
