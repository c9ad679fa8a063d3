"""How what claims read responds to values of a machine: simulated there, and the slopes around it.

Everything is in natural logarithms: a point says by what the values differ from the machine's.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from xc40io.engine.types import Floats
from xc40io.validation.free_parameter import Changes, FreeParameter, merged
from xc40io.validation.sensitivity import BLIND
from xc40io.validation.trial import Trials

WIDTHS = (0.1, 1.0)
"""By how much a value is moved to each side, of its logarithm, at least and at most: far enough
that a simulation, constant in small pieces, moves, and not where another machine begins."""


class Response:
    """The readings of some trials, as the values of a machine have them.

    Parameters
    ----------
    trials
        The trials, of one seed.
    free
        The values that may be moved.
    base
        What is changed of the machine in any case.
    depends
        Tells whether a claim, by its id, may depend on a path: slopes are not looked for elsewhere.

    Attributes
    ----------
    lower, upper
        How far each value may be moved, (values,).
    """

    def __init__(
        self,
        trials: Trials,
        free: Iterable[FreeParameter],
        base: Changes,
        depends: Callable[[str, str], bool],
    ) -> None:
        self._trials, self._free, self._base = trials, tuple(free), base
        self._depends = depends
        self._paths = {one.path for one in self._free}
        self.lower, self.upper = (
            np.array([math.log(getattr(one, bound) / one.value) for one in self._free])
            for bound in ("lower", "upper")
        )

    def logs(self, points: Sequence[Floats]) -> Floats:
        """Return ln of what is read, (points, readings), where the values differ by so much."""
        return self._logs(points, lambda *_: True)

    def _logs(self, points: Sequence[Floats], seen: Callable[[str, str], bool]) -> Floats:
        moved = (
            (
                one.changes(one.value * math.exp(float(log)))
                for one, log in zip(self._free, point, strict=True)
                if log
            )
            for point in points
        )
        changes = [merged([self._base, *some]) for some in moved]
        return self._trials.logs(changes, seen=seen)[:, 0]  # of the only seed

    def slopes(self, at: Floats, spread: Floats) -> Floats:
        """Return the slopes around a point, (readings, values), over where each value may lie.

        That is from one standard deviation below to one above (statistical linearisation): what
        binds now hides what would bind there.
        """
        widths = np.clip(spread, *WIDTHS)
        above, below = (np.clip(at + w, self.lower, self.upper) for w in (widths, -widths))
        points = [
            np.where(np.arange(len(at)) == n, side, at)
            for side in (above, below)
            for n in range(len(at))
        ]
        logs = self._logs(points, self._seen)
        slopes: Floats = ((logs[: len(at)] - logs[len(at) :]) / (above - below)[:, None]).T
        slopes[np.abs(slopes) < BLIND] = 0.0
        return slopes

    def _seen(self, claim: str, path: str) -> bool:
        return path not in self._paths or self._depends(claim, path)
