"""What attempts say of settings: the rule by which they condition what was simulated."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xc40io import Scenario
from xc40io.studies.advice.knobs import COUNT, SIZE
from xc40io.studies.axes import parse_axes
from xc40io.studies.simulations import Simulations
from xc40io.studies.tune.belief import (
    SURE,
    Attempt,
    Belief,
    beforehand,
    sure_enough,
    surely_apart,
)
from xc40io.studies.tune.search import Budget
from xc40io.studies.tune.tuning import Question

NOISES = st.floats(0.01, 1.0)
RATES = st.floats(-2.0, 2.0)
ATTEMPTS = st.lists(st.builds(Attempt, st.integers(0, 3), RATES, NOISES), min_size=1, max_size=5)


@st.composite
def beliefs(draw: st.DrawFn) -> Belief:
    """Four settings with parts of their errors in common."""
    parts = draw(st.lists(st.lists(RATES, min_size=4, max_size=4), min_size=4, max_size=4))
    rates = draw(st.lists(RATES, min_size=4, max_size=4))
    covariance = np.array(parts) @ np.array(parts).T + 0.05 * np.eye(4)
    return Belief(np.array(rates), covariance)


@given(beliefs(), ATTEMPTS)
def test_an_attempt_makes_nothing_less_sure(belief: Belief, attempts: list[Attempt]) -> None:
    assert (belief.given(attempts).spread <= belief.spread + 1e-6).all()


@given(beliefs(), st.integers(0, 3), RATES)
def test_an_exact_attempt_says_what_its_setting_does(
    belief: Belief, place: int, rate: float
) -> None:
    after = belief.given([Attempt(place, rate, 0.0)])
    assert after.rates[place] == pytest.approx(rate, abs=1e-6)
    assert after.spread[place] == pytest.approx(0.0, abs=1e-3)


@given(beliefs(), ATTEMPTS, st.randoms())
def test_the_order_of_attempts_does_not_matter(
    belief: Belief, attempts: list[Attempt], random: object
) -> None:
    shuffled = list(attempts)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    one, other = belief.given(attempts), belief.given(shuffled)
    assert one.rates == pytest.approx(other.rates, abs=1e-6)
    assert one.covariance == pytest.approx(other.covariance, abs=1e-6)


@given(beliefs(), ATTEMPTS)
def test_one_after_another_is_as_all_at_once(belief: Belief, attempts: list[Attempt]) -> None:
    stepwise = belief
    for attempt in attempts:
        stepwise = stepwise.given([attempt])
    assert stepwise.rates == pytest.approx(belief.given(attempts).rates, abs=1e-4)


def test_what_all_settings_have_in_common_cancels() -> None:
    common = Belief(np.array([0.0, 0.2]), np.ones((2, 2)))
    after = common.given([Attempt(0, -1.0, 1e-6)])
    assert after.rates[1] - after.rates[0] == pytest.approx(0.2, abs=1e-5)
    assert after.compared(1, 0).better > 0.99


def test_it_stops_once_the_best_attempt_is_near_the_best_of_all() -> None:
    belief = Belief(np.array([0.0, -0.5, -1.0]), 0.04 * np.eye(3) + 0.5)
    first = Attempt(0, -0.1, 0.01)
    assert not sure_enough(belief, [])
    after = belief.given([first])
    assert sure_enough(after, [first])
    assert after.good_enough(0) >= SURE
    slow = Attempt(0, -2.5, 0.01)
    assert surely_apart(belief, slow)
    assert not surely_apart(belief, first)


def test_no_setting_is_proposed_twice() -> None:
    belief, attempts = Belief(np.zeros(3), np.eye(3)), list[Attempt]()
    for _ in range(3):
        proposal = belief.given(attempts).proposal(attempts)
        assert proposal is not None
        assert proposal.place not in [one.place for one in attempts]
        attempts.append(Attempt(proposal.place, 0.0, 0.1))
    assert belief.given(attempts).proposal(attempts) is None


def test_errors_of_settings_that_are_near_have_more_in_common() -> None:
    job = {"machine": "theta", "nodes": 1, "ppn": 2, "workload": {"ior": "-w -e -b 2m -t 1m"}}
    over = parse_axes(("striping.count=1,2,8", "striping.size=1m,2m"))
    question = Question(
        Scenario.model_validate(job), (), (), over, "write", Budget(runs=2), 1, Simulations()
    )
    space = question.begin().space
    settings = [
        {COUNT: count, SIZE: size << 20} for count, size in ((1, 1), (2, 1), (8, 1), (8, 2))
    ]
    belief = beforehand(space, settings, [0.0] * 4, "write")
    assert belief.covariance[0, 1] > belief.covariance[0, 2] >= belief.covariance[0, 3] > 0.0
    assert np.linalg.eigvalsh(belief.covariance).min() > -1e-9
