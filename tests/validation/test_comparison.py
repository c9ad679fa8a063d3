"""Two scores beside each other: what moved, and the rule by which a change of physics lands."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scored_claims import PREDICTED, by_id, claim, result

from xc40io.telling.data import document_of
from xc40io.telling.text import text_of
from xc40io.validation.comparison import Comparison, Pair, compare
from xc40io.validation.kept import Result
from xc40io.validation.number import distinct_numbers
from xc40io.validation.score import Scored, score
from xc40io.validation.score_answer import score_answer, verdict

GROUPS = ("reads",) * 3 + ("writes",) * 2
CLAIMS = by_id(*(claim(f"c{n}", n + 1, group=group) for n, group in enumerate(GROUPS)))


def results(*ratios: float) -> dict[str, Result]:
    return {name: result(CLAIMS[name], ratio) for name, ratio in zip(CLAIMS, ratios, strict=False)}


def compared(
    before: dict[str, Result], now: dict[str, Result], near: tuple[str, ...] = tuple(CLAIMS)
) -> Comparison:
    return compare(score(CLAIMS, PREDICTED, now, near=near), CLAIMS, before)


BEFORE = results(1.5, 1.5, 1.5, 1.5, 1.5)


@pytest.mark.parametrize(
    ("now", "sentence"),
    [
        (
            (1.5, 1.5, 1.5, 1.2, 1.2),
            "Lands: the mean over 5 near numbers falls from 0.4055 to 0.3162",
        ),
        (
            (1.5, 1.5, 1.5, 1.7, 1.7),
            "Does not land: the mean over 5 near numbers rises from 0.4055 to",
        ),
        # reads rise by 0.0645, and writes fall by more than that together
        (
            (1.6, 1.6, 1.6, 1.0, 1.0),
            "Does not land: near, reads rises from 0.405 to 0.470.",
        ),
        # by 0.0133 they may
        ((1.52, 1.52, 1.52, 1.0, 1.0), "Lands: "),
        # a group of two holds nothing back
        ((1.0, 1.0, 1.0, 1.9, 1.9), "Lands: "),
        ((1.5, 1.5, 1.5, 1.5, 1.5), "Nothing moved: 5 numbers as in then."),
        # the other side of what was measured is as far off
        (
            (1 / 1.5, 1.5, 1.5, 1.5, 1.5),
            "Does not land: the mean over 5 near numbers does not fall.",
        ),
    ],
)
def test_the_rule_where_all_is_near(now: tuple[float, ...], sentence: str) -> None:
    found = compared(BEFORE, results(*now))
    assert verdict(found, "then").startswith(sentence)
    assert found.lands == sentence.startswith("Lands")


@pytest.mark.parametrize(
    ("now", "sentence"),
    [
        # the writes carry over: what is near may pay for it, by a little
        ((1.52, 1.52, 1.52, 1.4, 1.4), "Lands: the mean over 2 far numbers falls from 0.4055 to"),
        ((1.6, 1.6, 1.6, 1.0, 1.0), "Does not land: near, reads rises from 0.405 to 0.470."),
        # what comes nearer where it was fitted, and goes off elsewhere, does not carry over
        ((1.0, 1.0, 1.0, 1.6, 1.6), "Does not land: the mean over 2 far numbers rises from 0.4055"),
        # where nothing far moves the near ones are asked
        ((1.4, 1.4, 1.4, 1.5, 1.5), "Lands: the mean over 3 near numbers falls from 0.4055 to"),
    ],
)
def test_the_far_half_judges(now: tuple[float, ...], sentence: str) -> None:
    found = compared(BEFORE, results(*now), near=("c0", "c1", "c2"))
    assert verdict(found, "then").startswith(sentence)
    assert found.lands == sentence.startswith("Lands")


NUMBERS = distinct_numbers(CLAIMS, PREDICTED, near=("c0", "c1", "c2"))


def of_ratios(before: list[float], now: list[float]) -> Comparison:
    then, today = (
        [
            Scored(number, {number.readers[0]: ratio})
            for number, ratio in zip(NUMBERS, ratios, strict=True)
        ]
        for ratios in (before, now)
    )
    return Comparison(tuple(map(Pair, then, today)))


RATIOS = st.lists(st.floats(0.1, 10.0), min_size=len(NUMBERS), max_size=len(NUMBERS))


@given(RATIOS, RATIOS)
def test_what_lands_does_not_land_the_other_way(before: list[float], now: list[float]) -> None:
    there, back = of_ratios(before, now), of_ratios(now, before)
    assert not (there.lands and back.lands)
    assert there.rise == pytest.approx(-back.rise)
    assert not (there.lands and there.is_worse)


def test_what_moved_is_sorted_by_what_the_score_feels() -> None:
    found = compared(BEFORE, results(1.5, 1.4, 1.0, 1.501, 1 / 1.5))
    assert [str(pair.number) for pair in found.moved] == ["c2", "c1", "c3", "c4"]
    text = text_of(score_answer(found.now, found, since="then"))
    assert "Against then, 4 of 5 numbers moved, 1 of them by less than 0.5% (--all lists them)" in (
        text
    )
    rows = {line.split()[0]: line for line in text.splitlines() if line[:1] == "c"}
    assert rows["c2"].split()[1:4] == ["1.500", "1.000", "-0.405"]
    assert rows["c4"].split()[1:4] == ["1.500", "0.667", "+0.000"]
    assert "c3" not in rows
    assert "c3" in text_of(score_answer(found.now, found, since="then", everything=True))


def test_only_what_was_put_alike_is_compared() -> None:
    before = {
        "c0": BEFORE["c0"],
        "c1": result(CLAIMS["c1"], 1.0, digest="0123456789ab"),
    }
    found = compared(before, results(1.2, 1.2, 1.2))
    assert [str(pair.number) for pair in found.pairs] == ["c0"]
    text = text_of(score_answer(found.now, found, since="then"))
    assert "Put differently in then, and not compared: c1." in text
    assert "Without a result in then: c2, c3, c4." in text
    assert verdict(compared({}, results(1.2)), "then").startswith("Nothing to compare")


def test_a_number_is_compared_over_the_measurements_that_both_days_have() -> None:
    """A second measurement of the same run is no progress, and no step back."""
    both = by_id(claim("c0"), claim("c9", measured="4 GB/s"))
    now = {"c0": result(both["c0"], 2.0), "c9": result(both["c9"], 0.5)}
    found = compare(score(both, PREDICTED, now), both, {"c0": result(both["c0"], 2.0)})
    assert found.moved == []
    assert found.now.scored[0].ratio == pytest.approx(2.0)


def test_json_has_what_moved_and_the_verdict() -> None:
    found = compared(BEFORE, results(1.5, 1.5, 1.5, 1.2, 1.2))
    against = document_of(score_answer(found.now, found, since="then"))["against"]
    assert against["lands"] is True
    assert against["verdict"].startswith("Lands")
    assert [one["measurements"] for one in against["moved"]] == [["c3"], ["c4"]]
    assert (
        against["before"]["groups"]["writes"]["mean"] > against["now"]["groups"]["writes"]["mean"]
    )
