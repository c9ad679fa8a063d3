"""Distinct simulated numbers: what several measurements read off the same run counts once.

The simulator knows one day of a machine. Where several were measured, as the months of a daily
probe, their ratios are of one simulated number, and their geometric mean is its error.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterable, Sequence

from validation.claim import Claim
from validation.metric import EACH


def number_of(claim: Claim, point: str = "") -> str:
    """Return what is the same for the same simulated number, of whatever claim.

    Parameters
    ----------
    claim
        One with a metric.
    point
        Its run, for a claim with several numbers.
    """
    assert claim.metric is not None
    read = []
    for function, (run, *words) in claim.metric.expression.calls():
        name = point if run == EACH and point in claim.names else run
        name = next(iter(claim.names)) if name == EACH else name
        read.append(number_read(claim, function, name, words))
    return " and ".join(read)


def number_read(claim: Claim, function: str, run: str, words: Sequence[str]) -> str:
    """Return the same for one function of a claim's metric and one of its runs."""
    looked = f"{claim.machine} {run}" if claim.nodes else _text(claim, run)
    return json.dumps([function, *words, looked, claim.seeds])


def _text(claim: Claim, run: str) -> str:
    document = claim.runs[run].model_dump(mode="json", exclude={"title", "description"})
    return json.dumps(document, sort_keys=True)


def merged_errors(pairs: Iterable[tuple[str, float]]) -> list[float]:
    """Return one ``|ln(simulated / measured)|`` for each distinct number.

    Parameters
    ----------
    pairs
        The number (:func:`number_of`) and ``ln(simulated / measured)`` of each measurement.
    """
    logs: dict[str, list[float]] = {}
    for number, log in pairs:
        logs.setdefault(number, []).append(log)
    return [abs(statistics.fmean(some)) for some in logs.values()]
