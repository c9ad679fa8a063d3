from __future__ import annotations

import math
from datetime import date
from pathlib import Path

import numpy as np
import pytest
from synthetic_model import Law, model, parameter, subject

from xc40io.config.errors import InputError
from xc40io.telling.text import text_of
from xc40io.validation.calibrate import Calibration, Options, calibrate
from xc40io.validation.calibration_answer import calibration_answer, new_values

COPY, COMMIT, PAGE, SPREAD = (
    "nodes.write_copy_rate",
    "lustre.journal_commit",
    "nodes.tree_page_time",
    "lustre.ost_spread",
)
LAWS: dict[str, Law] = {
    "B01": lambda of: 15.0 * of(COMMIT) ** -0.8,
    "B02": lambda of: 60.0 * of(COMMIT) ** -0.3 * of(COPY) ** 0.5,
    "B18": lambda of: 0.4 * of(PAGE) ** -0.9,
    "B20": lambda of: 2.0 * of(PAGE) ** -0.5 * of(COPY) ** 0.2,
}
TRUE = {COPY: 0.7, COMMIT: 1.6, PAGE: 0.8}


def measured(claim: str) -> float:
    """Return what the synthetic machine with the true factors would have shown."""
    return LAWS[claim](lambda path: TRUE.get(path, 1.0))


SUBJECTS = [subject(claim, measured(claim)) for claim in LAWS]


def factors(calibration: Calibration) -> dict[str, float]:
    return {fit.parameter.path: fit.after / fit.parameter.value for fit in calibration.fits}


def test_known_values_are_found() -> None:
    parameters = [parameter(path) for path in (COPY, COMMIT, PAGE)]
    found = calibrate(parameters, SUBJECTS, model(LAWS))
    assert factors(found) == pytest.approx(TRUE, rel=0.02)
    assert found.after == pytest.approx([measured(claim) for claim in LAWS], rel=0.02)
    assert {fit.parameter.path for fit in found.fitted} == set(TRUE)
    assert not any(fit.at_bound for fit in found.fits)


def test_noise_and_pieces_move_them_only_a_little() -> None:
    parameters = [parameter(path) for path in (COPY, COMMIT, PAGE)]
    found = calibrate(parameters, SUBJECTS, model(LAWS, noise=0.01, pieces=0.02))
    assert factors(found) == pytest.approx(TRUE, rel=0.15)
    assert found.seeds == 3


def test_a_parameter_stops_at_its_bound() -> None:
    parameters = [parameter(COPY), parameter(COMMIT, upper=1.3), parameter(PAGE)]
    found = calibrate(parameters, SUBJECTS, model(LAWS))
    commit = found.fits[1]
    assert commit.after == pytest.approx(1.3 * commit.parameter.value, rel=0.01)
    assert commit.after <= commit.parameter.upper
    assert commit.at_bound == "upper"
    assert "at its upper bound" in text_of(calibration_answer(found))


def test_what_no_claim_sees_or_one_row_alone_is_left() -> None:
    laws = LAWS | {"B08": lambda of: 3.0 * of("lustre.ost_jitter")}
    laws |= {"B08.raw": lambda of: 2.0 * of("lustre.ost_jitter")}
    subjects = [*SUBJECTS, subject("B08", 4.0), subject("B08.raw", 3.0)]
    parameters = [parameter(path) for path in (COPY, COMMIT, PAGE, SPREAD, "lustre.ost_jitter")]
    found = calibrate(parameters, subjects, model(laws))
    *_, spread, jitter = found.fits
    assert spread.left == "no claim sees it"
    assert spread.after == spread.parameter.value
    assert jitter.left == "only B08 sees it"
    assert factors(found)[COMMIT] == pytest.approx(TRUE[COMMIT], rel=0.02)
    asked = calibrate(parameters, subjects, model(laws), Options(lone_too=True))
    assert asked.fits[-1].left == ""
    assert asked.fits[-1].after != jitter.parameter.value


def test_the_spread_grows_with_what_the_claims_leave_open() -> None:
    def spread(elasticity: float) -> float:
        laws = dict.fromkeys(("B01", "B02"), lambda of: of(COPY) ** elasticity)
        subjects = [subject(name, 1.1) for name in laws]
        return calibrate([parameter(COPY)], subjects, model(laws)).fits[0].spread

    assert spread(1.0) == pytest.approx(0.2 / math.sqrt(2), rel=0.05)
    assert spread(0.25) > 3 * spread(1.0)


def test_a_spent_budget_ends_it_with_the_best_so_far() -> None:
    parameters = [parameter(path) for path in (COPY, COMMIT, PAGE)]
    found = calibrate(parameters, SUBJECTS, model(LAWS), Options(seeds=1, budget=40))
    assert "budget of 40 runs" in found.ended
    assert found.runs <= 40 + len(SUBJECTS)
    right = np.log([measured(claim) for claim in LAWS])
    off, was = (np.abs(np.log(numbers) - right).sum() for numbers in (found.after, found.before))
    assert off < was


def test_a_budget_too_small_to_begin_with_is_refused() -> None:
    with pytest.raises(InputError, match="takes 84; right would be some times that"):
        calibrate(
            [parameter(path) for path in (COPY, COMMIT, PAGE)],
            SUBJECTS,
            model(LAWS),
            Options(budget=50),
        )


def test_claims_without_a_measured_number_are_refused() -> None:
    with pytest.raises(InputError, match="claim B04 has no measured value"):
        calibrate([parameter(COPY)], [subject("B04", None)], model({"B04": lambda _: 1.0}))
    with pytest.raises(InputError, match="claim B01 reads 0"):
        calibrate([parameter(COPY)], [subject("B01", 1.0)], model({"B01": lambda _: 0.0}))
    with pytest.raises(InputError, match="there are no claims"):
        calibrate([parameter(COPY)], [], model({}))


def test_nothing_changes_where_everything_fits_already() -> None:
    subjects = [subject(claim, law(lambda _: 1.0)) for claim, law in LAWS.items()]
    found = calibrate([parameter(COPY), parameter(COMMIT)], subjects, model(LAWS))
    assert found.fitted == ()
    assert new_values(found, date(2026, 1, 31)) == {}


def test_the_new_values_say_where_they_come_from() -> None:
    found = calibrate([parameter(COMMIT), parameter(COPY)], SUBJECTS, model(LAWS))
    values = new_values(found, date(2026, 1, 31))[Path("theta.yaml")]
    commit = values[COMMIT]
    assert commit.firm == "calibrated"
    assert commit.source.startswith("fitted to B01 and B02 on 2026-01-31, within ")
    assert commit.source.endswith("a synthetic bound")
    assert commit.value.endswith(" ms")
    assert len(commit.value.split()[0].replace(".", "")) <= 3


def test_the_table_shows_parameters_and_claims() -> None:
    found = calibrate([parameter(path) for path in (COPY, COMMIT, PAGE)], SUBJECTS, model(LAWS))
    lines = [line.split() for line in text_of(calibration_answer(found)).splitlines() if line]
    assert [line[0] for line in lines[:4]] == ["parameter", COPY, COMMIT, PAGE]
    ratios = {line[0]: (line[3], line[5]) for line in lines if line[0] in LAWS}
    assert ratios["B01"] == ("1.46", "1.00")
