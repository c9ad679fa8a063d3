"""Which numbers are near something that was fitted, and what they are of."""

from __future__ import annotations

from typing import Any

import pytest
from run_records import SCENARIO
from scored_claims import by_id, claim

from xc40io.config.scenario import Scenario
from xc40io.validation.claim import Claim, load_claims
from xc40io.validation.fold import study_of
from xc40io.validation.half import Half, near_claims, place_of, what_of
from xc40io.validation.prediction import predictions

FITTED = {"role": "calibration", "parameters": ["lustre.osts"]}


def near(*claims: Claim) -> frozenset[str]:
    known = by_id(*claims)
    return near_claims(known, predictions(known))


def of(workload: dict[str, Any], metric: str, measured: str = "1 GB/s", **more: Any) -> Claim:
    run = Scenario.model_validate(SCENARIO | {"workload": workload} | more)
    relation = {"value": measured, "tolerance": "25%"}
    return claim("x", runs={"a": run}, metric=metric, relation=relation)


def test_what_is_near_has_something_fitted_of_its_study_machine_and_kind() -> None:
    fitted = claim("x", **FITTED)
    sibling = claim("y", 2)
    assert near(fitted, sibling) == {"x", "y"}
    assert near(sibling) == frozenset()


@pytest.mark.parametrize(
    "other",
    [
        {"source": "another test"},
        {"metric": "read(a)"},
        {"runs": {"a": Scenario.model_validate(SCENARIO | {"nodes": 2, "machine": "cori-knl"})}},
    ],
    ids=["study", "kind", "machine"],
)
def test_what_differs_in_one_of_the_three_is_far(other: dict[str, Any]) -> None:
    found = near(claim("x", **FITTED), claim("y", **({"nodes": 2} | other)))
    assert found == {"x"}


def test_a_check_whose_run_was_fitted_makes_its_like_near_too() -> None:
    """What a value knows in whatever way is fitted, not only what says so."""
    fitted, again, sibling = claim("x", **FITTED), claim("y", source="b"), claim("z", 2, source="b")
    assert near(fitted, again, sibling) == {"x", "y", "z"}


@pytest.mark.parametrize(
    ("workload", "metric", "measured", "kind"),
    [
        ({"ior": "-w -b 1m -t 1m"}, "write(a)", "1 GB/s", "write"),
        ({"ior": "-w -r -b 1m -t 1m"}, "moved(a) / 2 / time(a, read)", "1 GB/s", "read"),
        ({"ior": "-w -r -b 1m -t 1m"}, "write(a) / read(a)", "2", "ratio"),
        ({"ior": "-w -b 1m -t 1m"}, "open(a)", "1 s", "metadata"),
        ({"mdtest": "-n 2 -F -C -T"}, "operations(a, file stat)", "10 op/s", "metadata"),
        ({"kernel": {"name": "p2p"}}, "phase(a, one-way)", "1 GB/s", "messages"),
    ],
)
def test_what_a_number_is_of(
    workload: dict[str, Any], metric: str, measured: str, kind: str
) -> None:
    assert what_of(of(workload, metric, measured, nodes=2)) == kind


def test_a_row_that_is_as_another_is_of_its_study() -> None:
    claims = load_claims()
    assert study_of(claims["K28"]) == study_of(claims["K27"])


def test_what_was_held_back_is_far_and_what_was_fitted_is_near() -> None:
    claims = load_claims()
    found = near_claims(claims, predictions(claims))
    fitted = {name for name, one in claims.items() if one.role == "calibration" and one.metric}
    assert fitted <= found
    shipped = {one.row: place_of(one, found) for one in claims.values() if one.row.startswith("M")}
    assert len(shipped) == 72
    near = {row for row, place in shipped.items() if place.half is Half.NEAR}
    # Values of Cori's file come from two runs of the demonstration of caches, and no others.
    assert near == {f"M{number}" for number in range(15, 27)}
