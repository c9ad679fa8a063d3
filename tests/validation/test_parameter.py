"""Parameters: products of values of a machine."""

from __future__ import annotations

import pytest

from xc40io.config.errors import InputError
from xc40io.config.machine import load_machine
from xc40io.validation.parameter import parse_parameter
from xc40io.validation.quantity import BYTES, NUMBER, RATE, Quantity

THETA = load_machine("theta")


@pytest.mark.parametrize(
    ("text", "value", "dimension"),
    [
        ("lustre.osts", THETA.lustre.osts, NUMBER),
        ("lustre.capacity / 2", THETA.lustre.capacity / 2, BYTES),
        ("lustre.mds.mdts", THETA.lustre.mds.mdts, NUMBER),
        ("2.5*lustre.osts*lustre.oss_rate", 2.5 * THETA.lustre.osts * THETA.lustre.oss_rate, RATE),
        ("lustre.osts / (lnet.routers / 2)", 2 * THETA.lustre.osts / THETA.lnet.routers, NUMBER),
        ("lustre.oss_rate / lustre.oss_rate", 1.0, NUMBER),
    ],
)
def test_a_product_has_a_value_and_a_unit(text, value, dimension):
    found = parse_parameter(text).of(THETA)
    assert isinstance(found, Quantity)
    assert found.base == pytest.approx(value)
    assert found.dimension == dimension


def test_words_and_truth_values_are_taken_as_they_stand():
    assert parse_parameter("lustre.version").of(THETA) == THETA.lustre.version
    assert parse_parameter("lustre.lock_ahead").of(THETA) is THETA.lustre.lock_ahead


@pytest.mark.parametrize(
    "text",
    [
        *(
            "capacity",
            "lustre.osts + 1",
            "lustre.osts lustre.osts",
            "lustre.",
            ".osts",
            "",
            3,
            None,
        ),
        *("value('lustre.osts')", "lustre.osts ** 2", "lustre['osts']", "-lustre.osts"),
    ],
)
def test_refuses_what_is_no_product_of_values(text):
    with pytest.raises(InputError, match=r"is not a parameter; right would be lustre.capacity or"):
        parse_parameter(text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("lustre.capcity", "lustre.capcity: theta has no such value; did you mean lustre.capacity"),
        ("2 * lustre.version", "'2.7.2.26' is not a number with a unit"),
    ],
)
def test_what_a_machine_does_not_have_is_said(text, words):
    with pytest.raises(InputError, match=words):
        parse_parameter(text).of(THETA)
