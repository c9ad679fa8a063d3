"""Who gathers for whom in MPI_AGGREGATE of ADIOS 1, by its parameters, and in how much memory.

The ranks form contiguous groups; the first of each is its *aggregator*.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sim.engine.types import Integers
from sim.libraries.adios_index import FOOTER, Variables

MOST_GATHERED = 2**31 - 1
"""Bytes that an aggregator can gather in one call of MPI, whose counts are 32-bit integers."""

WARNED = 704_643_072
"""Bytes of aggregation buffers beyond which ADIOS 1.5 and 1.6 warn (MAX_AGG_BUF)."""


class Groups(NamedTuple):
    """Contiguous groups of ranks.

    ``leader`` and ``size`` are int64 (groups,): the first rank, and how many there are; ``of`` is
    int64 (ranks,): the group of each rank.
    """

    leader: Integers
    size: Integers
    of: Integers


def split(ranks: int, groups: int) -> Groups:
    """Split ranks into contiguous groups; the first ones get one more where they do not come out.

    As many groups as ranks if that is fewer.
    """
    count = min(groups, ranks)
    size = np.full(count, ranks // count)
    size[: ranks % count] += 1
    return Groups(np.cumsum(size) - size, size, np.repeat(np.arange(count), size))


@dataclass(frozen=True, kw_only=True)
class AggregateOptions:
    """The parameters of MPI_AGGREGATE, named as in ADIOS's XML file.

    Attributes
    ----------
    num_aggregators
        Subfiles, and so groups; as many as OSTs unless given.
    num_ost
        OSTs that the subfiles are dealt to: subfile g begins on OST g mod ``num_ost``; all there
        are unless given.
    osts_to_skip
        Which of these are left out.
    random_offset
        The file system chooses the OSTs instead.
    brigade
        Aggregation by brigade (``aggregation_type=2``), not by a gather (``=1``).
    threading
        A thread of each aggregator opens its subfile, and writes.
    have_metadata_file
        Whether there is a global index.
    """

    num_aggregators: int | None = None
    num_ost: int | None = None
    osts_to_skip: frozenset[int] = frozenset()
    random_offset: bool = False
    brigade: bool = True
    threading: bool = True
    have_metadata_file: bool = True

    def usable(self, osts: int) -> Integers:
        """Return the OSTs that the subfiles are dealt to, of so many: int64."""
        every = range(osts if self.num_ost is None else self.num_ost)
        return np.array([ost for ost in every if ost not in self.osts_to_skip], np.int64)

    def groups(self, ranks: int, osts: int) -> Groups:
        """Return the groups of so many ranks on a file system with so many OSTs."""
        return split(ranks, self.num_aggregators or self.num_ost or osts)

    def memory(self, groups: Groups, size: Integers, variables: Variables) -> Integers:
        """Return the bytes that each rank needs beside its own buffer: int64 (ranks,).

        By brigade, one buffer as large as the largest block of the group, and two at the
        aggregator; by a gather, room for everything at the aggregator.

        Parameters
        ----------
        groups
            Of the ranks.
        size
            int64 (ranks,): bytes that each writes.
        variables
            What each writes.
        """
        needed = np.zeros_like(size)
        if self.brigade:
            largest = np.maximum.reduceat(size, groups.leader)
            needed[:] = np.where(groups.size > 1, largest, 0)[groups.of]
            needed[groups.leader] *= 2
        else:
            index = variables.index_size(1) * groups.size + FOOTER
            needed[groups.leader] = np.add.reduceat(size, groups.leader) + index
        return needed
