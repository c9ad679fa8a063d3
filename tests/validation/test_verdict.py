"""Verdicts: what must hold of the metric of a claim."""

from __future__ import annotations

import math

import pytest
from run_records import claim, record

from xc40io.config.errors import InputError
from xc40io.studies.processes import Failure
from xc40io.validation.claim import Claim
from xc40io.validation.verdict import Outcome, Verdict, judge


def judged(relation, rates, **fields) -> Outcome:
    """Judge a claim whose runs a, b, c ... write at these rates, in GB/s."""
    names = "abcdefghijkl"[: len(rates)]
    ended = {name: [record(rate * 1e9)] for name, rate in zip(names, rates, strict=True)}
    return judge(claim(names, relation, **fields), ended)


def holds(relation, rates, **fields) -> bool:
    return judged(relation, rates, **fields).verdict is Verdict.PASS


# --------------------------------------------------------------------------------- measured numbers


@pytest.mark.parametrize(("rate", "agrees"), [(60, True), (75, True), (75.1, False), (44, False)])
def test_a_value_agrees_within_the_tolerance(rate, agrees):
    outcome = judged({"value": "60 GB/s", "tolerance": "25%"}, [rate])
    assert (outcome.verdict is Verdict.PASS) == agrees
    (point,) = outcome.points
    assert point.ratio == pytest.approx(rate / 60)
    assert point.error == pytest.approx(abs(math.log(rate / 60)))
    assert bool(outcome.complaints) == (not agrees)


def test_a_tolerance_of_nothing_means_equal():
    assert holds({"value": "60 GB/s", "tolerance": "0%"}, [60])


def test_a_ratio_of_two_runs():
    relation = {"ratio": 4, "tolerance": "10%"}
    assert holds(relation, [41, 10], metric="write(a) / write(b)")
    assert not holds(relation, [46, 10], metric="write(a) / write(b)")


def test_several_values():
    relation = {"values": {"a": "10 GB/s", "b": "20 GB/s"}, "tolerance": "10%"}
    assert holds(relation, [10.5, 19])
    outcome = judged(relation, [10.5, 25])
    assert outcome.complaints == ("b: 25 GB/s simulated, 20 GB/s measured",)
    assert [point.holds for point in outcome.points] == [True, False]


def test_bounds_hold_for_every_run():
    relation = {"at_least": "10 GB/s", "at_most": "20 GB/s"}
    assert holds(relation, [10, 15, 20])
    outcome = judged(relation, [9, 15, 21])
    assert outcome.complaints == (
        "a: 9 GB/s is less than 10 GB/s",
        "c: 21 GB/s is more than 20 GB/s",
    )


# -------------------------------------------------------------------------------------------- seeds


def seeded(relation, rates, **fields) -> Outcome:
    """Judge a claim whose one run writes at these rates, one for each seed."""
    ended = {"a": [record(rate * 1e9) for rate in rates]}
    return judge(claim("a", relation, seeds=len(rates), **fields), ended)


@pytest.mark.parametrize(
    ("statistic", "number"), [("median", 3), ("mean", 4), ("largest", 10), ("smallest", 1)]
)
def test_seeds_become_one_number(statistic, number):
    outcome = seeded(
        {"value": f"{number} GB/s", "tolerance": "0%"}, [1, 2, 3, 4, 10], statistic=statistic
    )
    assert outcome.verdict is Verdict.PASS


def test_the_variation_over_the_seeds_has_no_unit():
    relation = {"at_least": "30%", "at_most": "35%"}
    assert seeded(relation, [8, 16], statistic="variation").verdict is Verdict.PASS
    assert seeded(relation, [8, 8], statistic="variation").verdict is Verdict.FAIL


def test_quantiles_over_the_seeds():
    relation = {
        "quantiles": {"p25": "2 GB/s", "p50": "3 GB/s", "largest": "6 GB/s", "tolerance": "10%"}
    }
    outcome = seeded(relation, [1, 2, 3, 4, 5])
    assert outcome.complaints == ("largest: 5 GB/s simulated, 6 GB/s measured",)
    assert [point.name for point in outcome.points if point.counts] == ["p50"]
    further = seeded(relation, [1, 2, 3, 4, 5], id="B02.days")
    assert not any(point.counts for point in further.points), "its median is that of B02"


