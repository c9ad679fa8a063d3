"""What the simulator is known to get wrong is told, and not advised."""

from __future__ import annotations

import math

import pytest

from xc40io.config.scenario import Scenario
from xc40io.studies.advice.knobs import Who
from xc40io.studies.explain.explanation import Explanation, explain
from xc40io.studies.explain.explanation_answer import explanation_answer
from xc40io.telling.data import document_of
from xc40io.telling.text import text_of
from xc40io.trust.model_error import ChangeError, model_errors

KIND = "stripe-count, shared files, write"
ONE_STRIPE = Scenario.model_validate(
    {"machine": "theta", "nodes": 2, "ppn": 2, "workload": {"ior": "-w -e -b 8m -t 8m"}}
)


def off(times: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """More stripes are simulated so many times too fast."""
    wrong = ChangeError(upward=math.log(times), ratios=1, claims=("B08",))
    known = model_errors().model_copy(update={"changes": {KIND: wrong}})
    monkeypatch.setattr("xc40io.trust.doubts.model_errors", lambda: known)


@pytest.fixture(scope="module")
def explained() -> dict[float, Explanation]:
    found = {}
    for times in (1.2, 30.0):
        with pytest.MonkeyPatch.context() as patched:
            off(times, patched)
            found[times] = explain(ONE_STRIPE, jobs=1)
    return found


def test_a_gain_above_the_error_of_its_kind_is_advised(explained) -> None:
    (phase,) = explained[1.2].phases
    best = next(one for one in phase.changed if one.kind is Who.SETTINGS)
    assert best.helps
    assert best.gain > 1.2
    assert "stripe-count" in best.change.turned
    assert not best.doubted
    assert best.words in text_of(explanation_answer(explained[1.2]))


def test_a_gain_below_the_error_of_its_kind_is_not_advised_and_says_why(explained) -> None:
    (phase,) = explained[30.0].phases
    doubted = [one for one in phase.changed if one.doubt is not None]
    assert any(one.gain > 1.5 for one in doubted)
    assert not any(one.helps for one in doubted)
    assert all("stripe-count" in one.change.turned for one in doubted)
    answer = explanation_answer(explained[30.0], why=True)
    reason = "for changes of this kind the simulator was off by 30 (B08): not advised"
    assert reason in " ".join(text_of(answer).split())
    rows = document_of(answer)["phases"][0]["with"]
    assert {row["doubt"] for row in rows} == {"", reason}
