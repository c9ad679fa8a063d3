"""Which rows of a table are in use, as its pool tells."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from xc40io.engine.pool import FREE, Pool


def rows_in_use(pool: Pool) -> NDArray[np.intp]:
    """Return the rows that are not free, in ascending order.

    Some tests ask after every event of a run, so it does not sort as ``np.setdiff1d`` would.
    """
    used = np.ones(len(pool.rows), np.bool_)
    used[pool.rows[: pool.counts[FREE]]] = False
    return np.flatnonzero(used)
