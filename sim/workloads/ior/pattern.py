"""Which bytes of which file each rank touches in a phase of an IOR test.

IOR lets a rank *pretend* to be another one when it reads, so that no rank finds its own data in
the page cache of its node; file and offsets then follow from the pretended rank. All functions
work on whole arrays, one element a rank or a call, and give the same answer for the same
arguments.

The rules are IOR 4.1's (mechanisms, section 8; TestIoSys and WriteOrRead in its ior.c). Only the
random numbers differ: IOR uses the C library's ``rand``, whose stream depends on the machine; here
they come from NumPy's Philox, a counter-based generator keyed by the seed and the purpose.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from xc40io.config.errors import InputError
from xc40io.workloads.ior.parameters import Access, IorTest

# The purposes that random numbers are drawn for; part of the generator's key.
_REORDER, _SHUFFLE, _DEAL, _BLOCKS = range(4)

_LARGEST_OFFSET = (1 << 63) - 1


class Pattern(NamedTuple):
    """The calls of all ranks, one rank behind the other."""

    # int64[calls]: where in its file each call starts, in bytes; every call moves transfer_size
    # bytes. Calls of one rank are in the order of issue
    offset: NDArray[np.int64]
    # int64[ranks + 1]: the calls of rank r are offset[first[r]:first[r + 1]]
    first: NDArray[np.int64]


def pretend_ranks(
    test: IorTest,
    access: Access,
    tasks: int,
    tasks_per_node: int,
    *,
    repetition: int = 0,
    block_mapping: bool = True,
) -> NDArray[np.int64]:
    """Say which rank each rank stands in for.

    Parameters
    ----------
    test
        The test; ``-C -Q -Z -X`` matter.
    access
        The phase. Writers are themselves; ``-W`` reads one node further away than ``-r``.
    tasks, tasks_per_node
        Ranks in all, and on a node (the last node may hold fewer).
    repetition
        Counted from 0; a negative ``-X`` draws anew for each.
    block_mapping
        Whether neighbouring ranks share a node; if not, they are dealt to the nodes in turn.

    Returns
    -------
    ndarray of int64, shape (tasks,)
    """
    own = np.arange(tasks, dtype=np.int64)
    per_node = test.tasks_on_first_node or tasks_per_node
    if access is Access.WRITE:
        return own
    if test.reorder_constant:
        nodes_away = test.task_offset + (access is Access.WRITE_CHECK)
        ranks_away = nodes_away * (per_node if block_mapping else 1)
        return (own + ranks_away) % tasks
    if test.reorder_random and access is not Access.WRITE_CHECK:
        seed = test.reorder_seed if test.reorder_seed >= 0 else repetition - test.reorder_seed
        stream = _stream(seed, _REORDER)
        if test.reorder_random > 1:
            return stream.permutation(own)
        nodes = test.nodes or -(-tasks // tasks_per_node)
        nearest = min(min(test.task_offset, nodes - 1) * per_node, tasks - 1)
        return (own + stream.integers(nearest, tasks, size=tasks)) % tasks
    return own


def offsets(
    test: IorTest,
    pretend: NDArray[np.int64],
    *,
    seed: int = 0,
    listed: int | None = None,
) -> Pattern:
    """List the calls of every rank.

    In order, a rank goes through its block transfer by transfer, then to its block in the next
    segment. With ``-z`` in a file of its own it goes through each block in a shuffled order; in a
    shared file the transfers of a segment are dealt to all ranks at random, so ranks may have
    more or fewer of them. With ``-z -z`` each block that is read lies at a random multiple of the
    block size, and blocks may coincide.

    Parameters
    ----------
    test
        The test.
    pretend
        int64[ranks], from `pretend_ranks`.
    seed
        Used for ``-z`` when the test has no ``--random-offset-seed``.
    listed
        Segments whose calls are listed, the first ones: for a test that something ends before. Not
        with ``-z`` on a shared file. All unless given.

    Returns
    -------
    Pattern

    Raises
    ------
    InputError
        When the file would be too large to address.
    """
    tasks = len(pretend)
    if test.aggregate_bytes(tasks) > _LARGEST_OFFSET:
        raise InputError(
            f"-b {test.block_size} -s {test.segments} on {tasks} tasks: "
            f"a file cannot hold more than 2^63 - 1 bytes"
        )
    if test.random_offset_seed >= 0:
        seed = test.random_offset_seed
    if test.random_offset == 1 and not test.file_per_process:
        return _dealt(test, pretend, seed)
    calls, segments = test.calls_per_block, min(test.segments, listed or test.segments)
    if test.random_offset > 1:
        block = _random_blocks(test, pretend, seed, segments)
    else:
        segment = np.arange(segments, dtype=np.int64)
        # The block's position in the file, counted in blocks.
        block = (
            np.broadcast_to(segment, (tasks, segments))
            if test.file_per_process
            else segment * tasks + pretend[:, None]
        )
    within = np.arange(calls, dtype=np.int64)
    if test.random_offset == 1:
        order = np.broadcast_to(within, (tasks, calls))
        within = _stream(seed, _SHUFFLE).permuted(order, axis=1)[pretend][:, None, :]
    offset = block[:, :, None] * test.block_size + within * test.transfer_size
    first = np.arange(tasks + 1, dtype=np.int64) * (segments * calls)
    return Pattern(offset.reshape(-1), first)


def _random_blocks(
    test: IorTest, pretend: NDArray[np.int64], seed: int, segments: int
) -> NDArray[np.int64]:
    """Draw int64[ranks, segments]: the place of each block, counted in blocks."""
    tasks = len(pretend)
    places = test.segments * (1 if test.file_per_process else tasks)
    return _stream(seed, _BLOCKS).integers(0, places, size=(tasks, segments))[pretend]


def _dealt(test: IorTest, pretend: NDArray[np.int64], seed: int) -> Pattern:
    """Deal the transfers of one segment to the ranks; every segment repeats the deal.

    IOR draws an owner for each transfer and lets each owner shuffle its hand. Cutting one shuffled
    deck into hands of the sizes that such draws give is the same thing without a sort.
    """
    tasks = len(pretend)
    transfers = tasks * test.calls_per_block
    stream = _stream(seed, _DEAL)
    size = np.bincount(stream.integers(0, tasks, size=transfers), minlength=tasks)
    start = np.cumsum(size) - size
    deck = stream.permutation(transfers)

    # Rank r plays the hand of pretend[r], once for each segment.
    size, start = size[pretend], start[pretend]
    first = np.concatenate(([0], np.cumsum(size * test.segments)))
    turn = np.arange(first[-1]) - np.repeat(first[:-1], size * test.segments)
    segment, card = np.divmod(turn, np.repeat(size, size * test.segments))
    transfer = deck[np.repeat(start, size * test.segments) + card]
    offset = segment * (tasks * test.block_size) + transfer * test.transfer_size
    return Pattern(offset, first)


def file_indices(test: IorTest, pretend: NDArray[np.int64]) -> NDArray[np.int64]:
    """Say which file each rank opens: int64[ranks], all 0 when they share one."""
    return pretend.copy() if test.file_per_process else np.zeros_like(pretend)


def _stream(seed: int, purpose: int) -> np.random.Generator:
    key = np.array([seed % (1 << 64), purpose], dtype=np.uint64)
    return np.random.Generator(np.random.Philox(key=key))
