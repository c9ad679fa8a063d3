"""What is only faster by what the simulator gets wrong is never what is to be pasted."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from xc40io import Scenario, tune
from xc40io.studies.tune.tune_answer import tuning_answer
from xc40io.studies.tune.tuning import Tuning
from xc40io.telling.data import document_of
from xc40io.telling.text import text_of
from xc40io.trust.model_error import ChangeError, model_errors

KIND = "stripe-count, shared files, write"
REASON = "for changes of this kind the simulator was off by 30 (B08): not advised"
JOB = Scenario.model_validate(
    {"machine": "theta", "nodes": 2, "ppn": 4, "workload": {"ior": "-w -e -b 4m -t 4m"}}
)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("runs")


def tuned(off: float, store: Path, monkeypatch: pytest.MonkeyPatch) -> Tuning:
    """Tune where more stripes are simulated so many times too fast."""
    wrong = ChangeError(upward=math.log(off), ratios=1, claims=("B08",))
    known = model_errors().model_copy(update={"changes": {KIND: wrong}})
    monkeypatch.setattr("xc40io.trust.doubts.model_errors", lambda: known)
    over = {"striping.count": [1, 16], "striping.size": ["1m", "4m"]}
    return tune(JOB, allow="", over=over, budget=8, repeat=2, jobs=1, store=store)


def test_a_gain_above_the_error_of_its_kind_is_proposed(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = tuned(1.1, store, monkeypatch)
    assert found.best.setting["stripe-count"] == 16
    assert not found.already_best
    assert not found.not_advised
    assert "Tried: " not in text_of(tuning_answer("a job", found))


def test_a_gain_below_it_gives_way_to_another_setting(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = tuned(30.0, store, monkeypatch)
    assert found.best.setting["stripe-count"] == 1
    assert all(one.trial.setting["stripe-count"] == 1 for one in found.runners_up)
    answer = tuning_answer("a job", found)
    text, document = " ".join(text_of(answer).split()), document_of(answer)
    assert "lfs setstripe -c 16" not in text
    assert "Tried: stripe-count 16" in text
    assert REASON in text
    told = document["not_advised"]
    assert {one["reason"] for one in told} == {REASON}
    assert all(one["gain"]["times"] > 1.03 * document["gain"]["times"] for one in told)
