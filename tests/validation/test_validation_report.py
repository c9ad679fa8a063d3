"""The report: selection, what the claims add up to, and what is printed."""

from __future__ import annotations

import math

import pytest
from run_records import SCENARIO

from xc40io.config.errors import InputError
from xc40io.config.scenario import Scenario
from xc40io.studies.simulations import Simulations
from xc40io.telling.data import document_of
from xc40io.telling.text import text_of
from xc40io.validation.claim import Claim
from xc40io.validation.report import Report, select, validate
from xc40io.validation.report_answer import report_answer


def claim(name: str, **fields: object) -> Claim:
    """A claim of a run that writes 1 MiB on one node, with fields of its own."""
    said = {
        "id": name,
        "role": "check",
        "runs": {"one": Scenario.model_validate(SCENARIO)},
        "metric": "write(one)",
        "relation": {"at_least": "1 MB/s"},
    }
    return Claim.model_validate(said | fields)


ABSURD = {"value": "1 TB/s", "tolerance": "10%"}
CLAIMS = {
    one.id: one
    for one in (
        claim("B02", text="holds", relation={"value": "1 MB/s", "tolerance": "100000%"}, fast=True),
        claim("B04", text="does not hold", relation=ABSURD, suspect="a page of memory"),
        claim("B05", text="is not judged", relation=ABSURD, unjudged="two numbers on one page"),
        claim("B06", text="takes long", full=True),
        claim("B08", text="is fitted", role="calibration", parameters=["a.b"], relation=ABSURD),
        claim("B08.raw", text="a second claim"),
        Claim(id="C04", text="is not expressed", not_expressed="no burst buffer"),
        Claim.model_validate(
            {
                "id": "A30",
                "text": "is an input",
                "machine": "theta",
                "parameter": "lustre.version",
                "relation": {"equals": "2.7.2.26"},
            }
        ),
    )
}


@pytest.fixture(scope="module")
def report() -> Report:
    return validate(CLAIMS.values(), Simulations())


def test_adds_up(report: Report):
    total = report.total
    assert (total.passed, total.failed, total.unjudged) == (3, 2, 1)
    assert (total.left_out, total.not_expressed, total.claims) == (1, 1, 8)
    assert [outcome.claim.id for outcome in report.failed] == ["B04", "B08"]
    assert [summary.claims for summary in report.summaries.values()] == [6, 1, 1]


def test_the_medians_are_those_of_the_roles(report: Report):
    errors = {
        outcome.claim.id: [point.error for point in outcome.points] for outcome in report.outcomes
    }
    total = report.total
    near = total.nearness
    assert {kind: one.numbers for kind, one in near.items()} == {
        "calibration": 1,
        "check": 2,  # B02 and B04: what has no verdict counts in no median
        "prediction": 0,
    }
    assert near["calibration"].median == errors["B08"][0]
    checks = errors["B02"] + errors["B04"]
    assert near["check"].median == sum(checks) / 2
    assert near["check"].off == sum(error > math.log(1.25) for error in checks)
    assert near["check"].far == sum(error > math.log(1.5) for error in checks)
    assert near["prediction"].median is None, "all share the run of the one that was fitted"


def test_all_seeds_and_full_claims_are_run_when_asked_for():
    simulations = Simulations()
    report = validate([claim("B02", seeds=3)], simulations)
    assert len(report.outcomes[0].records["one"]) == 3
    assert validate([CLAIMS["B06"]], simulations, full=True).total.passed == 1


def test_the_text_says_it_all(report: Report):
    text = text_of(report_answer(report))
    lines = {line.split()[0]: line for line in text.splitlines() if line}
    assert lines["B02"].split()[1:4] == ["holds", "1", "MB/s"]
    assert lines["B02"].endswith("pass")
    assert "1 TB/s" in lines["B05"]
    assert lines["B05"].endswith("no verdict")
    assert lines["B06"].endswith("not run")
    assert "2.7.2.26" in lines["A30"]
    assert "suspected: a page of memory" in text
    assert "suspected: nothing yet" in text
    assert "C04" not in text


def test_all_of_it_has_the_reasons(report: Report):
    text = text_of(report_answer(report, everything=True))
    assert "C04  is not expressed: no burst buffer" in text
    assert "B05  is not judged: two numbers on one page" in text
    assert "B06  takes long: takes long: runs with --full" in text


def test_the_json_has_every_number(report: Report):
    document = document_of(report_answer(report))
    found = {entry["id"]: entry for entry in document["claims"]}
    assert list(found) == list(CLAIMS)
    (point,) = found["B04"]["points"]
    assert point["measured"] == 1e12
    assert math.isclose(point["simulated"], found["B04"]["numbers"][""])
    assert found["B04"]["target"]["source"]
    assert found["C04"]["without_verdict"] == "no burst buffer"
    assert document["total"]["nearness"].keys() == {"calibration", "check", "prediction"}


def test_the_same_report_whoever_runs_it(report: Report):
    again = report_answer(validate(CLAIMS.values(), Simulations(2)))
    assert document_of(again) == document_of(report_answer(report))


@pytest.mark.parametrize(
    ("asked", "chosen"),
    [
        ({}, list(CLAIMS)),
        ({"fast": True}, ["B02"]),
        ({"ids": ["B08"]}, ["B08", "B08.raw"]),
        ({"ids": ["B08.raw", "B02"]}, ["B02", "B08.raw"]),
        ({"groups": ["theta hard"]}, ["A30"]),
        ({"groups": ["Cori hardware"], "ids": ["C04"]}, ["C04"]),
    ],
)
def test_selects(asked, chosen):
    assert [one.id for one in select(CLAIMS, **asked)] == chosen


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"ids": ["B8"]}, "no such claim; did you mean B08"),
        ({"groups": ["Summit"]}, "there are Theta measured I/O, Cori hardware, Theta hardware"),
    ],
)
def test_refuses_what_there_is_not(asked, words):
    with pytest.raises(InputError, match=words):
        select(CLAIMS, **asked)
