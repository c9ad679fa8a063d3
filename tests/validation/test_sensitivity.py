from __future__ import annotations

import csv
import io
import math

import numpy as np
import pytest
from synthetic_model import Law, model, parameter, subject

from xc40io.telling.data import csv_text
from xc40io.telling.text import text_of
from xc40io.validation.sensitivity import Sensitivity, measure_sensitivity
from xc40io.validation.sensitivity_answer import sensitivity_answer
from xc40io.validation.trial import Reading, Subject, Trials

COPY, COMMIT, SPREAD = "nodes.write_copy_rate", "lustre.journal_commit", "lustre.ost_spread"
LAWS: dict[str, Law] = {
    "B01": lambda of: 15.0 * of(COPY) ** 0.02 * of(COMMIT) ** -0.8,
    "B02": lambda of: 60.0 * of(COPY) ** 0.5,
}


def measure(
    laws: dict[str, Law], *, fitted: tuple[str, ...] = (), seeds: int = 1, noise: float = 0.0
) -> Sensitivity:
    subjects = [subject(name, 1.0, fitted=fitted) for name in laws]
    trials = Trials(subjects, model(laws, noise), seeds=seeds)
    return measure_sensitivity(trials, [parameter(path) for path in (COPY, COMMIT, SPREAD)])


def csv_of(found: Sensitivity) -> str:
    table = sensitivity_answer(found).table
    assert table is not None
    return csv_text(table)


def test_powers_are_found_exactly() -> None:
    expected = [[0.02, -0.8, 0.0], [0.5, 0.0, 0.0]]
    assert measure(LAWS).elasticity == pytest.approx(np.array(expected), abs=1e-4)


def test_slopes_of_a_sum_are_close_to_the_derivative() -> None:
    found = measure({"B01": lambda of: of(COPY) + 3.0, "B02": lambda of: 1 + 2 / of(COMMIT)})
    assert found.elasticity[0, 0] == pytest.approx(1 / 4, rel=0.01)
    assert found.elasticity[1, 1] == pytest.approx(-2 / 3, rel=0.01)


def test_claims_see_only_what_moves_them() -> None:
    found = measure(LAWS)
    copy, commit, spread = found.parameters
    assert found.seen_by(copy) == ("B02",)
    assert found.seen_by(commit) == ("B01",)
    assert found.seen_by(spread) == ()
    assert found.lone == {copy: "B02", commit: "B01"}


def test_claims_of_one_row_are_one_measurement() -> None:
    laws = {"B02": LAWS["B02"], "B02.ratio": LAWS["B02"]}
    found = measure(laws)
    assert found.seen_by(found.parameters[0]) == ("B02", "B02.ratio")
    assert found.lone == {found.parameters[0]: "B02"}


def test_a_parameter_of_one_claim_alone_is_reported() -> None:
    text = text_of(sensitivity_answer(measure(LAWS, fitted=(COMMIT,))))
    assert f"B01 was fitted through {COMMIT} (theta), which no other row sees." in text
    assert f"Seen by no claim, not to be fitted to them: {SPREAD} (theta)." in text
    assert f"B02 does not see {COMMIT} (theta), which is said to be fitted to it." in text
    both = LAWS | {"B17": lambda of: 10 * of(COMMIT) ** -0.3}
    text = text_of(sensitivity_answer(measure(both, fitted=(COMMIT,))))
    assert "No claim was fitted through a parameter that only its row sees." in text


def test_noise_is_not_taken_for_a_dependence() -> None:
    found = measure(LAWS, seeds=4, noise=0.02)
    assert found.error.min() > 0
    assert found.seen_by(found.parameters[2]) == ()
    assert found.elasticity[0, 1] == pytest.approx(-0.8, abs=5 * found.error[0, 1])


def test_steps_end_at_the_bounds() -> None:
    near = parameter(COPY, upper=1.001)
    asked: list[float] = []

    def law(of: object) -> float:
        asked.append(of(COPY))  # type: ignore[operator]
        return asked[-1]

    trials = Trials([subject("B01", 1.0)], model({"B01": law}))
    found = measure_sensitivity(trials, [near])
    assert max(asked) == pytest.approx(1.001, rel=1e-5)
    assert found.elasticity[0, 0] == pytest.approx(1.0, rel=1e-3)


def test_a_claim_on_another_machine_has_no_elasticity() -> None:
    elsewhere = Subject("D01", frozenset({"cori"}), frozenset({"x"}), (Reading("D01"),))
    trials = Trials([elsewhere], lambda requests: [{"": 1.0} for _ in requests])
    found = measure_sensitivity(trials, [parameter(COPY)])
    assert math.isnan(found.elasticity[0, 0])
    assert trials.runs == 1  # the change of Theta is none of its business
    assert csv_of(found).count("\n") == 1


def test_the_table_has_a_row_for_each_claim() -> None:
    lines = text_of(sensitivity_answer(measure(LAWS))).splitlines()
    rows = {line.split()[0]: line.split()[1:] for line in lines if line.startswith("B0")}
    assert rows["B01"] == [".", "-0.80", "."]
    assert rows["B02"] == ["+0.50", ".", "."]


def test_beside_a_parameter_stands_who_sees_it() -> None:
    laws = {f"B0{n}": lambda of, n=n: of(COPY) ** (0.1 * n) for n in range(1, 8)}
    line = text_of(sensitivity_answer(measure(laws))).splitlines()[6]
    seen = "7 rows  B07 +0.70, B06 +0.60, B05 +0.50, B04 +0.40, B03 +0.30, ..."
    assert line.endswith(seen)


def test_a_claim_with_several_runs_shows_the_largest() -> None:
    readings = (Reading("B04", "1"), Reading("B04", "8"))
    several = Subject("B04", frozenset({"theta"}), frozenset({"a", "b"}), readings)
    single = model({"B04": lambda of: of(COPY) ** 0.5})
    trials = Trials(
        [several], lambda requests: [{"1": 1.0, "8": read[""]} for read in single(requests)]
    )
    text = text_of(sensitivity_answer(measure_sensitivity(trials, [parameter(COPY)])))
    row = next(line for line in text.splitlines() if line.startswith("B04"))
    assert row.split() == ["B04", "+0.50"]


def test_the_csv_has_every_number() -> None:
    rows = list(csv.DictReader(io.StringIO(csv_of(measure(LAWS)))))
    assert len(rows) == 6
    assert rows[0]["claim"] == "B01"
    assert rows[0]["machines"] == "theta"
    assert [row["seen"] for row in rows] == ["0", "1", "0", "1", "0", "0"]
    assert float(rows[1]["elasticity"]) == pytest.approx(-0.8, abs=1e-3)
