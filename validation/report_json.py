"""The report of a validation as JSON: what the text says, and every number behind it."""

from __future__ import annotations

import math
from collections.abc import Container
from dataclasses import asdict
from importlib.metadata import version
from typing import Any

from xc40io.studies.store import code_hash
from xc40io.telling.data import json_text
from xc40io.validation.frozen import digest_of
from xc40io.validation.report import Report, Summary
from xc40io.validation.report_text import simulated_words
from xc40io.validation.verdict import Outcome, Point


def format_report_json(report: Report) -> str:
    """Print a report as JSON, with a newline at the end; see :func:`report_document`."""
    return json_text(report_document(report))


def report_document(report: Report) -> dict[str, Any]:
    """Arrange a report.

    Returns
    -------
    dict
        ``version``, ``code`` (a hash of the simulator's sources), ``claims`` (each with its
        published row, its verdict, ``points``: measured beside simulated numbers, ``numbers``: the
        metric by run, ``complaints``, ``prediction``: whether it is a genuine one), ``groups`` and
        ``total`` (what they add up to). Bytes, seconds, bytes/s.
    """
    return {
        "version": version("xc40io"),
        "code": code_hash(),
        "claims": [_claim(outcome, report.predictions) for outcome in report.outcomes],
        "groups": {name: _summary(summary) for name, summary in report.summaries.items()},
        "total": _summary(report.total),
    }


def _claim(outcome: Outcome, predicted: Container[str]) -> dict[str, Any]:
    claim, target = outcome.claim, outcome.claim.target
    return {
        "id": claim.id,
        "group": claim.family,
        "text": claim.title,
        "target": asdict(target),
        "role": claim.role or ("input" if claim.parameter else None),
        "prediction": claim.id in predicted,
        "digest": digest_of(claim),
        "parameters": list(claim.parameters),
        "metric": claim.metric.text if claim.metric else None,
        "parameter": claim.parameter.text if claim.parameter else None,
        "published": claim.relation.words if claim.relation else "",
        "simulated": simulated_words(outcome) if claim.relation else "",
        "verdict": outcome.verdict.value,
        "points": [_point(point) for point in outcome.points],
        "numbers": {run: _finite(number) for run, number in outcome.numbers.items()},
        "stated": outcome.stated,
        "complaints": list(outcome.complaints),
        "without_verdict": outcome.without,
        "remarks": outcome.remarks,
        "note": claim.note,
        "suspect": claim.suspect,
        "bounds": {
            run: [asdict(bound) for bound in records[0].bounds]
            for run, records in outcome.records.items()
        },
    }


def _point(point: Point) -> dict[str, Any]:
    return {
        "name": point.name,
        "measured": point.measured.base,
        "written": str(point.measured),
        "simulated": _finite(point.simulated),
        "ratio": _finite(point.ratio),
        "shown": point.measured.show(point.simulated),
        "holds": point.holds,
        "counts": point.counts,
    }


def _summary(summary: Summary) -> dict[str, Any]:
    return {"claims": summary.claims} | asdict(summary)


def _finite(number: float) -> float | None:
    """Return a number; None for what JSON cannot write."""
    return number if math.isfinite(number) else None
