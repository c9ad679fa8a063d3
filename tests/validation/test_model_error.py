"""How far the model is off, by kind of run: the file has what the validation measures."""

from __future__ import annotations

import math

import pytest
from run_records import claim, record

from sim.config.scenario import Scenario
from sim.studies.model_error import model_error_of, model_errors
from sim.studies.run_kind import run_kind
from validation.claim import load_claims
from validation.model_error import errors_by_kind, rates_of
from validation.verdict import judge


def job(**fields: object) -> Scenario:
    described = {"machine": "theta", "nodes": 1, "ppn": 1, **fields}
    return Scenario.model_validate(described)


def test_the_file_has_the_kinds_and_claims_of_the_validation() -> None:
    measured: dict[str, set[str]] = {}
    for one in load_claims().values():
        if not one.full:
            for rate in rates_of(one):
                measured.setdefault(rate.kind, set()).add(rate.claim)
    kept = model_errors().kinds
    assert {kind: set(error.claims) for kind, error in kept.items()} == measured
    assert all(0 < error.median <= error.largest for error in kept.values())
    assert all(error.numbers >= len(error.claims) for error in kept.values())


@pytest.mark.parametrize(
    ("workload", "target", "phase", "kind"),
    [
        ({"ior": "-w -b 1m -t 1m"}, "lustre", "write", "shared file, write"),
        ({"ior": "-F -r -w -b 1m -t 1m"}, "lustre", "read", "own files, read"),
        ({"ior": "-a MPIIO -c -w -b 1m -t 1m"}, "lustre", "write", "collective, write"),
        ({"ior": "-F -w -b 1m -t 1m"}, "ssd", "write", "local SSDs, write"),
        ({"kernel": {"name": "vpic-io"}}, "lustre", "write", "shared file, write"),
        ({"kernel": {"name": "adios"}}, "lustre", "output", "application, write"),
    ],
)
def test_the_kind_of_a_run(workload: object, target: str, phase: str, kind: str) -> None:
    assert run_kind(job(workload=workload, target=target), phase) == kind


def test_errors_are_of_measured_rates_alone() -> None:
    rate_said = {"value": "2 GB/s", "tolerance": "10%"}
    rate = claim("a", rate_said, metric="write(a)")
    ratio = claim("ab", {"ratio": 4, "tolerance": "25%"}, metric="write(a) / write(b)")
    doubtful = claim("a", rate_said, metric="write(a)", unjudged="another machine")
    outcomes = [
        judge(rate, {"a": [record(1e9)]}),
        judge(doubtful, {"a": [record(1e9)]}),
        judge(ratio, {"a": [record(1e9)], "b": [record(1e9)]}),
    ]
    assert errors_by_kind(outcomes) == {
        "shared file, write": {
            "median": round(math.log(2), 3),
            "largest": round(math.log(2), 3),
            "numbers": 1,
            "claims": ["B02"],
        }
    }


def test_what_was_not_measured_has_no_error() -> None:
    assert model_error_of(job(workload={"kernel": {"name": "adios"}}), "read") is None
