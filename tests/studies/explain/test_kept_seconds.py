"""An explanation that is stopped answers with what it knows, and goes on the next time."""

from __future__ import annotations

from pathlib import Path

import pytest

from xc40io.config.scenario import Scenario
from xc40io.studies.case import Case, Phase
from xc40io.studies.explain import trials
from xc40io.studies.explain.explanation import Explanation, explain
from xc40io.studies.explain.explanation_answer import explanation_answer
from xc40io.studies.explain.kept_seconds import KeptSeconds
from xc40io.telling.text import text_of

JOB = Scenario(machine="theta", nodes=1, ppn=2, workload={"ior": "-F -w -e -b 1m -t 1m"})


def told(explanation: Explanation) -> str:
    return text_of(explanation_answer(explanation))


def test_seconds_are_found_again_by_what_is_run(tmp_path: Path) -> None:
    kept, seconds = KeptSeconds(tmp_path), {Phase("", 0, "write"): 0.25}
    kept.put(Case(JOB), seconds)
    assert KeptSeconds(tmp_path).get(Case(JOB)) == seconds
    assert kept.get(Case(JOB).with_seed(1)) is None


def test_a_stopped_explanation_says_so_and_the_next_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = explain(JOB, jobs=1, budget=1e-9, kept=KeptSeconds(tmp_path))
    assert first.unfinished
    assert not first.interrupted
    assert "the same command goes on from there" in told(first)
    whole = explain(JOB, jobs=1)
    assert first.runs < whole.runs
    assert told(explain(JOB, jobs=1, kept=KeptSeconds(tmp_path))) == told(whole)

    def nothing(*_: object, **__: object) -> None:
        raise AssertionError("all of these runs are kept")

    monkeypatch.setattr(trials, "each", nothing)
    assert told(explain(JOB, jobs=1, kept=KeptSeconds(tmp_path))) == told(whole)


def test_an_interrupt_ends_with_what_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(trials, "each", interrupted)
    found = explain(JOB, jobs=1)
    assert found.interrupted
    assert found.unfinished
    assert found.runs == 0
    assert "Stopped after 1 run:" in told(found)
