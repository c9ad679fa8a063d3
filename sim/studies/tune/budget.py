"""What a search may spend: runs, or seconds of the clock."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sim.config.errors import InputError

_FORM = re.compile(r"(\d{1,9})\s*(s)?", re.ASCII)
_FIRST, _LATER = 5, 3
"""How many settings near the best get a second seed, and how many each later one."""

_RACING = 3
"""The present setting and its rivals take a third of the runs at most for their further seeds."""

_EVER = 10**6  # runs of a search that is limited by seconds alone


@dataclass(frozen=True)
class Budget:
    """What there is to spend.

    Attributes
    ----------
    runs
        Most runs; None where seconds are counted.
    seconds
        After which nothing more is tried; None where runs are counted.
    """

    runs: int | None = None
    seconds: float | None = None

    @staticmethod
    def parse(text: str) -> Budget:
        """Read ``60``, runs, or ``120s``, seconds.

        Raises
        ------
        InputError
            If it is neither, or too little to compare anything.
        """
        found = _FORM.fullmatch(text.strip())
        if found is None or int(found[1]) < (1 if found[2] else 2):
            raise InputError(
                f"--budget {text}: right would be a number of runs, 2 or more, as 60, or of "
                "seconds, as 120s"
            )
        if found[2]:
            return Budget(seconds=float(found[1]))
        return Budget(runs=int(found[1]))

    @property
    def words(self) -> str:
        """For a person."""
        return f"{self.seconds:g} s" if self.runs is None else f"{self.runs:,} runs"

    def over(self, seconds: float) -> bool:
        """Tell whether nothing more is to be tried after so many seconds."""
        return self.seconds is not None and seconds >= self.seconds

    def widths(self, seeds: int) -> list[int]:
        """Return how many settings, beside the present one, get the second seed, the third..."""
        widths = [_FIRST if number == 0 else _LATER for number in range(seeds - 1)]
        if self.runs is None:
            return widths
        most = max(self.runs // _RACING, 0)
        while widths and sum(widths) + len(widths) > most:
            if max(widths) > 1:
                widths[widths.index(max(widths))] -= 1
            else:
                widths.pop()
        return widths

    def to_explore(self, seeds: int) -> int:
        """Return how many settings can be tried with one seed, the present one included."""
        if self.runs is None:
            return _EVER
        widths = self.widths(seeds)
        return self.runs - sum(widths) - len(widths)
