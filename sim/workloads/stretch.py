"""Times in which the ranks of a job were at work, whatever the workload."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sim.config.kept import kept

if TYPE_CHECKING:  # who only asks what a kernel's options are must not wait for NumPy
    from sim.engine.types import Floats


@kept
@dataclass(frozen=True, eq=False, kw_only=True)
class Stretch:
    """From when to when the ranks did one thing, and what they waited for meanwhile.

    Attributes
    ----------
    start, end
        When the first rank began and when the last one ended, in simulated seconds.
    doing
        float64 (``COARSE``,): seconds that a rank waited on average, by what it was at
        (:class:`~sim.plane.causes.Cause`).
    waits, last_waits
        float64 (causes,): seconds by what they were behind: on average, and of the rank that
        ended last. Each sums to ``end - start``: whoever has ended waits for the last, and so for
        what kept that one longer.
    """

    start: float
    end: float
    doing: Floats
    waits: Floats
    last_waits: Floats
