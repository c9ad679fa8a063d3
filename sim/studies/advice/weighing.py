"""Whether a change that was tried is worth being named, and which of several comes first.

A change is advised if the job is faster with it on all seeds taken together, by more than chance,
and so much that a real run is likely to be faster, too: ratios of two runs were measured, and the
simulated ones are known to be off (:mod:`xc40io.trust.how_sure`). Of changes that bring the same
the one with the least to change comes first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, TypeVar

from xc40io.studies.ratio import Ratio, paired
from xc40io.trust.how_sure import LIKELY

LEAST = 1.03
"""Times as fast: what brings less is not worth a change."""

TIE = 1.03
"""Times as fast: gains that are no further apart are the same."""

SEEDS = 3
"""Seeds with which a change is run before it is advised."""

MORE = 8
"""Seeds in all, where those leave open whether it was chance."""

Item = TypeVar("Item")


class ChangeEffect(NamedTuple):
    """What a change brings, over several seeds."""

    gain: Ratio  # times as fast as the phase is
    whole: Ratio  # likewise, of all phases of I/O together
    chance: float  # that a real run is faster, too

    @property
    def helps(self) -> bool:
        """Whether phase and whole are certain to be faster, and a real run is likely to be."""
        surely = self.gain.clear and self.whole.clear
        least = min(self.gain.value, self.whole.value)
        return surely and least >= LEAST and self.chance >= LIKELY


def left_open(gain: Ratio, chance: float) -> bool:
    """Tell whether a change seems to help, and more seeds would show that it was no chance."""
    return gain.low is not None and not gain.clear and gain.value >= LEAST and chance >= LIKELY


def weighed(
    phase: tuple[Sequence[float], Sequence[float]],
    whole: tuple[Sequence[float], Sequence[float]],
    chance: Callable[[float], float],
) -> ChangeEffect:
    """Return how many times as fast a change makes a phase and all I/O, and how likely that is.

    Parameters
    ----------
    phase, whole
        Seconds before and after, by seed: of a kind of phase, and of all I/O.
    chance
        Returns how likely a real run is to be faster, for times as fast in the model.
    """
    total = paired(*whole)
    return ChangeEffect(paired(*phase), total, chance(total.value))


def ranked(
    items: Iterable[Item], gain: Callable[[Item], float], effort: Callable[[Item], tuple[int, ...]]
) -> list[Item]:
    """Return things by what they bring; of those that bring the same, the least to change first."""
    left, order = list(items), []
    while left:
        best = max(map(gain, left))
        tied = [item for item in left if gain(item) * TIE >= best]
        first = min(tied, key=lambda item: (effort(item), -gain(item)))
        left.remove(first)
        order.append(first)
    return order
