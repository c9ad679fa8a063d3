"""Subfiles of HDF5: how a file lies over them, and which ranks read and write them for all.

The subfiling driver of HDF5 1.14 deals the bytes of a file, in stripes, to subfiles in turn, and
these in turn to its *I/O concentrators* (IOCs): ranks that have threads for it. Environment
variables say how long a stripe is and which ranks these are (H5FDsubfiling.h, H5FDioc.h).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from xc40io.config.errors import InputError
from xc40io.config.units import MIB
from xc40io.engine.types import Integers
from xc40io.mpi.accesses import Accesses

PREFIX = "H5FD_SUBFILING_"
STRIPE_SIZE = f"{PREFIX}STRIPE_SIZE"
IOC_PER_NODE = f"{PREFIX}IOC_PER_NODE"
SELECTION = f"{PREFIX}IOC_SELECTION_CRITERIA"
CONFIG_PREFIX = f"{PREFIX}CONFIG_FILE_PREFIX"
THREADS = "H5FD_IOC_THREAD_POOL_SIZE"

_PER_NODE, _EVERY, _TOTAL = 0, 1, 3  # H5FD_subfiling_ioc_select_t; 2 is not implemented


def _whole(environment: Mapping[str, str], name: str, default: int) -> int:
    """Return a number of the environment, as C reads it; HDF5 passes over what is none."""
    text = environment.get(name, "").strip()
    if not text:
        return default
    try:
        value = int(text, 0)
    except ValueError:
        value = 0
    if value < 1:
        raise InputError(
            f"environment: {name} = {text!r}: HDF5 takes its default for that; right would be a "
            "whole number of at least 1"
        )
    return value


@dataclass(frozen=True, kw_only=True)
class Subfiling:
    """What the driver is told: its properties, over which the environment goes."""

    subfiles: int | None = None  # one for each IOC unless given (`stripe_count`)
    stripe_size: int = 32 * MIB
    per_node: int = 1  # IOCs of a node
    # ranks from one IOC to the next, or IOCs in all: in place of `per_node`
    every: int | None = None
    total: int | None = None
    threads: int = 4  # of each IOC
    config_prefix: str = ""  # folder of the configuration file

    @classmethod
    def told(cls, environment: Mapping[str, str], subfiles: int | None = None) -> Subfiling:
        """Return what a job's environment says.

        Raises
        ------
        InputError
            If a variable has a bad value.
        """
        every = total = None
        per_node = _whole(environment, IOC_PER_NODE, 1)
        kind, colon, value = environment.get(SELECTION, "").partition(":")
        if colon:  # a number alone is for the way that the program has chosen, which needs none
            known = {str(_PER_NODE), str(_EVERY), str(_TOTAL)}
            if kind.strip() not in known or not value.strip().isdigit() or int(value) < 1:
                raise InputError(
                    f"environment: {SELECTION} = {kind}:{value}: right would be 1:N for every Nth "
                    "rank, 3:N for N ranks in all, or 0:1 for one a node"
                )
            every = int(value) if int(kind) == _EVERY else None
            total = int(value) if int(kind) == _TOTAL else None
        return cls(
            subfiles=subfiles,
            stripe_size=_whole(environment, STRIPE_SIZE, cls.stripe_size),
            per_node=per_node,
            every=every,
            total=total,
            threads=_whole(environment, THREADS, cls.threads),
            config_prefix=environment.get(CONFIG_PREFIX, ""),
        )

    def concentrators(self, node: npt.ArrayLike) -> Integers:
        """Return the ranks that are IOCs, of ranks on these nodes: int64, in their order.

        There are no more of them than subfiles (H5subfiling_common.c, init_app_topology and
        identify_ioc_ranks). Those of a node are its first ranks.
        """
        host = np.asarray(node)
        _, first, of = np.unique(host, return_index=True, return_inverse=True)
        lead = first[of.ravel()]
        by_node = np.lexsort((np.arange(len(host)), lead))
        ranks, nodes = len(host), len(first)
        most = ranks if self.subfiles is None else self.subfiles
        if self.every is not None:
            return by_node[:: min(self.every, ranks)][:most]
        if self.total is not None:
            count = min(self.total, ranks)
            step = (ranks - 1) // (count - 1) if count > 1 else 1
            return by_node[::step][: min(count, most)]
        each = max(min(self.per_node * nodes, most) // nodes, 1)
        begins = np.flatnonzero(np.diff(lead[by_node], prepend=-1))
        local = np.arange(ranks) - np.repeat(begins, np.diff(begins, append=ranks))
        return by_node[local < each][:most]


class Requests(NamedTuple):
    """What ranks ask of IOCs: int64 arrays (n,), sorted by rank and turn.

    A rank asks for all of a ``turn`` before it waits for them, and then goes on to the next.
    """

    rank: Integers
    turn: Integers
    subfile: Integers
    # offset, length: bytes of the subfile
    offset: Integers
    length: Integers


def requests_of(accesses: Accesses, stripe: int, subfiles: int, *, each: bool) -> Requests:
    """Return the requests for pieces of a file.

    A piece is cut into stripes, each a request, and one turn has at most one of each subfile; piece
    follows piece (H5FDsubfiling.c, io_helper and generate_io_vectors). A single subfile has no
    stripes, and all pieces of a call are asked for at once, unless ``each`` is a call.
    """
    rank, offset, length = accesses
    if subfiles == 1:
        turn = _counted(rank, np.ones(len(rank), np.int64)) if each else np.zeros_like(rank)
        return Requests(rank, turn, np.zeros_like(rank), offset, length)
    first = offset // stripe
    count = (offset + length - 1) // stripe - first + 1
    piece = np.repeat(np.arange(len(rank)), count)
    number = np.arange(len(piece)) - np.repeat(np.cumsum(count) - count, count)
    place = first[piece] + number
    low = np.maximum(offset[piece], place * stripe)
    high = np.minimum((offset + length)[piece], (place + 1) * stripe)
    return Requests(
        rank[piece],
        _counted(rank, -(-count // subfiles))[piece] + number // subfiles,
        place % subfiles,
        place // subfiles * stripe + low - place * stripe,
        high - low,
    )


def _counted(rank: Integers, turns: Integers) -> Integers:
    """Return how many turns each piece's rank has before it: int64 (pieces,)."""
    before = np.cumsum(turns) - turns
    return before - before[np.searchsorted(rank, rank)]


def ends_of(end: int, stripe: int, subfiles: int) -> Integers:
    """Return where each subfile ends if the file ends there: int64 (subfiles,).

    (H5FDsubfile_int.c, truncate_sub_files.)
    """
    rows, rest = divmod(end, stripe * subfiles)
    return rows * stripe + np.clip(rest - np.arange(subfiles) * stripe, 0, stripe)
