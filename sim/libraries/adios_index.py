"""The index of ADIOS's BP format: what is where, written behind the data and once more for all.

Every rank describes its own part, a *process group*: one entry for the group and one for each
variable. The entries of a variable from many ranks are merged into one list of *characteristics*,
one set for each process group (ADIOS developer's manual, "BP file format").
"""

from __future__ import annotations

from dataclasses import dataclass

GROUP_ENTRY = 39
"""Bytes of the entry of a process group: names, rank, time step, where it begins."""

_SET = 1 + 4  # how many characteristics follow, and in how many bytes
_PLACES = 2 * (1 + 8) + 2 * (1 + 4)  # offset and payload; number of the subfile and of the step
_DIMENSIONS = 1 + 1 + 2 + 3 * 24  # of an array in three dimensions: local, global, offset
_STATISTICS = 1 + 4 + 1 + 4 + 4 * 8  # which there are; count, minimum, maximum, sum, squares

VARIABLE_ENTRY = _SET + _PLACES + _DIMENSIONS + _STATISTICS
"""Bytes that an array of doubles in three dimensions takes for each process group."""

_PUT_PIECES, _MERGE_PIECES = 23, 3

FOOTER = 28
"""Bytes at the end of a file: where the three parts of the index begin, and the version."""


@dataclass(frozen=True)
class Variables:
    """The variables that a rank writes in a step.

    What they cost is measured with ADIOS 2.12, 383,760 variables and one core of a Xeon of 2023:
    1.34 us each to be put, into the data and the index, and 0.15 us for its entry of the index to
    be merged with others. A piece of a list takes 58 ns there (``mpi.piece_time``).

    Attributes
    ----------
    count
        How many there are; what is written of one variable for several steps of a simulation
        counts as many times.
    entry
        Bytes of each in the index.
    """

    count: int
    entry: int = VARIABLE_ENTRY

    @property
    def put_pieces(self) -> int:
        """As many pieces of a list take as long as putting all variables into a buffer."""
        return _PUT_PIECES * self.count

    @property
    def merge_pieces(self) -> int:
        """As many pieces of a list take as long as merging the entries of a process group."""
        return _MERGE_PIECES * (1 + self.count)

    def index_size(self, groups: int) -> int:
        """Return the bytes of an index of so many process groups."""
        return groups * (GROUP_ENTRY + self.count * self.entry)
