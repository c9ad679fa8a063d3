"""Expressions: what is read, what is refused, and what they amount to, also with arrays."""

from __future__ import annotations

import ast
import operator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from simpleeval import SimpleEval

from xc40io.config.errors import InputError
from xc40io.config.text.arithmetic import Arithmetic
from xc40io.config.text.expressions import ARITHMETIC, Grammar, literal


def value(text: str, **names: object):
    return ARITHMETIC.parse(text).value(Arithmetic(names))


# ------------------------------------------------------------------------------ what is worked out


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("8 * particles / ranks", 2.0),
        ("particles // 3 % 2", 0),
        ("2 ** 10 - -1", 1025),
        ("min(particles, ranks, 3) + max(1, 2)", 3),
        ("ceil(7 / 2) + floor(7 / 2) + round(2.6)", 10),
        ("1 if layout == 'rank' else 2", 1),
        ("not (particles > 1 and ranks < 1)", True),
        ("sqrt(16) + log2(8) + abs(-1)", 8.0),
        (" ( 2**61 + 1 ) - 2**61 ", 1),  # which a floating-point number would not hold
    ],
)
def test_values(text, expected):
    found = value(text, particles=1, ranks=4, layout="rank")
    assert found == expected
    assert isinstance(found, type(expected))


def test_a_name_that_every_rank_has_its_own_of_makes_an_array():
    names = {"rank": np.arange(4), "size": 10}
    assert value("size * rank", **names).tolist() == [0, 10, 20, 30]
    assert value("rank % 2 == 0", **names).tolist() == [True, False, True, False]
    assert value("not rank % 2", **names).tolist() == [True, False, True, False]
    assert value("rank > 0 and rank < 3", **names).tolist() == [False, True, True, False]
    assert value("size if rank < 2 else 0", **names).tolist() == [10, 10, 0, 0]
    assert value("max(rank, 2)", **names).tolist() == [2, 2, 2, 3]
    assert value("ceil(rank / 2)", **names).tolist() == [0, 1, 1, 2]


def test_what_is_not_chosen_is_not_evaluated():
    assert value("1 if n == 0 else 1 / n", n=0) == 1


LEAVES = ("0", "1", "7", "2.5", "True", "a", "b")
FORMS = (
    *("({} + {})", "({} - {})", "({} * {})", "({} / 7)", "({} // 3)", "({} % 5)", "({}) ** 2"),
    *("-{}", "+{}", "abs({})", "min({}, {})", "max({}, {}, {})"),
    *(
        "({} < {})",
        "({} == {})",
        "(not {} >= {})",
        "({} if {} else {})",
        "({} if {} != {} else {})",
    ),
)


@st.composite
def expressions(draw: st.DrawFn, depth: int = 3) -> str:
    """Return an expression without divisions by zero and huge numbers."""
    form = draw(st.sampled_from(LEAVES + FORMS if depth else LEAVES))
    return form.format(*(draw(expressions(depth - 1)) for _ in range(form.count("{}"))))


SMALL = st.integers(-50, 50)


@given(expressions(), SMALL, SMALL)
def test_agrees_with_pythons_own_arithmetic(text, a, b):
    functions = {"min": min, "max": max, "abs": abs}
    assert value(text, a=a, b=b) == eval(text, {"a": a, "b": b, **functions})


@given(expressions(), st.lists(st.tuples(SMALL, SMALL), min_size=1, max_size=5))
def test_an_array_has_the_value_of_each_element(text, pairs):
    a, b = (np.array(column) for column in zip(*pairs, strict=True))
    found = np.broadcast_to(value(text, a=a, b=b), len(pairs))
    assert found.tolist() == [value(text, a=one, b=other) for one, other in pairs]


# --------------------------------------------------------------------------------- what is refused

ALLOWED = {
    "BinOp": "a + b",
    "BoolOp": "a and b",
    "Call": "min(a, b)",
    "Compare": "a < b",
    "Constant": "1",
    "IfExp": "a if b else 1",
    "Name": "a",
    "UnaryOp": "-a",
}
REFUSED = {
    "Attribute": "a.real",
    "Await": "await a",
    "Dict": "{1: a}",
    "DictComp": "{x: 1 for x in a}",
    "FormattedValue": "f'{a}'",
    "GeneratorExp": "max(x for x in a)",
    "JoinedStr": "f'a'",
    "Lambda": "lambda: 1",
    "List": "[a]",
    "ListComp": "[x for x in a]",
    "NamedExpr": "(a := 1)",
    "Set": "{a}",
    "SetComp": "{x for x in a}",
    "Slice": "a[1:2]",
    "Starred": "min(*a)",
    "Subscript": "a[0]",
    "Tuple": "(a, b)",
    "Yield": "(yield a)",
    "YieldFrom": "(yield from a)",
}


