"""What would help: each control is turned by itself, and the page says which makes a run faster."""

from __future__ import annotations

import pytest

from xc40io.config.errors import InputError
from xc40io.run.simulate import simulate
from xc40io.serving.question_limits import Limits
from xc40io.serving.worker import Desk
from xc40io.web.settings import Settings
from xc40io.web.texts import tries
from xc40io.web.translation import scenario_of, state_of
from xc40io.web.tries import Tries, turn_each

ONE_STRIPE = Settings(
    nodes=4, ppn=2, work="write", block="16m", transfer="1m", stripe_count=1, stripe_size="1m"
)


def tried(settings: Settings, rpcs: int = 300_000) -> tuple[Tries, list[tuple[int, int]]]:
    told: list[tuple[int, int]] = []
    desk = Desk(Limits(rpcs=rpcs), 1, lambda done, total: told.append((done, total)))
    return Tries.model_validate(turn_each(settings.model_dump(), desk)), told


def test_each_differs_in_one_control_and_is_really_run() -> None:
    found, told = tried(ONE_STRIPE)
    assert told == [(done, len(told)) for done in range(1, len(told) + 1)]
    now = simulate(scenario_of(ONE_STRIPE)).rows[0].seconds
    for one in found.tried:
        state = state_of(one.query)
        assert state.a == ONE_STRIPE
        assert state.b is not None
        assert len(list(state.a.differences(state.b))) == 1
        (gain,) = one.gains
        assert gain.ratio == pytest.approx(now / simulate(scenario_of(state.b)).rows[0].seconds)
    ratios = [one.ratio for one in found.tried]
    assert ratios == sorted(ratios, reverse=True)
    assert {"stripe count", "stripe size", "files"} <= {
        one.words.partition(":")[0] for one in found.tried
    }


def test_the_best_stands_first_with_a_link() -> None:
    found = tried(ONE_STRIPE)[0]
    text = tries(found)
    better = sum(one.ratio >= 1.1 for one in found.tried)
    assert text.startswith(f"<p>{better} of {len(found.tried)} other settings make it faster")
    assert text.count("Compare, as B") == min(better, 5)
    assert "files: one a rank (now one, shared)" in text


def test_where_nothing_helps_it_says_change_nothing() -> None:
    assert tries(Tries(tried=[], as_one=1)).startswith("<p>Change nothing: none of 0 other")


def test_too_many_rpcs_for_one_question_are_handled_as_fewer() -> None:
    found, _ = tried(ONE_STRIPE, rpcs=1000)
    assert found.as_one > 1
    assert f"{found.as_one} RPCs were handled as one." in tries(found)


def test_a_setting_that_is_too_large_is_refused() -> None:
    with pytest.raises(InputError, match="bulk RPCs"):
        tried(ONE_STRIPE, rpcs=10)
