"""A fit by slopes: what some rows say of values, and of the other rows."""

from __future__ import annotations

import math

import pytest

from xc40io.validation.linear_fit import Found, Moved, Row, fitted, ratios, unmet

RATE, OTHER = (
    Moved("lustre.ost_write_rate", 0.5, -1.5, 1.5),
    Moved("nodes.call_time", 0.5, -1.5, 1.5),
)


def row(name: str, measured: float, slopes: tuple[float, float] = (1.0, 0.0)) -> Row:
    return Row(name, measured, 100.0, 0.05, 0.13, "write", slopes)


ROWS = (row("A", 150.0), row("B", 150.0), row("C", 30.0, (0.0, 0.0)), row("D", 150.0))
FOUND = Found(ROWS, (RATE, OTHER))


def test_rows_that_are_given_tell_of_the_others_with_the_same_slopes() -> None:
    told = ratios(FOUND, fitted(FOUND, [0, 1]))
    assert ratios(FOUND, fitted(FOUND, []))[3] == pytest.approx(100.0 / 150.0)
    assert told[3] == pytest.approx(1.0, abs=0.05)
    assert told[2] == pytest.approx(100.0 / 30.0), "no value moves it"


def test_a_value_ends_at_its_bounds() -> None:
    far = Found((row("A", 10_000.0),), (RATE._replace(upper=0.1), OTHER))
    assert math.exp(fitted(far, [0])[0]) == pytest.approx(math.exp(0.1))


def test_what_no_value_moves_is_unmet() -> None:
    assert [one.name for one in unmet(FOUND)] == ["C"]
