"""How far the model is off, by kind of run: the file has what the validation measures."""

from __future__ import annotations

import math
import statistics

import pytest
import yaml
from run_records import claim

from sim.config.files import shipped_file
from sim.config.scenario import Scenario
from sim.studies.model_error import (
    FILE,
    KINDS,
    model_error_of,
    model_errors,
    narrow_kind,
    run_kind,
    spread_of,
)
from validation.claim import Claim, load_claims
from validation.cross_validation import CrossValidation, kept_cross_validation
from validation.kept import Number, Result, load_kept
from validation.kept_cross import KeptCross
from validation.model_error import document, errors_by_kind, measured_rates, rates_of


def job(**fields: object) -> Scenario:
    described = {"machine": "theta", "nodes": 1, "ppn": 1, **fields}
    return Scenario.model_validate(described)


AGAIN = "python -m validation.model_error makes it anew"


def test_the_file_is_what_the_kept_results_give() -> None:
    text = shipped_file(FILE).read_text(encoding="utf-8")
    assert document(kept_cross_validation()) == yaml.safe_load(text), AGAIN


def test_it_has_the_kinds_and_claims_of_the_validation() -> None:
    kept = load_kept()
    measured: dict[str, set[str]] = {}
    for one in load_claims().values():
        for rate in rates_of(one):
            if one.id in kept and any(number.counts for number in kept[one.id].numbers):
                measured.setdefault(rate.kind, set()).add(rate.claim)
    found = model_errors().kinds
    assert {kind: set(error.claims) for kind, error in found.items()} == measured
    assert all(0 < error.median <= error.largest for error in found.values())
    assert all(error.numbers <= len(error.claims) for error in found.values())


def test_what_may_be_expected_is_in_order() -> None:
    errors = model_errors()
    every = [*errors.kinds.values(), *errors.narrow.values(), *errors.ratios.values()]
    assert all(0 < one.crossed.median <= one.crossed.nine_of_ten for one in every)
    nowhere = errors.unmeasured
    assert not set(nowhere.kinds) & errors.kinds.keys()
    assert set(nowhere.kinds) | errors.kinds.keys() == set(KINDS)
    middle = statistics.median(one.crossed.nine_of_ten for one in errors.kinds.values())
    assert nowhere.crossed.nine_of_ten > middle, "wider where nothing was measured"


def test_a_number_of_one_kind_is_asked_of_the_narrowest_kind() -> None:
    errors = model_errors()
    direct = job(workload={"ior": "-a POSIX -B -F -w -b 1m -t 1m"})
    assert narrow_kind(direct, "write") == "own files, write, direct, one core"
    assert spread_of(direct, "write") == errors.narrow[narrow_kind(direct, "write")].crossed
    home = job(workload={"ior": "-a POSIX -F -w -b 1m -t 1m"}, target="home")
    assert spread_of(home, "write") == errors.unmeasured.crossed


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
    assert found == {
        "shared file, write": {
            "median": off,
            "largest": off,
            "numbers": 1,
            "claims": ["B02"],
            "crossed": {"median": off, "nine_of_ten": off},
        }
    }


def test_two_measurements_of_one_rate_are_one_number() -> None:
    relation = {"value": "2 GB/s", "tolerance": "10%"}
    same = [claim("a", relation, metric="write(a)", id=name) for name in ("B01", "B02")]
    (one,) = measured_rates(crossing(same, [0.5, 1.0]))
    assert one.fitted == pytest.approx(-math.log(2) / 2)
    assert errors_by_kind([one])["shared file, write"]["claims"] == ["B01", "B02"]


def test_what_was_not_measured_has_no_error() -> None:
    assert model_error_of(job(workload={"kernel": {"name": "adios"}}), "read") is None
