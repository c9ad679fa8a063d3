"""Gains that are more than chance: by the seeds, and by what such ratios are usually off."""

from __future__ import annotations

from collections.abc import Iterable

from xc40io.studies.ratio import Ratio
from xc40io.trust.how_sure import LIKELY, chance_better


def surely_faster(ratio: Ratio | None) -> bool:
    """Tell whether one machine really is faster than another, more likely than not by far.

    Its interval from several seeds has only gains, and by the errors of ratios between machines it
    is faster with a chance of three in four at least.
    """
    if ratio is None or ratio.value <= 1.0 or (ratio.low is not None and not ratio.clear):
        return False
    return chance_faster(ratio) >= LIKELY


def chance_faster(ratio: Ratio, things: Iterable[str] = ("settings of the machine",)) -> float:
    """Return the chance that what was simulated as faster is so, by the errors of such ratios.

    ``things``: in what both differ, as :func:`~xc40io.trust.differences.differences` has it.
    """
    return chance_better(ratio.value, things)
