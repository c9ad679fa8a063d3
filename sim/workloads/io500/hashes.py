"""The hashes that IO500 prints, so that it can be seen whether a result belongs to a file.

They are IO500's (util.c): 32 bits, turned by two for each letter; of several values, one for each
option, so that their order does not matter.
"""

from __future__ import annotations

from collections.abc import Iterable

_BITS = 0xFFFF_FFFF
_NOT_TO_BE = (0, _BITS)
_INSTEAD = 4711


def hash_of(text: str, before: int = 0) -> int:
    """Return the hash of a text that follows another one."""
    value = before
    for byte in text.encode():
        signed = byte - 256 if byte > 127 else byte  # a char of C
        value = ((value << 2 | value >> 30) + signed) & _BITS
    return value


def hash_of_pairs(pairs: Iterable[tuple[str, str]]) -> int:
    """Return the hash of some names and values, in whichever order."""
    value = 0
    for name, text in pairs:
        value ^= hash_of(text, hash_of(name))
    return value


def phase_number(phase: str, timestamp: str) -> int:
    """Return the number that the contents of a phase's files are made of, as C prints it."""
    value = hash_of(timestamp, hash_of(phase))
    value = _INSTEAD if value in _NOT_TO_BE else value
    return value - (1 << 32) if value >> 31 else value
