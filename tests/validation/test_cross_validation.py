"""Cross-validation: numbers predicted without those around them, in a model of straight lines."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

import pytest
from run_records import claim
from synthetic_model import parameter

from xc40io.telling.text import text_of
from xc40io.validation.claim import Claim, load_claims
from xc40io.validation.cross_answer import by_group, cross_answer, tally
from xc40io.validation.cross_validation import CrossValidation, kept_cross_validation
from xc40io.validation.fold import By, fitted_through, series_of, study_of
from xc40io.validation.free_parameter import load_whole_parameters
from xc40io.validation.kept import Number, Result
from xc40io.validation.kept_cross import (
    KeptCross,
    SimulatedChange,
    TriedChange,
    keep_cross,
    load_cross,
    run_key,
    set_up,
)
from xc40io.validation.refit import PULL

COPY = parameter("nodes.write_copy_rate")
SPREAD = parameter("lustre.ost_spread", lower=0.5, upper=1.2)
PARAMETERS = {one.name: one for one in (COPY, SPREAD)}
TOLERANCE = 0.25


def measured(name: str, source: str, *fitted: str, **fields: object) -> Claim:
    """A claim of its own row, in a series of its own of a study."""
    role = {"role": "calibration", "parameters": fitted} if fitted else {"role": "check"}
    said = {"id": name, "text": name, "source": source, "group": "made up", **role, **fields}
    return claim("a", {"value": "1 GB/s", "tolerance": f"{TOLERANCE:.0%}"}, **said)


def crossing(
    claims: list[Claim],
    ratios: Mapping[str, float],
    slopes: Mapping[str, Mapping[str, float]],
    runs: Mapping[str, SimulatedChange] | None = None,
    by: By = "series",
) -> CrossValidation:
    known = {one.id: one for one in claims}
    results = {
        name: Result("pass", "", (Number(ratio, True),), "", "code")
        for name, ratio in ratios.items()
    }
    tried = {
        name: TriedChange(
            set_up(known[name]), "code", {one: (slope,) for one, slope in some.items()}
        )
        for name, some in slopes.items()
    }
    return CrossValidation(known, results, PARAMETERS, KeptCross(tried, dict(runs or {})), by=by)


CLAIMS = [
    measured("X1", "one/study: figure 1", COPY.path),
    measured("X2", "one/study: figure 2", COPY.path),
    measured("Y1", "other/study", COPY.path),
    measured("Y2", "other/study"),
    measured("Z1", "third/study", SPREAD.path),
]
RATIOS = {"X1": 0.9, "X2": 1.3, "Y1": 1.1, "Y2": 1.2, "Z1": 0.8}
SLOPES = {
    name: {COPY.name: slope, SPREAD.name: 0.0}
    for name, slope in {"X1": 1.0, "X2": 0.5, "Y1": -0.8, "Y2": 0.4}.items()
} | {"Z1": {COPY.name: 0.0, SPREAD.name: 0.7}}


def closed_form(left: set[str]) -> float:
    """Return where the copy rate is without some rows."""
    rows = [name for name in ("X1", "X2", "Y1") if name not in left]
    weight = 1.0 / TOLERANCE**2
    pull = 2.0 * PULL / math.log(COPY.upper / COPY.lower)
    slopes = {name: SLOPES[name][COPY.name] for name in rows}
    above = -sum(weight * slope * math.log(RATIOS[name]) for name, slope in slopes.items())
    return above / (sum(weight * slope**2 for slope in slopes.values()) + pull**2)


@pytest.mark.parametrize(
    ("by", "left"),
    [
        ("series", {"X1": {"X1"}, "X2": {"X2"}, "Y1": {"Y1"}, "Y2": {"Y1"}}),
        ("study", {"X1": {"X1", "X2"}, "X2": {"X1", "X2"}, "Y1": {"Y1"}, "Y2": {"Y1"}}),
    ],
)
def test_leaving_out_is_the_closed_form(by: By, left: dict[str, set[str]]) -> None:
    crossed = crossing(CLAIMS, RATIOS, SLOPES, by=by)
    found = {number.claim: number for number in crossed.numbers}
    for name, rows in left.items():
        moved = closed_form(rows) * SLOPES[name][COPY.name]
        assert found[name].fitted == pytest.approx(math.log(RATIOS[name]))
        assert found[name].crossed == pytest.approx(math.log(RATIOS[name]) + moved), name
        assert found[name].how == "by elasticities"


def test_a_parameter_without_a_row_falls_to_the_middle_and_says_so() -> None:
    crossed = crossing(CLAIMS, RATIOS, SLOPES)
    out = crossed.left_out[series_of(CLAIMS[4])]
    middle = math.log(math.sqrt(0.5 * 1.2))
    assert out.moved == {SPREAD.name: pytest.approx(middle)}
    assert out.ignorant == {SPREAD.name: ()}
    (last,) = (number for number in crossed.numbers if number.claim == "Z1")
    assert last.crossed == pytest.approx(math.log(0.8) + 0.7 * middle)
    assert crossed.lone == {SPREAD.name: "Z1"}
    text = text_of(cross_answer(crossed, {}))
    assert "only Z1" in text
    assert "the middle: no row is left" in text


def test_what_is_not_tried_is_said_and_changes_nothing() -> None:
    slopes = {name: by for name, by in SLOPES.items() if name != "Y2"}
    crossed = crossing(CLAIMS, RATIOS, slopes)
    assert crossed.untried == {"Y2": (COPY.name,)}
    (number,) = (number for number in crossed.numbers if number.claim == "Y2")
    assert number.crossed == number.fitted
    assert number.how == "as it was, for want of elasticities"
    assert crossed.sees_a_move(crossed.claims["Y2"]), "it may"
    fitted = crossing(CLAIMS, RATIOS, {n: by for n, by in SLOPES.items() if n != "X2"}, by="study")
    lost = fitted.left_out["other/study"].ignorant
    assert lost == {}, "X1 is left"
    fitted = crossing(CLAIMS, RATIOS, {"X1": SLOPES["X1"]})
    assert fitted.left_out[series_of(CLAIMS[0])].ignorant == {COPY.name: ("X2", "Y1")}
    assert "the middle: not tried are X2, Y1" in text_of(cross_answer(fitted, {}))
    assert "1 elasticities of 1 claim" in text_of(cross_answer(crossed, {}))


def test_a_run_takes_the_place_of_elasticities_while_it_is_of_these_values() -> None:
    crossed = crossing(CLAIMS, RATIOS, SLOPES)
    one = crossed.claims["Y2"]
    run = SimulatedChange(set_up(one), "code", crossed.changes(one), (1.5,))

    def found(run: SimulatedChange) -> tuple[str, float]:
        again = crossing(CLAIMS, RATIOS, SLOPES, {run_key(one, "series"): run})
        (number,) = (number for number in again.numbers if number.claim == "Y2")
        return number.how, number.crossed

    assert found(run) == ("by a run", pytest.approx(math.log(1.2 * 1.5)))
    assert found(run._replace(digest="put otherwise"))[0] == "by elasticities"
    assert found(run._replace(changes={}))[0] == "by elasticities"


def test_inputs_fix_and_are_not_predicted() -> None:
    claims = [*CLAIMS[:4], CLAIMS[4].model_copy(update={"role": "input"})]
    crossed = crossing(claims, RATIOS, SLOPES)
    assert crossed.fixing[SPREAD.name] == ("Z1",)
    assert "Z1" not in {number.claim for number in crossed.numbers}


def test_several_measurements_of_one_number_count_once() -> None:
    crossed = crossing(CLAIMS, RATIOS, SLOPES)
    (fitted, _) = by_group(crossed)["all"]
    assert fitted.numbers == 1, "all claims here read the same off the same run"
    mean = sum(map(math.log, RATIOS.values())) / len(RATIOS)
    assert fitted.median == pytest.approx(abs(mean))
    assert tally([("a", 5.0), ("b", -0.1)]).mean == pytest.approx((math.log(4) + 0.1) / 2)


def test_what_is_kept_reads_back(tmp_path: Path) -> None:
    kept = KeptCross(
        {"B01": TriedChange("digest", "code", {COPY.name: (0.5, -0.25)})},
        {
            "B01 without its study": SimulatedChange(
                "digest", "code", {"theta": {COPY.path: 1e8}}, (1.1,)
            )
        },
    )
    file = tmp_path / "cross.json"
    assert load_cross(file) == KeptCross({}, {})
    keep_cross(kept, file)
    assert load_cross(file) == kept
    assert file.read_text().count("\n") == 4, "a line for each claim"


def test_a_new_role_leaves_elasticities_as_they_are() -> None:
    one = CLAIMS[4]
    assert set_up(one) == set_up(one.model_copy(update={"role": "input"}))
    assert set_up(one) != set_up(one.model_copy(update={"seeds": 2}))


def test_series_and_studies_of_published_rows() -> None:
    claims = load_claims()
    assert study_of(claims["G08"]) == study_of(claims["G22"]) == "NERSC/heterogeneous-IO"
    assert series_of(claims["G08"]) == series_of(claims["G19"]) != series_of(claims["G22"])
    assert study_of(claims["B01"]) == "ExaHDF5 slides"
    assert study_of(claims["A18"]) == "argonne-lcf/user-guides"
    assert study_of(claims["B18"]) == study_of(claims["B17"]) == "hpc-io/vol-cache"


def test_every_free_parameter_that_a_calibration_names_is_crossed() -> None:
    crossed = kept_cross_validation()
    named = {
        path
        for one in crossed.claims.values()
        if one.role == "calibration"
        for path in one.parameters
    }
    free = {one.path for one in crossed.parameters.values()}
    whole = {one.path for one in load_whole_parameters()}
    assert named <= free | whole
    assert fitted_through(crossed.claims, crossed.parameters).keys() <= crossed.parameters.keys()
    bounds = crossed.parameters
    for out in crossed.left_out.values():
        for name, log in out.moved.items():
            value = bounds[name].value * math.exp(log)
            assert bounds[name].lower * 0.999 <= value <= bounds[name].upper * 1.001