def test_numbers_without_a_verdict_are_shown_and_count_nowhere():
    relation = {"value": "2 GB/s", "tolerance": "10%"}
    outcome = seeded(relation, [4], unjudged="another machine")
    (point,) = outcome.points
    assert outcome.verdict is Verdict.NONE
    assert point.ratio == 2
    assert not point.counts


# ------------------------------------------------------------------------------------------- trends

TRENDS = [
    ({"rises": True}, [1, 2, 3], [1, 3, 2.9]),
    ({"rises": True, "slack": "5%"}, [1, 3, 2.9, 4], [1, 3, 2.8, 4]),
    ({"rises": True, "slack": "5%"}, [1, 1.01], [1, 1]),
    ({"rises": True, "gain": "50%"}, [2, 3], [2, 2.9]),
    ({"falls": True}, [3, 2, 1], [3, 1, 2]),
    ({"falls": True, "gain": "50%"}, [4, 2], [4, 3]),
    ({"flat": "10%"}, [10, 10.9, 10.1], [10, 11.1, 10.1]),
    ({"plateau": {"after": "b", "within": "10%"}}, [1, 10, 10.9, 9.1], [1, 10, 12, 10]),
    ({"plateau": {"after": "b", "within": "10%"}}, [1, 10, 10, 10], [1, 10, 10, 8]),
    ({"rises": True, "plateau": {"after": "b"}}, [1, 10, 10, 10.5], [10, 10, 10, 10]),
    ({"peak": True}, [1, 3, 2], [1, 2, 3]),
    ({"peak": True}, [1, 3, 2], [3, 2, 1]),
    ({"peak": {"between": ["b", "c"]}}, [1, 2, 3, 2], [3, 2, 1, 2]),
]


@pytest.mark.parametrize(("relation", "good", "bad"), TRENDS, ids=str)
def test_trends(relation, good, bad):
    assert holds(relation, good)
    outcome = judged(relation, bad)
    assert outcome.verdict is Verdict.FAIL
    assert outcome.complaints


def test_a_trend_must_hold_in_each_series():
    series = {"one": ["a", "b"], "two": ["c", "d"]}
    assert holds({"rises": True}, [1, 2, 5, 6], series=series)
    outcome = judged({"rises": True}, [1, 2, 6, 5], series=series)
    assert all(complaint.startswith("two: ") for complaint in outcome.complaints)


def test_curves_that_cross():
    series = {"one": ["a", "b", "c", "d"], "two": ["e", "f", "g", "h"]}
    relation = {"crossover": {"between": ["b", "c"]}}
    assert holds(relation, [1, 2, 8, 9, 3, 3, 3, 3], series=series)
    assert holds(relation, [9, 8, 2, 1, 3, 3, 3, 3], series=series)
    assert not holds(relation, [1, 8, 8, 9, 3, 3, 3, 3], series=series)
    assert not holds(relation, [1, 2, 8, 1, 3, 3, 3, 3], series=series)
    nowhere = judged(relation, [1, 1, 1, 1, 3, 3, 3, 3], series=series)
    assert nowhere.complaints == ("one and two change places nowhere",)


def test_a_peak_that_moves_up():
    series = {"one": ["a", "b", "c"], "two": ["d", "e", "f"], "three": ["g", "h", "i"]}
    relation = {"peak": {"moves": "up"}}
    assert holds(relation, [3, 2, 1, 3, 2, 1, 1, 2, 3], series=series)
    assert not holds(relation, [3, 2, 1, 1, 2, 1, 3, 2, 1], series=series)
    assert not holds(relation, [3, 2, 1, 3, 2, 1, 3, 2, 1], series=series)


def test_a_peak_that_moves_up_may_be_wherever_the_largest_value_is_nearly_reached():
    series = {"one": ["a", "b", "c"], "two": ["d", "e", "f"], "three": ["g", "h", "i"]}
    values = [100, 50, 50, 97, 90, 100, 50, 100, 97]
    assert not holds({"peak": {"moves": "up"}}, values, series=series)
    assert holds({"peak": {"moves": "up"}, "slack": "5%"}, values, series=series)
    assert not holds({"peak": {"moves": "up"}, "slack": "2%"}, values, series=series)
    level = [100, 99, 98] * 3  # nothing says that it moves
    assert not holds({"peak": {"moves": "up"}, "slack": "5%"}, level, series=series)


# --------------------------------------------------------------------------------------- no verdict


