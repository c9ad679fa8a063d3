"""Reads and writes that are longer than Linux moves in one call.

A call of ``read`` or ``write`` moves at most ``MOST_A_CALL`` bytes, and returns how many it has
moved; who wants more calls again for the rest. IOR does (aiori-POSIX.c, POSIX_Xfer, which warns of
a "partial write()"), and so does ROMIO (ad_write.c, ADIOI_GEN_WriteContig).
"""

from __future__ import annotations

import numpy as np

from xc40io.engine.page import MOST_A_CALL
from xc40io.engine.types import Integers
from xc40io.plane.operations import Op, Operations


def calls_for(length: int) -> int:
    """Return in how many calls so many bytes are moved that a program wants to move at once."""
    return max(-(-length // MOST_A_CALL), 1)


def cut_long_calls(operations: Operations, bounds: Integers) -> tuple[Operations, Integers]:
    """Return programs with each call that is too long made as several, one behind the other.

    Parameters
    ----------
    operations
        All operations, program after program.
    bounds
        int64 (programs + 1,): the bounds of each program in them.

    Returns
    -------
    The same for what the programs really call.
    """
    moves = operations["kind"] <= int(Op.WRITE)
    if not moves.any() or operations["length"][moves].max() <= MOST_A_CALL:
        return operations, bounds
    long = moves & (operations["length"] > MOST_A_CALL)
    # Of each call whole ones, in a row, and what is left; of operations that fit one row as it is.
    rows = np.where(long, 2 * operations["count"], 1)
    source = np.repeat(np.arange(len(operations)), rows)
    before = np.concatenate(([0], np.cumsum(rows)))
    call, is_rest = np.divmod(np.arange(len(source)) - before[source], 2)
    cut, rest = operations[source], is_rest == 1
    there = long[source]
    whole, left = np.divmod(cut["length"], MOST_A_CALL)
    start = cut["offset"] + call * cut["stride"]
    cut["offset"] = np.where(there, start + rest * whole * MOST_A_CALL, cut["offset"])
    cut["stride"] = np.where(there, MOST_A_CALL, cut["stride"])
    cut["count"] = np.where(there, np.where(rest, 1, whole), cut["count"])
    cut["length"] = np.where(there, np.where(rest, left, MOST_A_CALL), cut["length"])
    kept = ~there | (cut["length"] > 0)
    place = np.concatenate(([0], np.cumsum(kept)))[before]
    _skip_as_much(operations, cut, place, before)
    return cut[kept], place[bounds]


def _skip_as_much(
    operations: Operations, cut: Operations, place: Integers, before: Integers
) -> None:
    """Let each ``ITEM`` skip, in place, what its calls have become.

    ``place`` is where each row of ``cut`` is then, ``before`` the first row of each operation.
    """
    items = np.flatnonzero(operations["kind"] == int(Op.ITEM))
    skipped = operations["count"][items]
    cut["count"][before[items]] = place[items + 1 + skipped] - place[items + 1]
