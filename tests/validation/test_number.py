"""Distinct numbers: one simulated number counts once, however often it was measured."""

from __future__ import annotations

from typing import Any

import pytest
from run_records import SCENARIO

from xc40io.config.scenario import Scenario
from xc40io.validation.claim import Claim, load_claims
from xc40io.validation.number import (
    DistinctNumber,
    Kind,
    Measurement,
    distinct_numbers,
    measurements,
)
from xc40io.validation.prediction import predictions

VALUE = {"value": "1 GB/s", "tolerance": "25%"}


def run(nodes: int = 1, **fields: Any) -> Scenario:
    return Scenario.model_validate(SCENARIO | {"nodes": nodes} | fields)


def claim(name: str, metric: str = "write(a)", **fields: Any) -> Claim:
    said = {
        "id": name,
        "text": "how fast it writes",
        "source": "a test",
        "role": "check",
        "runs": {"a": run(), "b": run(2)},
        "metric": metric,
        "relation": VALUE,
    }
    return Claim.model_validate(said | fields)


def found(*claims: Claim) -> list[DistinctNumber]:
    known = {one.id: one for one in claims}
    return distinct_numbers(known, predictions(known))


def shown(*claims: Claim) -> list[str]:
    return [str(number) for number in found(*claims)]


def test_what_reads_the_same_off_the_same_run_is_one_number() -> None:
    renamed = claim("z", "write(c)", runs={"c": run(title="another name")})
    assert shown(claim("x"), claim("y", "write(b)"), renamed) == ["x, z", "y"]


@pytest.mark.parametrize(
    ("metric", "fields"),
    [
        ("read(a)", {}),
        ("write(a)", {"runs": {"a": run(seed=2)}}),
        ("write(a)", {"seeds": 3}),
        ("write(a) * write(b) / write(a)", {}),
        ("2 * write(a)", {}),
    ],
)
def test_what_differs_in_anything_is_another(metric: str, fields: dict[str, Any]) -> None:
    assert shown(claim("x"), claim("y", metric, **fields)) == ["x", "y"]


def test_a_quotient_is_not_its_reverse() -> None:
    relation = {"ratio": 1, "tolerance": "1%"}
    up = claim("x", "write(a) / write(b)", relation=relation)
    down = claim("y", "write(b) / write(a)", relation=relation)
    turned = claim("z", "write(b) / write(a)", relation=relation, runs={"a": run(2), "b": run()})
    assert shown(up, down, turned) == ["x, z", "y"]


def test_each_of_several_values_is_a_number_of_its_run() -> None:
    several = {"values": {"a": "1 GB/s", "b": "2 GB/s"}, "tolerance": "25%"}
    assert shown(claim("x", "write", relation=several), claim("y", "write(b)")) == ["x a", "x b, y"]


def test_the_median_of_a_distribution_is_that_of_its_seeds() -> None:
    quantiles = {"quantiles": {"p05": "1 GB/s", "p50": "2 GB/s", "tolerance": "25%"}}
    spread = claim("x", relation=quantiles, seeds=3)
    assert measurements(spread) == [Measurement("x", "p50")]
    assert shown(spread, claim("y", seeds=3), claim("z", seeds=3, statistic="mean")) == [
        "x p50, y",
        "z",
    ]


def test_a_number_that_something_was_fitted_to_is_fitted_for_all_its_readers() -> None:
    fitted = claim("x", role="calibration", parameters=["lustre.osts"])
    other = claim("x.more", "read(b)", runs={"b": run(3)})
    free = claim("y", "write(b)")
    kinds = {str(one): one.kind for one in found(fitted, claim("z"), other, free)}
    assert kinds == {"x, z": Kind.FITTED, "x.more": Kind.OTHER, "y": Kind.PREDICTED}


def test_inputs_trends_and_bounds_have_no_number() -> None:
    taken = claim("x", role="input", parameters=["lustre.osts"])
    trend = claim("y", "write", relation={"rises": True})
    assert shown(taken, trend, claim("z", relation={"at_most": "1 GB/s"})) == []


def test_two_measurements_of_one_run_that_come_with_xc40io_are_one_number() -> None:
    claims = load_claims()
    numbers = distinct_numbers(claims, predictions(claims))
    by_reader = {reader.claim: number for number in numbers for reader in number.readers}
    for one, other in (("E24", "E32"), ("E26", "E34"), ("E28", "E44"), ("B17", "B26")):
        assert by_reader[one] is by_reader[other]
    readers = [reader for number in numbers for reader in number.readers]
    assert len(readers) == len(set(readers)) > len(numbers) > 60