def test_a_claim_that_is_not_judged_is_shown_all_the_same():
    outcome = judged(
        {"value": "60 GB/s", "tolerance": "1%"}, [30], unjudged="the page has two numbers"
    )
    assert outcome.verdict is Verdict.NONE
    assert outcome.without == "the page has two numbers"
    assert outcome.points[0].ratio == 0.5
    assert not outcome.points[0].counts


def test_a_claim_that_is_not_expressed_gives_its_reason():
    outcome = judge(Claim(id="C04", not_expressed="no burst buffer"), {})
    assert (outcome.verdict, outcome.without) == (Verdict.NONE, "no burst buffer")


def test_a_run_that_did_not_end_fails_its_claim():
    said = claim("ab", {"rises": True})
    outcome = judge(said, {"a": [record()], "b": [Failure("there is no such machine")]})
    assert outcome.verdict is Verdict.FAIL
    assert outcome.complaints == ("run b did not end: there is no such machine",)


def test_a_metric_that_the_run_does_not_have_is_a_mistake_of_the_claim():
    with pytest.raises(InputError, match="claim B02: the run has no phase 'read'"):
        judged({"value": "60 GB/s", "tolerance": "1%"}, [30], metric="read(a)")


def test_coarse_runs_and_seeds_are_named():
    coarse = claim("a", {"at_least": "1 GB/s"}, seeds=2)
    coarse = coarse.model_copy(
        update={"runs": {"a": coarse.runs["a"].model_copy(update={"rpcs_as_one": 8})}}
    )
    outcome = judge(coarse, {"a": [record(), record()]})
    assert outcome.remarks == ["8 bulk RPCs handled as one", "2 seeds, median"]


# ---------------------------------------------------------------------------- what is only a number


def parameter(path: str, relation: dict[str, object], machine: str = "theta") -> Outcome:
    said = {"id": "A27", "parameter": path, "machine": machine, "relation": relation}
    return judge(Claim.model_validate(said), {})


@pytest.mark.parametrize(
    ("path", "relation"),
    [
        ("lustre.capacity", {"value": "9.2 PB", "tolerance": "1%"}),
        ("lustre.osts * lustre.ost_write_rate", {"value": "172 GB/s", "tolerance": "1%"}),
        ("network.routers / network.groups", {"value": 96, "tolerance": "0%"}),
        ("lustre.version", {"equals": "2.7.2.26"}),
        ("lustre.lock_ahead", {"equals": False}),
        ("lustre.osts", {"equals": 56}),
        ("lustre.capacity", {"at_least": "9 PB", "at_most": "10 PB"}),
    ],
)
def test_a_row_that_is_a_parameter_is_compared_with_the_machine_file(path, relation):
    assert parameter(path, relation).verdict is Verdict.PASS


def test_a_parameter_that_is_another():
    assert parameter("lustre.version", {"equals": "2.5"}).complaints == (
        "lustre.version = 2.7.2.26",
    )
    assert parameter("lustre.osts", {"value": 248, "tolerance": "0%"}).verdict is Verdict.FAIL


def test_a_machine_that_there_is_not_fails_the_claim():
    outcome = parameter("lustre.osts", {"value": 1, "tolerance": "0%"}, machine="summit")
    assert outcome.verdict is Verdict.FAIL
    assert "'summit' is not one of the machines" in outcome.complaints[0]


@pytest.mark.parametrize(
    ("path", "relation", "words"),
    [
        ("lustre.ots", {"equals": 3}, "claim A27: lustre.ots: theta has no such value"),
        ("lustre.osts", {"value": "3 GB/s", "tolerance": "0%"}, "a number without a unit"),
        ("lustre.version", {"value": 3, "tolerance": "0%"}, "right would be equals"),
    ],
)
def test_a_parameter_that_is_no_such_thing(path, relation, words):
    with pytest.raises(InputError, match=words):
        parameter(path, relation)


def test_collectives_are_judged_by_nodes():
    said = {
        "id": "A19",
        "role": "check",
        "machine": "theta",
        "nodes": [4, 64],
        "metric": "mpi(bcast, 4 KiB)",
        "relation": {"rises": True, "at_most": "1 ms"},
    }
    outcome = judge(Claim.model_validate(said), {})
    assert outcome.verdict is Verdict.PASS
    assert list(outcome.numbers) == ["4", "64"]
