"""The score as JSON: what the text says, and every number behind it."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

from xc40io.studies.store import code_hash
from xc40io.telling.data import json_text
from xc40io.validation.comparison import Comparison, Pair
from xc40io.validation.number import DistinctNumber
from xc40io.validation.report import FAR, NEAR
from xc40io.validation.score import Score, Scored, Tally
from xc40io.validation.score_text import verdict


def format_score_json(
    score: Score, comparison: Comparison | None = None, *, since: str = ""
) -> str:
    """Print a score as JSON, with a newline at the end; see :func:`score_document`."""
    return json_text(score_document(score, comparison, since=since))


def score_document(
    score: Score, comparison: Comparison | None = None, *, since: str = ""
) -> dict[str, Any]:
    """Arrange a score.

    Returns
    -------
    dict
        ``version``, ``code`` (a hash of the simulator's sources), ``numbers`` (each with the
        measurements that read it, its ratio, its ``|ln|`` as it counts, whether it is kept from
        another day), ``missing`` (those without a result), ``directions``
        (whether each rule of users' guides holds), ``groups``, ``kinds`` and ``total``
        (what they add up to), ``halves`` (near and far, each by ``what`` the numbers are of and by
        ``studies``, with ``mean_of_studies`` in which each study counts alike) and, if asked for,
        ``against`` (what moved since, the tallies before and now, and whether the change lands).
    """
    document = {
        "version": version("xc40io"),
        "code": code_hash(),
        "numbers": [_scored(one) for one in score.scored],
        "missing": [_readers(number) for number in score.missing],
        "directions": dict(score.directions),
        **_tallies(score),
    }
    if comparison is not None:
        document["against"] = _comparison(comparison, since)
    return document


def _scored(one: Scored) -> dict[str, Any]:
    number = one.number
    return {
        "measurements": _readers(number),
        "group": number.group,
        "kind": number.kind.value,
        **number.place._asdict(),
        "ratio": one.ratio,
        "error": one.error,
        "kept": one.kept,
    }


def _readers(number: DistinctNumber) -> list[str]:
    return [str(reader) for reader in number.readers]


def _tallies(score: Score) -> dict[str, Any]:
    return {
        "groups": _by_name(score.groups),
        "kinds": _by_name(score.kinds),
        "total": _tally(score.total),
        "halves": {half.value: _half(found) for half, found in score.halves.items()},
    }


def _half(found: Score) -> dict[str, Any]:
    return {
        **_tally(found.total),
        "mean_of_studies": found.mean_of_studies,
        "what": _by_name(found.whats),
        "studies": _by_name(found.studies),
    }


def _by_name(tallies: Mapping[str, Tally]) -> dict[str, Any]:
    return {name: _tally(tally) for name, tally in tallies.items()}


def _tally(tally: Tally) -> dict[str, Any]:
    return {
        "numbers": tally.numbers,
        "median": tally.median,
        "mean": tally.mean,
        f"within_{NEAR:g}": tally.near,
        f"within_{FAR:g}": tally.fair,
    }


def _comparison(comparison: Comparison, since: str) -> dict[str, Any]:
    return {
        "since": since,
        "numbers": len(comparison.pairs),
        "moved": [_pair(pair) for pair in comparison.moved],
        "before": _tallies(comparison.before),
        "now": _tallies(comparison.now),
        "put_differently": list(comparison.unlike),
        "without_result": list(comparison.unknown),
        "lands": comparison.lands,
        "verdict": verdict(comparison, since),
    }


def _pair(pair: Pair) -> dict[str, Any]:
    return {
        "measurements": _readers(pair.number),
        "group": pair.number.group,
        "before": pair.before.ratio,
        "now": pair.now.ratio,
        "change": pair.change,
    }
