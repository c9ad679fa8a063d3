"""How many bytes ADIOS 1.13 writes beside an output's data: the BP format, version 3.

In a file stand the *process groups*, one of each rank: a header, the variables, each with a header
of its own, and the attributes. Behind them stands an index of all: the groups, the variables and
the attributes. What many ranks wrote of a variable is one entry, with a set of *characteristics*
for each (adios_write_*_v1 and adios_calc_*_v1 of src/core/adios_internals.c).

ADIOS adds three attributes and, in every group, the seconds that the rank took for eight things;
rank 0 also says what these are called (src/core/adios_timing.c).

The user's variables are arrays of doubles in three dimensions, v0, v1, ..., of the group
``restart``: longer names would stand here a few times for each group, and move nothing else.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from xc40io.engine.types import Integers

FOOTER = 28 + 3 * 8 + 4
"""Bytes at the end of a file: who wrote it, where the index's parts begin, the version."""

_GROUP = len("restart")
_TIMES, _WORD = 8, 8
_LABEL = {"POSIX": 16, "MPI_AGGREGATE": 17}  # the longest name of a time, and its end
_PATH = len("/__adios__")
_ATTRIBUTES = {"version": len("1.13.1"), "create_time_epoch": 4, "update_time_epoch": 4}
"""The bytes of the values."""

_OPENING, _METHOD = 8 + 1 + 2 + _GROUP + 4 + 2 + 4 + 1 + 2, 1 + 2
_SECTION = 4 + 8  # of variables or attributes: how many there are, and in how many bytes
_SET = 1 + 4  # how many characteristics follow, and in how many bytes
_PLACES = 2 * (1 + 8) + 2 * (1 + 4)  # offset and payload; number of the subfile and of the step


class _Array(NamedTuple):
    """An array: the length of its name, its dimensions, and the bytes of an element."""

    name: int
    dimensions: int
    element: int

    @property
    def _characteristics(self) -> int:
        """Dimensions; which statistics there are; whether all is finite, minimum, maximum."""
        return (1 + 1 + 2 + 3 * 8 * self.dimensions) + (1 + 4) + (1 + 1 + 2 * self.element)

    @property
    def header(self) -> int:
        """Bytes before its elements in a process group.

        A dimension is a number and twice the number of a variable, each with a flag.
        """
        dimensions = 1 + 2 + self.dimensions * (3 * 1 + 8 + 2 * 4)
        return 8 + 4 + 2 + self.name + 2 + 1 + 1 + dimensions + _SET + self._characteristics

    def entries(self, sets: Integers) -> Integers:
        """Return its bytes in indices: int64 (n,); so many process groups of each have it."""
        named = 4 + 4 + 2 + _GROUP + 2 + self.name + 2 + 1 + 8
        return named + sets * (_SET + _PLACES + self._characteristics)


_TIMERS = _Array(len("/__adios__/timers_1"), 2, _WORD)
_LABELS = _Array(len("/__adios__/timer_labels_1"), 2, 1)


@cache
def _arrays(count: int) -> tuple[int, int]:
    """Return the letters of the names of so many arrays, and how many arrays there are."""
    return sum(len(f"v{number}") for number in range(count)), count


def group_sizes(variables: int, method: str, parameters: str, ranks: int) -> Integers:
    """Return the bytes of each rank's process group beside its data: int64 (ranks,).

    Parameters
    ----------
    variables
        How many there are.
    method, parameters
        That writes, and the text of its parameters, which the header repeats.
    ranks
        How many there are.
    """
    letters, count = _arrays(variables)
    arrays = letters + count * _Array(0, 3, _WORD).header
    times = _TIMERS.header + _TIMES * _WORD
    attributes = sum(
        4 + 4 + 2 + len(name) + 2 + _PATH + 1 + 1 + 4 + value for name, value in _ATTRIBUTES.items()
    )
    header = _OPENING + _METHOD + len(parameters)
    size = np.full(ranks, header + _SECTION + arrays + times + _SECTION + attributes)
    size[0] += _LABELS.header + _TIMES * _LABEL[method]
    return size


def index_sizes(variables: int, groups: Integers) -> Integers:
    """Return the bytes of indices without their footers: int64 (n,).

    ``groups`` is int64 (n,), how many process groups are in each; the first one has rank 0's.
    """
    letters, count = _arrays(variables)
    listed = 8 + 8 + groups * (2 + 2 + _GROUP + 1 + 4 + 2 + 4 + 8)
    arrays = letters + count * _Array(0, 3, _WORD).entries(groups)
    string = 2  # its length stands before it
    attributes = string + sum(
        4 + 4 + 2 + _GROUP + 2 + len(name) + 2 + _PATH + 1 + 8 + _SET + _PLACES + 1 + value
        for name, value in _ATTRIBUTES.items()
    )
    size = listed + _SECTION + arrays + _TIMERS.entries(groups) + _SECTION + attributes
    size[:1] += _LABELS.entries(np.ones_like(size[:1]))
    return size
