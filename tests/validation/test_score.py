"""The score: what counts, how much, and what is taken from another day."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st
from run_records import SCENARIO
from scored_claims import PREDICTED, by_id, claim, result

from xc40io.config.scenario import Scenario
from xc40io.studies.simulations import Simulations
from xc40io.telling.data import document_of
from xc40io.telling.text import text_of
from xc40io.validation import score as score_module
from xc40io.validation.claim import DIRECTIONS, Claim
from xc40io.validation.frozen import digest_of
from xc40io.validation.kept import Number, Result
from xc40io.validation.report import validate
from xc40io.validation.score import MOST, Tally, counting, is_put_alike, score, score_of
from xc40io.validation.score_answer import score_answer


def test_a_number_counts_once_with_the_mean_of_its_ratios() -> None:
    twice = [claim("x"), claim("y", measured="4 GB/s")]
    apart = claim("z", 2)
    results = {"x": result(twice[0], 2.0), "y": result(twice[1], 0.5), "z": result(apart, 1.5)}
    found = score(by_id(*twice, apart), PREDICTED, results)
    assert [one.ratio for one in found.scored] == pytest.approx([1.0, 1.5])
    assert found.total.numbers == 2
    assert found.total.mean == pytest.approx(math.log(1.5) / 2)


@pytest.mark.parametrize(("ratio", "error"), [(40.0, MOST), (0.01, MOST), (0.5, math.log(2))])
def test_a_number_counts_at_most_ln_4(ratio: float, error: float) -> None:
    one = claim("x")
    (found,) = score(by_id(one), PREDICTED, {"x": result(one, ratio)}).scored
    assert found.error == pytest.approx(error)


def test_a_run_that_does_not_end_counts_as_far_off() -> None:
    one = claim("x")
    (found,) = score(by_id(one), PREDICTED, {"x": result(one, verdict="fail")}).scored
    assert (found.ratio, found.error) == (0.0, MOST)


@given(st.lists(st.floats(0.01, 100.0), min_size=1))
def test_a_tally_lies_between_the_nearest_and_the_furthest(ratios: list[float]) -> None:
    errors = [abs(math.log(ratio)) for ratio in ratios]
    tally = Tally.of(errors)
    for middle in (tally.median, tally.mean):
        assert middle is not None
        assert min(*errors, MOST) - 1e-9 <= middle <= min(max(errors), MOST) + 1e-9
    assert tally.near <= tally.fair <= tally.numbers == len(ratios)


def test_groups_and_kinds_add_up_to_all() -> None:
    claims = [
        claim("x", group="reads"),
        claim("y", 2),
        claim("z", 3, role="calibration", parameters=["lustre.osts"]),
        claim("u", 4),
    ]
    results = {one.id: result(one, 1.1) for one in claims}
    found = score(by_id(*claims), PREDICTED, results)
    assert {name: tally.numbers for name, tally in found.groups.items()} == {
        "reads": 1,
        "writes": 3,
    }
    assert {name: tally.numbers for name, tally in found.kinds.items()} == {
        "fitted": 1,
        "predicted": 2,
        "other checks": 1,
    }
    assert found.total.near == 4


def test_halves_are_told_by_kind_and_by_study_each_counting_alike() -> None:
    claims = [
        claim("x", source="a paper"),
        claim("y", 2, source="a paper"),
        claim("z", 3, source="a log"),
        claim("u", 4, source="a table"),
    ]
    results = {
        one.id: result(one, ratio) for one, ratio in zip(claims, (1.0, 1.0, 2.0, 1.2), strict=True)
    }
    found = score(by_id(*claims), PREDICTED, results, near=("u",))
    near, far = found.halves.values()
    assert (near.total.numbers, far.total.numbers) == (1, 3)
    assert far.total.mean == pytest.approx(math.log(2) / 3)
    assert far.mean_of_studies == pytest.approx(math.log(2) / 2)
    assert {name: tally.numbers for name, tally in far.studies.items()} == {
        "a paper": 2,
        "a log": 1,
    }
    assert list(far.whats) == ["write"]
    lines = {line[:13].strip(): line.split() for line in text_of(score_answer(found)).splitlines()}
    assert lines["far, write"][2:5] == ["3", "0.000", "0.231"]
    halves = document_of(score_answer(found))["halves"]
    assert halves["far"]["mean_of_studies"] == pytest.approx(math.log(2) / 2)
    assert halves["near"]["what"]["write"]["numbers"] == 1


def test_kept_results_stand_in_for_claims_that_were_not_run() -> None:
    run, kept, changed, new = claim("x"), claim("y", 2), claim("z", 3), claim("u", 4)
    before = {
        "x": result(run, 3.0),
        "y": result(kept, 2.0),
        "z": result(changed, 1.0, digest="0123456789ab"),
    }
    found = score(by_id(run, kept, changed, new), PREDICTED, {"x": result(run, 1.0)}, before)
    assert [(str(one.number), one.ratio, one.kept) for one in found.scored] == [
        ("x", 1.0, False),
        ("y", 2.0, True),
    ]
    assert [str(number) for number in found.missing] == ["z", "u"]
    text = text_of(score_answer(found))
    assert "1 of 2 numbers kept from another day, not simulated now (--full simulates all): y." in (
        text
    )
    assert "Without a result, and not counted: z; u." in text


def test_the_role_changes_nothing_about_a_number() -> None:
    fitted = claim("x", role="calibration", parameters=["lustre.osts"])
    assert is_put_alike(claim("x"), digest_of(fitted))
    assert not is_put_alike(claim("x"), digest_of(claim("x", 2)))
    assert not is_put_alike(claim("x"), digest_of(claim("x", measured="2 GB/s")))


def test_names_of_points_count_more_than_their_order() -> None:
    values = {"values": {"1": "1 GB/s", "2": "2 GB/s"}, "tolerance": "25%"}
    runs = {name: Scenario.model_validate(SCENARIO | {"nodes": int(name)}) for name in "12"}
    one = claim("x", runs=runs, metric="write", relation=values)
    named = Result("pass", "", (Number(2.0, True, "2"), Number(1.5, True, "1")), digest_of(one), "")
    for given_result, ratios in ((named, [1.5, 2.0]), (result(one, 1.1, 1.2), [1.1, 1.2])):
        found = score(by_id(one), PREDICTED, {"x": given_result})
        assert [scored.ratio for scored in found.scored] == pytest.approx(ratios)


def test_only_what_counts_is_run() -> None:
    one = claim("x")
    trend = claim("y", relation={"at_least": "1 MB/s"})
    assert counting([one, trend, Claim(id="C04", not_expressed="no burst buffer")]) == [one]


def test_rules_of_guides_are_told_beside_the_numbers() -> None:
    held = claim("y", group=DIRECTIONS, relation={"at_least": "1 MB/s"})
    failing = claim("z", group=DIRECTIONS, relation={"at_least": "1 PB/s"})
    found = score_of(validate([claim("x"), held, failing], Simulations()))
    assert found.directions == {"y": True, "z": False}
    assert "Rules of users' guides: 1 of 2 hold; not z.\n" in text_of(score_answer(found))
    assert document_of(score_answer(found))["directions"] == {"y": True, "z": False}
    assert found.total.numbers == 1


def test_the_score_of_a_validation(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two measurements of one small run, and one that takes long and is kept."""
    long = claim("z", 2, full=True)
    kept: Mapping[str, Result] = {"z": result(long, 1.2), "x": result(claim("x"), 99.0)}
    monkeypatch.setattr(score_module, "load_kept", lambda: kept)
    found = score_of(validate([claim("x"), claim("y", measured="2 GB/s"), long], Simulations()))
    assert [(str(one.number), one.kept) for one in found.scored] == [("x, y", False), ("z", True)]
    fresh = found.scored[0].ratios.values()
    assert max(fresh) == pytest.approx(2 * min(fresh), rel=0.01)
    lines = text_of(score_answer(found, everything=True)).splitlines()
    assert any(line.startswith("all ") and line.split()[1] == "2" for line in lines)
    assert any(line.startswith("x, y") for line in lines)
    document = document_of(score_answer(found))
    assert document["total"]["numbers"] == 2
    assert document["numbers"][0]["measurements"] == ["x", "y"]
    assert "against" not in document
