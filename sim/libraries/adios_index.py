"""The index of ADIOS's BP format: what is where, written behind the data and once more for all.

Every rank describes its own part, a *process group*: one entry for the group and one for each
variable. The entries of a variable from many ranks are merged into one list of *characteristics*,
one set for each process group (ADIOS developer's manual, "BP file format").
"""

from __future__ import annotations

GROUP_ENTRY = 39
"""Bytes of the entry of a process group: names, rank, time step, where it begins."""

_SET = 1 + 4  # how many characteristics follow, and in how many bytes
_PLACES = 2 * (1 + 8) + 2 * (1 + 4)  # offset and payload; number of the subfile and of the step
_DIMENSIONS = 1 + 1 + 2 + 3 * 24  # of an array in three dimensions: local, global, offset
_STATISTICS = 1 + 4 + 1 + 4 + 4 * 8  # which there are; count, minimum, maximum, sum, squares

VARIABLE_ENTRY = _SET + _PLACES + _DIMENSIONS + _STATISTICS
"""Bytes that an array of doubles in three dimensions takes for each process group."""

FOOTER = 28
"""Bytes at the end of a file: where the three parts of the index begin, and the version."""


def index_size(groups: int, variables: int) -> int:
    """Return the bytes of an index of so many process groups with so many variables each."""
    return groups * (GROUP_ENTRY + variables * VARIABLE_ENTRY)
