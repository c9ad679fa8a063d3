"""What is advised: what surely helps, the best first, and of equals the least to change."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xc40io.studies.advice.weighing import LEAST, TIE, left_open, ranked, weighed
from xc40io.studies.ratio import paired

SECONDS = st.floats(0.1, 10.0)


def always(_times: float) -> float:
    return 1.0


def never(_times: float) -> float:
    return 0.0


def test_what_is_faster_on_all_seeds_helps() -> None:
    both = [2.0, 2.1, 1.9], [1.0, 1.05, 0.95]
    assert weighed(both, both, always).helps
    assert weighed(both, both, always).whole.value == pytest.approx(2.0)


def test_what_chance_may_do_does_not_help() -> None:
    both = [2.0, 2.0, 2.0], [1.0, 3.0, 1.9]
    assert not weighed(both, both, always).helps


def test_what_is_less_than_the_model_may_be_off_does_not_help() -> None:
    both = [2.0, 2.1, 1.9], [1.0, 1.05, 0.95]
    assert not weighed(both, both, never).helps


def test_more_seeds_are_asked_for_only_where_they_may_decide() -> None:
    assert left_open(paired([2.0, 2.0, 2.0], [1.0, 1.9, 0.2]), 0.9)  # much, but by chance?
    assert not left_open(paired([2.0, 2.0, 2.0], [1.0, 1.9, 0.2]), 0.6)  # less than errors
    assert not left_open(paired([2.0, 2.1, 1.9], [1.0, 1.05, 0.95]), 0.9)  # it is sure
    assert not left_open(paired([2.0, 2.0, 2.0], [2.0, 2.4, 1.6]), 0.9)  # it brings too little
    assert not left_open(paired([2.0], [1.0]), 0.9)  # one seed was asked for


def test_a_phase_that_costs_the_others_more_does_not_help() -> None:
    phase, whole = ([2.0] * 3, [1.0] * 3), ([4.0] * 3, [5.0] * 3)
    assert not weighed(phase, whole, always).helps


@given(st.lists(SECONDS, min_size=3, max_size=3))
def test_as_fast_as_before_never_helps(seconds: list[float]) -> None:
    assert not weighed((seconds, seconds), (seconds, seconds), always).helps


@given(st.lists(st.tuples(st.floats(LEAST, 100.0), st.integers(0, 5)), max_size=8))
def test_the_first_brings_as_much_as_the_best_and_is_the_least_to_change(
    items: list[tuple[float, int]],
) -> None:
    order = ranked(items, lambda one: one[0], lambda one: (one[1],))
    assert sorted(order) == sorted(items)
    for place, one in enumerate(order):
        left = order[place:]
        best = max(gain for gain, _ in left)
        assert one[0] * TIE >= best
        assert one[1] == min(effort for gain, effort in left if gain * TIE >= best)
