"""What the page says of two runs: how sure it is that B is faster, and what to try next."""

from __future__ import annotations

import pytest

from xc40io.serving.question_limits import Limits
from xc40io.serving.worker import Desk
from xc40io.trust.sureness import chance_faster
from xc40io.web.charts import rows_of
from xc40io.web.runs import Outcome, run
from xc40io.web.texts import cards, chances
from xc40io.web.tours import tours
from xc40io.web.translation import State, scenario_of

LIMITS = Limits(rpcs=300_000, ranks=16_384)
ONE_OR_48 = tours()["stripes"].steps[0].state


def outcomes(state: State) -> dict[str, Outcome]:
    desk = Desk(LIMITS, 1, lambda _done, _total: None)
    sides = {"A": state.a, "B": state.b}
    return {
        side: Outcome.model_validate(run(settings.model_dump(), desk))
        for side, settings in sides.items()
        if settings is not None
    }


@pytest.fixture(scope="module")
def ran() -> dict[str, Outcome]:
    return outcomes(ONE_OR_48)


def test_the_card_of_b_tells_how_likely_it_really_is_faster(ran: dict[str, Outcome]) -> None:
    settings = {"A": ONE_OR_48.a, "B": ONE_OR_48.b}
    assert ONE_OR_48.b is not None
    found = chances(ran, settings)
    ratio = ran["B"].phases[0].bandwidth / ran["A"].phases[0].bandwidth
    sure = chance_faster(ratio, scenario_of(ONE_OR_48.a), scenario_of(ONE_OR_48.b), "write")
    assert found == {("write", "B"): sure}
    assert sure > 0.75
    a, b = cards(rows_of(ran), found)
    assert "really faster" not in a.note
    assert b.note.endswith(" %")
    assert "; really faster than A: " in b.note


def test_who_is_alone_is_compared_with_nobody(ran: dict[str, Outcome]) -> None:
    alone = {"A": ran["A"]}
    assert chances(alone, {"A": ONE_OR_48.a}) == {}
    (card,) = cards(rows_of(alone))
    assert "really faster" not in card.note