def test_every_kind_of_expression_that_python_has_is_allowed_or_refused():
    known = {*ALLOWED, *REFUSED, "TemplateStr", "Interpolation"}  # the last two since 3.14
    assert {kind.__name__ for kind in ast.expr.__subclasses__()} <= known
    for text in ALLOWED.values():
        ARITHMETIC.parse(text)
    for text in REFUSED.values():
        with pytest.raises(InputError, match="is not an expression; right would be numbers"):
            ARITHMETIC.parse(text)


@pytest.mark.parametrize(
    "text",
    [
        *("a & b", "a | b", "a ^ b", "a << b", "a >> b", "a @ b", "~a", "a is b", "a in b"),
        *("__import__('os')", "open('x')", "min(1)", "ceil(1, 2)", "min(a, b, key=a)", "min"),
        *("1 < 2 < 3", "1 +", "1 and", "1 2", "(" * 300, "9" * 600, "-" * 499 + "1"),
        *("b'x'", "None", "...", "1j", "", " ", "a = 1", "a; b", "import os", "\0"),
    ],
)
def test_what_is_no_arithmetic_is_refused(text):
    with pytest.raises(InputError):
        value(text, a=1, b=2)


def test_no_text_is_no_expression():
    with pytest.raises(InputError, match=r"\[1\] is not an expression; right would be numbers"):
        ARITHMETIC.parse([1])


@pytest.mark.parametrize(
    "text",
    [
        *("1 / 0", "10 % 0", "rank // 0", "log2(0)", "sqrt(-1)", "(-8) ** 0.5", "'a' + 'b'"),
        *("'a' * 3", "2 ** 200", "2.0 ** 64 * 2 ** 64", "rank * 2 ** 62", "2 ** rank ** 9"),
        *("ceil(1e300)", "9" * 400 + " + 1", "rank < 'a'", "min('a', 1)", "rank ** -1"),
    ],
)
def test_what_has_no_value_is_said_so(text):
    with pytest.raises(InputError, match="has no value: "):
        value(text, rank=np.arange(1, 4))


def test_a_misspelt_name_is_told_with_the_likely_one():
    with pytest.raises(InputError, match="there is no partcles; did you mean particles"):
        value("8 * partcles", particles=1)


@given(st.text("0123456789+-*/%() ranksize.,<>='\"", max_size=40))
def test_no_text_does_harm(text):
    try:
        found = value(text, rank=np.arange(3), size=7)
    except InputError:
        return
    assert np.shape(found) in ((), (3,))


# --------------------------------------------------------------------------------- other languages


def test_a_literal_needs_no_reading():
    assert literal(3).value(Arithmetic({})) == 3
    assert literal("a word").value(Arithmetic({})) == "a word"


def test_another_grammar_has_its_own_operators_functions_and_spelling():
    grammar = Grammar(
        noun="a sum",
        example="twice(1) + 2",
        operators={ast.Add: operator.add},
        functions={"twice": range(1, 2)},
        spell=lambda text: text.replace("plus", "+"),
    )
    evaluator = SimpleEval(dict(grammar.operators), {"twice": lambda number: 2 * number}, {})
    expression = grammar.parse("1 plus twice(4)")
    assert expression.value(evaluator) == 9
    assert expression.text == "1 plus twice(4)"
    assert expression.calls == [("twice", [4])]
    for text in ("1 - 2", "-1", "twice(1, 2)", "min(1, 2)", "1 if 1 else 2", "1 and 2", "a"):
        with pytest.raises(InputError, match=r"is not a sum; right would be twice\(1\) \+ 2"):
            grammar.parse(text)


def test_calls_are_told_in_the_order_in_which_they_are_written():
    expression = ARITHMETIC.parse("min(1, 2) / max(3, 4) / abs(5) * ceil(6)")
    assert expression.calls == [("min", [1, 2]), ("max", [3, 4]), ("abs", [5]), ("ceil", [6])]


def test_only_names_that_are_not_called_need_values():
    assert set(ARITHMETIC.parse("min(a, 2) * b").names()) == {"a", "b"}
