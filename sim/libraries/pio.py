"""PIO: the ranks of a model hand what they have to I/O tasks, and these alone use the file.

That is ParallelIO, and E3SM's Scorpio, which comes from it. I/O task i is rank ``i * stride``
(pioc.cpp, PIOc_Init_Intracomm). A *rearranger* says who hands what to whom. With ``box`` each I/O
task has a box of the array, which lies together in the file, and gets it from whoever has a part of
it (pioc_sc.cpp, CalcStartandCount: fewer tasks where a box would have less than 1 KiB). With
``subset`` each I/O task gets all that the ranks next to it have, and writes a list of regions
(pio_rearrange.cpp, default_subset_partition). Variables of one decomposition wait in a buffer of 64
MiB; what is in it is handed over at once, and written by one ``ncmpi_wait_all`` (pio_darray.cpp).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Literal, NamedTuple

import numpy as np

from xc40io.engine.types import Integers
from xc40io.mpi.accesses import Accesses
from xc40io.mpi.alltoallv import Messages
from xc40io.mpi.domains import sum_by, union
from xc40io.mpi.intranode import groups_of

BUFFER = 64 << 20
"""Bytes of variables that wait (pio_buffer_size_limit)."""

_LEAST_BOX = 1024  # bytes of a box on average (DEFAULT_BLOCKSIZE)


class Rearrangement(NamedTuple):
    """How a variable comes from the ranks to the file."""

    messages: Messages  # from all ranks to I/O tasks
    pieces: Integers  # int64 (messages,): in how many pieces each is
    group: Integers  # int64 (ranks,): who hands something to the same I/O tasks
    # what each I/O task writes, by its number; offsets from where the variable or record begins
    written: Accesses


def io_tasks(ranks: int, stride: int) -> Integers:
    """Return the ranks that are I/O tasks."""
    return np.arange(0, ranks, stride)


def rearranged(
    how: Literal["box", "subset"],
    own: Accesses,
    dims: Sequence[int],
    element: int,
    ranks: int,
    tasks: Integers,
) -> Rearrangement:
    """Return how a variable is rearranged.

    Parameters
    ----------
    how
        The rearranger.
    own
        What each rank has, in bytes from where the variable begins.
    dims, element
        Its elements along each dimension, and the bytes of one.
    ranks, tasks
        How many ranks there are, and which of them are I/O tasks.
    """
    if how == "subset":
        group = groups_of(np.zeros(ranks, np.int32), len(tasks))  # each has one task of its own
        task, part = group[own.rank], own
        span = prod(dims) * element + 1
        start, length = union(task * span + own.offset, own.length)
        number, offset = np.divmod(start, span)
        written = Accesses(number, offset, length)
    else:
        group = np.zeros(ranks, np.int64)
        bounds = boxes(dims, element, len(tasks))
        part = _cut(own, bounds)
        task = np.searchsorted(bounds, part.offset, "right") - 1
        written = Accesses(np.arange(len(bounds) - 1), bounds[:-1], np.diff(bounds))
    key, size, pieces = sum_by(part.rank * len(tasks) + task, part.length, np.ones_like(task))
    messages = Messages(key // len(tasks), tasks[key % len(tasks)], size)
    return Rearrangement(messages, pieces, group, written)


def boxes(dims: Sequence[int], element: int, tasks: int) -> Integers:
    """Return where the boxes of I/O tasks begin in a variable, and its end, in bytes.

    Outer dimensions are dealt one by one, and the first that has more elements than tasks are left
    is cut evenly, the last parts larger by one. So all of a box lies together.
    """
    used = max(1, min(prod(dims) * element // _LEAST_BOX, tasks))
    outer, place = 1, 0
    while place < len(dims) and outer * dims[place] < used:
        outer *= dims[place]
        place += 1
    each = used // outer  # tasks for what is cut
    along, inner = (*dims, 1)[place], prod(dims[place + 1 :])
    size, rest = divmod(along, each)
    part = np.arange(each)
    first = part * size + np.maximum(part + rest - each, 0)
    begin = (np.arange(outer)[:, None] * along + first).ravel() * inner
    return np.append(begin, prod(dims)) * element


def _cut(own: Accesses, bounds: Integers) -> Accesses:
    """Cut pieces at bounds."""
    first = np.searchsorted(bounds, own.offset, "right") - 1
    last = np.searchsorted(bounds, own.offset + own.length, "left") - 1
    source = np.repeat(np.arange(len(first)), last - first + 1)
    box = np.arange(len(source)) - np.searchsorted(source, source) + first[source]
    low = np.maximum(own.offset[source], bounds[box])
    high = np.minimum((own.offset + own.length)[source], bounds[box + 1])
    return Accesses(own.rank[source], low, high - low)
