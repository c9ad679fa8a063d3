"""Expressions of a skeleton: what they are worth, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.config.errors import InputError
from sim.workloads.skeleton.expressions import parse


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("8 * particles / ranks", 2.0),
        ("particles // 3 % 2", 0),
        ("2 ** 10 - -1", 1025),
        ("min(particles, ranks, 3) + max(1, 2)", 3),
        ("ceil(7 / 2) + floor(7 / 2) + round(2.6)", 10),
        ("1 if layout == 'rank' else 2", 1),
        ("not (particles > 1 and ranks < 1)", True),
        ("sqrt(16) + log2(8) + abs(-1)", 8.0),
    ],
)
def test_values(text, value):
    found = parse(text).value({"particles": 1, "ranks": 4, "layout": "rank"})
    assert found == value


def test_a_name_that_every_rank_has_its_own_of_makes_an_array():
    names = {"rank": np.arange(4), "size": 10}
    assert parse("size * rank").value(names).tolist() == [0, 10, 20, 30]
    assert parse("rank % 2 == 0").value(names).tolist() == [True, False, True, False]
    assert parse("size if rank < 2 else 0").value(names).tolist() == [10, 10, 0, 0]
    assert parse("max(rank, 2)").value(names).tolist() == [2, 2, 2, 3]


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os')",
        "rank.real",
        "[1, 2]",
        "rank[0]",
        "lambda: 1",
        "open('x')",
        "min(1)",
        "f'{rank}'",
        "1 < 2 < 3",
        "a := 1",
        "1 +",
        "(" * 300,
        "9" * 600,
        "~1",
        "1 and",
        "min(*rank)",
        "b'x'",
        "None",
        "...",
    ],
)
def test_what_is_no_arithmetic_is_refused_when_it_is_read(text):
    with pytest.raises(InputError, match=r"right would be|are right"):
        parse(text)


@pytest.mark.parametrize(
    "text",
    [
        *("1 / 0", "10 % 0", "rank // 0", "log2(0)", "sqrt(-1)", "'a' + 'b'"),
        *("2 ** 200", "2.0 ** 64 * 2 ** 64", "rank * 2 ** 62"),
    ],
)
def test_what_has_no_value_is_said_so(text):
    with pytest.raises(InputError, match="cannot be worked out"):
        parse(text).value({"rank": np.arange(1, 4)})


def test_a_misspelt_name_is_told_with_the_likely_one():
    with pytest.raises(InputError, match="there is no partcles; did you mean particles"):
        parse("8 * partcles").value({"particles": 1})


@given(st.text("0123456789+-*/%() ranksize.,<>='\"", max_size=40))
def test_no_text_does_harm(text):
    names = {"rank": np.arange(3), "size": 7}
    try:
        value = parse(text).value(names)
    except InputError:
        return
    assert np.shape(value) in ((), (3,))


@given(st.integers(-(2**40), 2**40), st.integers(-(2**40), 2**40))
def test_scalars_and_arrays_agree(a, b):
    for text in ("a + b", "a - b", "a * 3 - b", "min(a, b)", "a if a > b else b", "abs(a) % 7"):
        scalar = parse(text).value({"a": a, "b": b})
        array = parse(text).value({"a": np.full(2, a), "b": np.full(2, b)})
        assert array.tolist() == [scalar, scalar]
