"""Links as bent lines in a picture."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from xc40io.topology.arrays import FloatArray


def arcs(first: FloatArray, second: FloatArray, bend: ArrayLike) -> FloatArray:
    """Return lines from ``first`` to ``second`` (float64[links, 2] each) that are bent.

    ``bend`` says how far off the straight line the middle is: float64[2], or one for each line,
    float64[links, 1, 2]. The result is float64[links, points, 2].
    """
    step = np.linspace(0, 1, 30)[None, :, None]
    straight = first[:, None] * (1 - step) + second[:, None] * step
    lines: FloatArray = straight + 4 * step * (1 - step) * np.asarray(bend)
    return lines
