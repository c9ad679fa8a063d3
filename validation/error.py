"""How far a simulated number is from a measured one."""

from __future__ import annotations

import math


def error_of(ratio: float) -> float:
    """Return ``|ln(ratio)|`` of simulated over measured; infinite where that says nothing."""
    return abs(math.log(ratio)) if 0.0 < ratio < math.inf else math.inf
