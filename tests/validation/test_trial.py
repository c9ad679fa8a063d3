from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from xc40io.validation.trial import Reading, Request, Subject, Trials

ONE = Subject("B01", frozenset({"theta"}), frozenset({"a"}), (Reading("B01"),))
SAME_RUN = Subject("B02", frozenset({"theta"}), frozenset({"a", "b"}), (Reading("B02"),))
ELSEWHERE = Subject("D01", frozenset({"cori"}), frozenset({"c"}), (Reading("D01"),))
FASTER = {"theta": {"lustre.oss_rate": 7e9}}


class Simulator:
    """Counts what it is asked, and answers e to the power of the seed."""

    def __init__(self) -> None:
        self.asked: list[Request] = []

    def __call__(self, requests: Sequence[Request]) -> list[dict[str, float]]:
        self.asked += requests
        return [{"": float(np.exp(request.seed))} for request in requests]


def test_each_trial_is_simulated_once() -> None:
    simulator = Simulator()
    trials = Trials([ONE, ELSEWHERE], simulator, seeds=2)
    first = trials.logs([{}, FASTER, {}])
    assert first.shape == (3, 2, 2)
    assert first[0, :, 0] == pytest.approx([0.0, 1.0])
    assert len(simulator.asked) == len({request.key for request in simulator.asked}) == 6
    assert not any(request.changes for request in simulator.asked if request.claim == "D01")
    trials.logs([FASTER])
    assert len(simulator.asked) == 6


def test_runs_that_claims_share_count_once() -> None:
    trials = Trials([ONE, SAME_RUN], Simulator(), seeds=3)
    trials.logs([{}])
    assert trials.runs == 6
    trials.logs([{}, FASTER])
    assert trials.runs == 12
