"""Which checks are predictions: no number of theirs has been seen."""

from __future__ import annotations

from typing import Any

import pytest
from run_records import SCENARIO

from xc40io.config.scenario import Scenario
from xc40io.validation.claim import Claim, load_claims
from xc40io.validation.prediction import doubts, predictions, shared_readings
from xc40io.validation.relation import Relation


def scenario(**fields: Any) -> Scenario:
    return Scenario.model_validate(SCENARIO | fields)


def claim(name: str, role: str = "check", metric: str = "write(a)", **fields: Any) -> Claim:
    said = {
        "id": name,
        "role": role,
        "runs": {"a": scenario()},
        "metric": metric,
        "relation": {"value": "1 GB/s", "tolerance": "25%"},
        "parameters": [] if role == "check" else ["lustre.osts"],
    }
    return Claim.model_validate(said | fields)


def by_id(*claims: Claim) -> dict[str, Claim]:
    return {one.id: one for one in claims}


FITTED = claim("B08", "calibration", runs={"a": scenario(nodes=2)})


def test_a_check_that_shares_nothing_is_a_prediction() -> None:
    claims = by_id(FITTED, claim("B04"))
    assert predictions(claims) == {"B04"}
    assert doubts(claims["B04"], claims) == []


@pytest.mark.parametrize(
    ("check", "why"),
    [
        (claim("B08.raw"), "B08 is of the same row"),
        (claim("B04", metric="read(a)", runs={"a": scenario(nodes=2)}), "shares a run with B08"),
        (claim("A35"), "theta: ssd.write_rate names it as a source"),
    ],
)
def test_a_check_whose_number_was_seen_is_none(check: Claim, why: str) -> None:
    claims = by_id(FITTED, check)
    assert predictions(claims) == frozenset()
    assert doubts(check, claims) == [why]


def files(nodes: int, metric: str = "write(a)", words: str = "-w -F -b 1m -t 1m") -> Claim:
    runs = {"a": scenario(nodes=nodes, workload={"ior": words})}
    return claim("B04", runs=runs, metric=metric)


@pytest.mark.parametrize(
    ("check", "predicted"),
    [
        (files(2), False),
        (files(2, words="-w -F -b 1m -t 1m -e"), True),
        (files(2, metric="read(a)"), True),
    ],
)
def test_files_of_their_own_on_more_nodes_are_the_same_rate_again(
    check: Claim, predicted: bool
) -> None:
    fitted = files(1).model_copy(
        update={"id": "B08", "role": "calibration", "parameters": ("lustre.osts",)}
    )
    claims = by_id(fitted, check)
    assert (predictions(claims) == {"B04"}) == predicted
    why = [] if predicted else ["is B08 with another number of nodes"]
    assert doubts(check, claims) == why


def test_a_shared_file_on_more_nodes_is_another_thing() -> None:
    shared = "-w -b 1m -t 1m"
    fitted = files(1, words=shared).model_copy(
        update={"id": "B08", "role": "calibration", "parameters": ("lustre.osts",)}
    )
    assert predictions(by_id(fitted, files(2, words=shared))) == {"B04"}


def cori(value: str) -> Claim:
    relation = {"value": value, "tolerance": "25%"}
    runs = {"a": scenario(machine="cori-haswell")}
    return claim("B04", runs=runs, relation=relation)


def test_a_number_in_the_words_of_a_source_was_seen() -> None:
    """The acceptance test of Cori wrote 752 GB/s and read 678, say the rates of its OSTs."""
    written = cori("716886 MiB/s")
    assert doubts(written, by_id(written)) == [
        "cori-haswell: lustre.fullness_loss says 752 GB/s in its source",
        "cori-haswell: lustre.ost_write_rate says 752 GB/s in its source",
    ]
    assert predictions(by_id(cori("646835 MiB/s"))) == frozenset()
    for near_miss in ("717800 MiB/s", "716000 MiB/s"):  # 752.7 and 750.8 GB/s
        assert predictions(by_id(cori(near_miss))) == {"B04"}, near_miss


def test_few_digits_are_alike_by_chance() -> None:
    """cori-haswell has 3 GB/s, 10 GB/s and 5.8 GB/s in words, which are of other things."""
    for value in ("3 GB/s", "10 GB/s", "5.8 GB/s"):
        assert predictions(by_id(cori(value))) == {"B04"}, value


def test_a_bound_is_no_number_of_a_claim() -> None:
    bound = cori("1 GB/s").model_copy(update={"relation": Relation(at_most="752 GB/s")})
    assert doubts(bound, by_id(bound)) == []


def test_the_checks_whose_numbers_stand_in_words_are_these() -> None:
    claims = load_claims()
    found = {one.id for one in claims.values() if any(" says " in why for why in doubts(one, {}))}
    assert found & {one.id for one in claims.values() if one.role == "check"} == {
        "A25.fetched",
        "A25.written",
        "B14.read",
        "D01",
        "D02",
    }


def test_a_run_that_the_metric_does_not_look_at_is_not_shared() -> None:
    runs = {"a": scenario(), "b": scenario(nodes=2)}
    assert predictions(by_id(FITTED, claim("B04", runs=runs))) == {"B04"}


def test_who_reads_what_was_fitted_shares_the_reading() -> None:
    runs = {"a": scenario(nodes=2), "b": scenario()}
    ratio = claim(
        "B04", metric="write(a) / write(b)", runs=runs, relation={"ratio": 1, "tolerance": "1%"}
    )
    assert shared_readings(by_id(FITTED, ratio)) == {}
    second = claim("B09", "input")
    assert shared_readings(by_id(FITTED, second, ratio)) == {"B04": ("B08", "B09")}


def test_no_check_that_comes_with_xc40io_reads_what_was_fitted() -> None:
    assert shared_readings(load_claims()) == {}


def test_no_check_is_named_as_the_source_of_what_its_machine_has_for_it() -> None:
    """Who takes a value from a number says so in the machine file; the number then is an input."""
    claims = load_claims()
    numbers = [one for one in claims.values() if one.role == "check" and one.relation.has_values]
    assert len(numbers) > 30
    found = {one.id: [why for why in doubts(one, {}) if "names it" in why] for one in numbers}
    assert {name: why for name, why in found.items() if why and name not in LOOKED_AT} == {}


LOOKED_AT = ("E41.days", "E40.days", "E42.days", "E42.elapsed")
"""Fitted were the medians of E40 to E42; these claims are about other numbers of the same runs."""
