"""Who writes what where in ADIOS 2: its engines' aggregators, subfiles, offsets and write calls.

The rules are those of ADIOS 2.12.1, in source/adios2:

* ``BP5Writer::InitParameters``: NumAggregators where it is not given is the ranks by
  AggregatorRatio, or NumSubFiles; there are no more subfiles than aggregators. SubStreams, which
  BP4 takes for NumAggregators (``BPBase::Init``), is no parameter of BP5, which ignores it.
* ``MPIShmChain::Init`` (TwoLevelShm): NumAggregators / nodes of them on each node, rounded down,
one
  at least; each subfile belongs to a few neighbours of these.
* ``MPIAggregator::InitComm`` (the other types, and BP4): contiguous groups of ranks, however they
  lie on nodes, a subfile each; without a number, the ranks of a node.
* ``ChunkV`` and ``FilePOSIX::WriteV``: what a rank puts is copied into chunks of BufferChunkSize,
but
  for arrays of MinDeferredSize and more; eight pieces of memory go into one call.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from xc40io.config.units import MIB
from xc40io.engine.types import Indices, Integers
from xc40io.libraries.adios_aggregate import split

AggregationType: TypeAlias = Literal["TwoLevelShm", "EveryoneWrites", "EveryoneWritesSerial"]

MOST_AT_ONCE = 2147483648 - 102400
"""Bytes of one call, at most (DefaultMaxFileBatchSize)."""

_PIECES, _MOST_IN_PIECES = 8, 2**31 - 1  # of memory in a call, and their bytes
_SEGMENT, _SHM_ALIGNED = 96, 32  # ShmSegment, padded; a block of max_align_t
_DATA_ALIGNED = 16  # what a rank writes in a step (m_BufferBlockSize)


def aligned(length: int, alignment: int) -> int:
    """Return the next multiple."""
    return -(-length // alignment) * alignment


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """What XML or ``SetParameter`` says, named as there."""

    engine: Literal["BP4", "BP5"] = "BP5"
    aggregation_type: AggregationType = "TwoLevelShm"
    num_aggregators: int = 0
    aggregator_ratio: int = 0
    num_sub_files: int = 0
    async_write: bool = False
    buffer_chunk_size: int = 128 * MIB
    min_deferred_size: int = 4 * MIB
    max_shm_size: int = 2 * MOST_AT_ONCE
    data_alignment: int = 4096  # StripeSize

    @property
    def by_shm(self) -> bool:
        """Whether the ranks of a node hand their data over in shared memory."""
        return self.engine == "BP5" and self.aggregation_type == "TwoLevelShm"

    @property
    def all_write(self) -> bool:
        """Whether every rank writes to the file itself."""
        return self.engine == "BP5" and self.aggregation_type != "TwoLevelShm"

    def aggregators(self, ranks: int) -> int:
        """Return how many aggregators are asked for; 0: as many as nodes."""
        number = min(self.num_aggregators, ranks)
        if not number and self.aggregator_ratio:
            number = ranks // min(self.aggregator_ratio, ranks)
        if not number and self.engine == "BP5":
            number = min(self.num_sub_files, ranks)
        return number

    def copied(self, size: Integers, variables: int) -> Integers:
        """Return the bytes that each rank copies into its buffer: int64 (ranks,), as ``size``.

        The others are written from where the program has them.
        """
        return np.where(self._deferred(size // variables), 0, size)

    def _deferred(self, variable: npt.ArrayLike) -> npt.NDArray[np.bool_]:
        kept = self.engine == "BP5" and not self.async_write
        return kept & (np.asarray(variable) >= self.min_deferred_size)

    def memory(self, groups: Grouping, size: Integers, variables: int) -> Integers:
        """Return the bytes of buffers of each rank: int64 (ranks,), as ``size``, what each puts.

        What it copies of its data; what is in shared memory; with BP4 what passes through it.
        """
        needed = self.copied(size, variables)
        largest = np.where(groups.size > 1, np.maximum.reduceat(size, groups.leader), 0)
        if self.by_shm:
            blocks = [self.shm_block(each) if each else 0 for each in largest.tolist()]
            needed[groups.leader] += 2 * np.array(blocks)
        elif not self.all_write:
            needed += largest[groups.of]
        return needed

    def pieces(self, groups: Grouping, size: Integers) -> int:
        """Return in how many pieces the data go to the aggregators: ``size`` is int64 (ranks,).

        In those that shared memory holds, or with BP4 block after block from hand to hand.
        """
        if self.by_shm:
            largest = np.maximum.reduceat(size, groups.leader)
            block = np.array([self.shm_block(each) for each in largest.tolist()])
            return int((-(-size // block[groups.of])).sum())
        return 0 if self.all_write else int((groups.size * (groups.size - 1) // 2).sum())

    def calls(self, variable: int, variables: int) -> list[int]:
        """Return the bytes of the calls in which a rank writes its arrays, of so many bytes each.

        They are filled up at the end; so is each piece that is copied.
        """
        kept = bool(self._deferred(variable))
        held = 1 if kept else max(self.buffer_chunk_size // variable, 1)
        whole, rest = divmod(variables, held)
        put = [variable * held] * whole + [variable * rest] * (rest > 0)
        pieces = put[:] if kept else [aligned(piece, _DATA_ALIGNED) for piece in put]
        last = sum(put) if kept else put[-1]
        filled = aligned(last, _DATA_ALIGNED) - last
        if filled and (kept or last + filled > self.buffer_chunk_size):
            pieces.append(filled)  # a piece of its own
        found: list[int] = []
        for first in range(0, len(pieces), _PIECES):
            some = pieces[first : first + _PIECES]
            if sum(some) <= _MOST_IN_PIECES:
                found.append(sum(some))
            else:
                found += [call for piece in some for call in _batches(piece)]
        return found

    def shm_block(self, largest: int) -> int:
        """Return the bytes of each of the two buffers in shared memory, where so much is put."""
        block = aligned(largest, _SHM_ALIGNED)
        if _SEGMENT + 2 * block > self.max_shm_size:
            room = aligned(self.max_shm_size - _SHM_ALIGNED + 1, _SHM_ALIGNED)
            block = aligned((room - _SEGMENT) // 2 - _SHM_ALIGNED + 1, _SHM_ALIGNED)
        return block


def _batches(length: int) -> list[int]:
    """Return a write as the calls that it is made of."""
    whole, rest = divmod(length, MOST_AT_ONCE)
    return [MOST_AT_ONCE] * whole + [rest] * (rest > 0)


class Grouping(NamedTuple):
    """Contiguous groups of ranks, each with an aggregator, its first rank.

    ``leader``, ``size`` and ``subfile`` are int64 (groups,): the aggregator, how many ranks there
    are, and the file that it writes, which neighbours may share; ``of`` is int64 (ranks,): the
    group of each rank.
    """

    leader: Integers
    size: Integers
    of: Integers
    subfile: Integers

    @property
    def subfiles(self) -> int:
        """How many files of data there are."""
        return int(self.subfile[-1]) + 1


def grouping(parameters: Parameters, node: Indices) -> Grouping:
    """Return the groups of ranks: int32 (ranks,), the node of each, neighbours side by side."""
    ranks, asked = len(node), parameters.aggregators(len(node))
    if asked and not parameters.by_shm:
        groups = split(ranks, asked)
        return Grouping(*groups, np.arange(len(groups.size)))
    first, of_node, per_node = np.unique(
        node, return_index=True, return_inverse=True, return_counts=True
    )[1:]
    each = (
        np.clip(asked // len(first), 1, per_node) if parameters.by_shm else np.ones_like(per_node)
    )
    turn, share = np.arange(ranks) - first[of_node], _shares(per_node, each)
    part = (turn.astype(np.float32) / share[of_node]).astype(np.int64)
    leader = np.flatnonzero((np.diff(part, prepend=-1) != 0) | (turn == 0))
    size = np.diff(leader, append=ranks)
    every = np.arange(len(leader))
    files = min(parameters.num_sub_files, asked, len(leader)) or len(leader)
    subfile = (every.astype(np.float32) / _shares(len(leader), files)).astype(np.int64)
    return Grouping(leader, size, np.repeat(every, size), subfile)


def _shares(whole: npt.ArrayLike, parts: npt.ArrayLike) -> npt.NDArray[np.float32]:
    """Return how many come to each part, in the precision of ADIOS."""
    return np.divide(whole, parts, dtype=np.float32)
