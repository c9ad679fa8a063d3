"""How far the model is off, by kind of run: the file has what the validation measures."""

from __future__ import annotations

import math

import pytest
import yaml
from run_records import claim

from xc40io.config.files import shipped_file
from xc40io.config.scenario import Scenario
from xc40io.trust.model_error import FILE, model_errors
from xc40io.validation.claim import Claim, load_claims
from xc40io.validation.cross_validation import CrossValidation
from xc40io.validation.kept import Number, Result, load_kept
from xc40io.validation.kept_cross import KeptCross
from xc40io.validation.model_error import (
    MeasuredErrors,
    Rate,
    errors_by_kind,
    kept_document,
    measured_rates,
    metadata_rates_of,
    rates_of,
    reach_of,
)


def job(**fields: object) -> Scenario:
    described = {"machine": "theta", "nodes": 1, "ppn": 1, **fields}
    return Scenario.model_validate(described)


AGAIN = "python -m xc40io.validation.model_error makes it anew"


def test_the_file_is_what_the_kept_results_give() -> None:
    found = kept_document()
    kept = yaml.safe_load(shipped_file(FILE).read_text(encoding="utf-8"))
    # A search on another processor ends a little beside.
    weights = pytest.approx(kept.pop("weights"), rel=0.03)
    assert found.pop("weights") == weights, AGAIN
    assert found == kept, AGAIN


def test_it_has_the_kinds_and_claims_of_the_validation() -> None:
    kept = load_kept()
    measured: dict[str, set[str]] = {}
    for one in load_claims().values():
        for rate in (*rates_of(one), *metadata_rates_of(one)):
            if one.id in kept and any(number.counts for number in kept[one.id].numbers):
                measured.setdefault(rate.kind, set()).add(rate.claim)
    found = model_errors().kinds
    assert {kind: set(error.claims) for kind, error in found.items()} == measured
    assert all(0 < error.median <= error.largest for error in found.values())
    assert all(error.numbers <= len(error.claims) for error in found.values())


def test_what_may_be_expected_is_in_order() -> None:
    errors = model_errors()
    assert all(0 < one.crossed.median <= one.crossed.nine_of_ten for one in errors.ratios.values())
    measured = {run.kind for run in errors.runs}
    assert measured == errors.kinds.keys()
    assert sum(one.numbers for one in errors.kinds.values()) == len(errors.runs)


def crossing(claims: list[Claim], ratios: list[float]) -> CrossValidation:
    """A cross-validation of claims to which nothing was fitted."""
    results = {
        one.id: Result("pass", "", (Number(ratio, True),), "", "")
        for one, ratio in zip(claims, ratios, strict=True)
    }
    return CrossValidation({one.id: one for one in claims}, results, {}, KeptCross({}, {}))


def test_errors_are_of_measured_rates_alone() -> None:
    rate = claim("a", {"value": "2 GB/s", "tolerance": "10%"}, metric="write(a)")
    ratio = claim(
        "ab", {"ratio": 4, "tolerance": "25%"}, metric="write(a) / write(b)", id="B02.ratio"
    )
    found = errors_by_kind(measured_rates(crossing([rate, ratio], [0.5, 0.25])))
    off = round(math.log(2), 3)
    assert list(found) == ["shared file, write"]
    assert found["shared file, write"] | {"reach": ...} == {
        "median": off,
        "largest": off,
        "numbers": 1,
        "claims": ["B02"],
        "reach": ...,
    }


def test_the_reach_of_a_kind_is_that_of_all_its_runs() -> None:
    few, many = (
        job(nodes=nodes, ppn=4, workload={"ior": f"-w -b 8m -t {size}"})
        for nodes, size in ((2, "1m"), (8, "4m"))
    )
    changed = many.model_copy(update={"changes": {"lustre.osts": 48}})
    rates = [Rate("B02", "", scenario, "write") for scenario in (few, many, changed)]
    assert reach_of(MeasuredErrors((rate,), 0.1, 0.1) for rate in rates) == {
        "nodes": [2, 8],
        "ranks": [8, 32],
        "bytes_a_rank": [8 << 20, 8 << 20],
        "call": [1 << 20, 4 << 20],
        "machines": ["theta"],
        "changes": ["lustre.osts=48"],
    }


def test_two_measurements_of_one_rate_are_one_number() -> None:
    relation = {"value": "2 GB/s", "tolerance": "10%"}
    same = [claim("a", relation, metric="write(a)", id=name) for name in ("B01", "B02")]
    (one,) = measured_rates(crossing(same, [0.5, 1.0]))
    assert one.fitted == pytest.approx(-math.log(2) / 2)
    assert errors_by_kind([one])["shared file, write"]["claims"] == ["B01", "B02"]


def test_what_was_not_measured_has_no_error() -> None:
    assert Rate("B02", "", job(workload={"kernel": {"name": "adios"}}), "read").kind not in (
        model_errors().kinds
    )
