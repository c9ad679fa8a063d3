"""Forgetting operations that are done.

A batch is entered while other programs are at work, so that the table only grows. Every now and
then what nobody will look at again is dropped, and programs are told where the rest is.
"""

from __future__ import annotations

import numpy as np

from sim.engine.types import Integers, Table
from sim.plane.operations import Op


def keep_operations(programs: Table, operations: Table) -> Integers:
    """Return which operations are still to be done: int64 rows; tell the programs their new places.

    The one that a program was at last is kept until its time has been added to its timer, and
    where somebody may go back to a ``MARK``, what follows the latest of each program.

    Parameters
    ----------
    programs
        The programs; those that are active get the places that their operations have when the
        rows returned are all there are.
    operations
        The operations so far.
    """
    active = np.flatnonzero(programs.active)
    op, timed = programs.op[active], programs.timed[active]
    first = np.where(timed >= 0, np.minimum(op, timed), op)
    if (operations.kind == int(Op.REPEAT)).any():
        first = np.minimum(first, programs.loop[active])
    count = programs.stop[active] - first
    shift = first - (np.cumsum(count) - count)
    programs.op[active] = op - shift
    programs.timed[active] = np.where(timed >= 0, timed - shift, -1)
    programs.loop[active] -= shift
    programs.stop[active] -= shift
    return np.repeat(shift, count) + np.arange(int(count.sum()))
