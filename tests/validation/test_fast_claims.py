"""The fast subset of the published claims holds."""

from __future__ import annotations

from sim.studies.simulations import Simulations
from validation.claim import load_claims
from validation.report import select, validate
from validation.report_text import format_report


def test_the_fast_subset_holds():
    report = validate(select(load_claims(), fast=True), Simulations())
    print(format_report(report))
    assert report.total.claims >= 5
    assert [outcome.claim.id for outcome in report.failed] == []
