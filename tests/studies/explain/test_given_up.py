"""Runs that cannot win are given up, and the answer is the same."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xc40io.config.scenario import Scenario
from xc40io.run.result import Result
from xc40io.run.simulate import OvertimeError, simulate
from xc40io.studies.explain.explanation import Explanation, explain
from xc40io.studies.explain.trials import Trials

STRIPED: dict[str, Any] = {
    "machine": "theta",
    "nodes": 8,
    "ppn": 8,
    "striping": {"count": 48, "size": "8m"},
    "workload": {"ior": "-w -e -b 8m -t 8m"},
}


@pytest.fixture(scope="module")
def whole() -> Result:
    return simulate(Scenario.model_validate(STRIPED))


@given(share=st.floats(0.05, 3.0))
@settings(max_examples=12, deadline=None)
def test_a_run_ends_as_ever_or_is_given_up(whole: Result, share: float) -> None:
    """Whether there is a limit moves nothing in a run that keeps to it."""
    scenario, until = Scenario.model_validate(STRIPED), share * whole.simulated
    if until > whole.simulated:
        again = simulate(scenario, until=until)
        assert again.simulated == whole.simulated
        assert (again.events, again.rpcs) == (whole.events, whole.rpcs)
    elif until < whole.simulated:
        with pytest.raises(OvertimeError):
            simulate(scenario, until=until)


def _without_limit(monkeypatch: pytest.MonkeyPatch) -> Explanation:
    with monkeypatch.context() as patch:
        patch.setattr(Trials, "_limit", lambda _self: None)
        return explain(Scenario.model_validate(STRIPED), jobs=1)


def test_what_is_given_up_takes_more_than_twice_as_long(monkeypatch: pytest.MonkeyPatch) -> None:
    limited, full = explain(Scenario.model_validate(STRIPED), jobs=1), _without_limit(monkeypatch)
    assert limited.slower
    assert not full.slower
    given_up = {*limited.slower}
    for now, before in zip(limited.phases, full.phases, strict=True):
        gains = {one.words: one.gain for one in before.changed}
        assert all(gains[words] < 0.5 for words in given_up & gains.keys())
        left = [one for one in before.changed if one.words not in given_up]
        assert list(now.changed) == left
        assert now.without == before.without
    assert limited.advice == full.advice
    assert limited.runs == full.runs
