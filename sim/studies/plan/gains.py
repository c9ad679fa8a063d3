"""Gains that are more than chance: by the seeds, and by what such ratios are usually off."""

from __future__ import annotations

from collections.abc import Iterable

from xc40io.studies.ratio import Ratio
from xc40io.trust.how_sure import LIKELY, chance_better

WORTH_A_WORD = 0.03
"""A job, or a mix, whose speed changes by less than this is not affected by a change."""

SETTINGS = "settings of the machine"
"""In what two machines differ."""


def is_felt(ratio: Ratio) -> bool:
    """Tell whether a change of speed is large enough to mention, and more than chance."""
    sure = ratio.low is None or ratio.clear
    return sure and abs(ratio.value - 1.0) >= WORTH_A_WORD


def is_open(ratio: Ratio) -> bool:
    """Tell whether seeds leave a change open that, were it no chance, would be large.

    That is, larger than what such ratios are usually off: more seeds would tell.
    """
    if ratio.low is None or ratio.clear:
        return False
    return not 1.0 - LIKELY < chance_faster(ratio) < LIKELY


def ratio_words(ratio: Ratio) -> str:
    """Write a ratio with its interval; where that may be chance, the interval alone."""
    if is_felt(ratio):
        return ratio.words
    interval = f" ({ratio.words.partition(' (')[2] or ratio.words + ')'}"
    return f"{unfelt(ratio)}{interval}"


def unfelt(ratio: Ratio) -> str:
    """Say of a change that is not felt whether seeds leave it open, or it makes no difference."""
    return "left open" if is_open(ratio) else "no difference"


def surely_faster(ratio: Ratio | None, things: Iterable[str] = (SETTINGS,)) -> bool:
    """Tell whether one machine really is faster than another, more likely than not by far.

    Its interval from several seeds has only gains, and by the errors of ratios between machines it
    is faster with a chance of three in four at least.
    """
    if ratio is None or ratio.value <= 1.0 or (ratio.low is not None and not ratio.clear):
        return False
    return chance_faster(ratio, things) >= LIKELY


def chance_faster(ratio: Ratio, things: Iterable[str] = (SETTINGS,)) -> float:
    """Return the chance that what was simulated as faster is so, by the errors of such ratios.

    ``things``: in what both differ, as :func:`~xc40io.trust.differences.differences` has it.
    """
    return chance_better(ratio.value, things)
