"""What the machine code of a function depends on, and what not."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from xc40io.compiler.functions import Keys, reached_from
from xc40io.compiler.signature import layouts_of, signature_of
from xc40io.engine.compiled import Entry
from xc40io.engine.component import Component
from xc40io.engine.types import Floats


class Box(Component):
    size: int
    weights: Floats


BOX = Box(size=3, weights=np.ones(3))

SOURCE = '''
from xc40io.engine.compiled import entry, inlined, njit, outlined

FACTOR = 2

@njit
def double(number: int) -> int:
    """Return twice a number."""
    return FACTOR * number

@outlined
def below(box: Box, row: int) -> float:
    """Return a weight."""
    return box.weights[row] + double(row)

@outlined
def middle(box: Box, row: int) -> float:
    return below(box, row) + 1.0

@outlined
def unused(box: Box) -> int:
    return 1

@entry(raises=ValueError)
def above(box: Box) -> int:
    return int(middle(box, box.size))
'''


def module(*changes: tuple[str, str]) -> dict[str, Any]:
    """Return what a module defines that has these sources, with some of them replaced."""
    source = SOURCE
    for old, new in changes:
        assert old in source
        source = source.replace(old, new)
    made = types.ModuleType("boxes")
    made.__dict__["Box"] = Box
    exec(source, made.__dict__)
    return made.__dict__


def keys(*changes: tuple[str, str], base: str = "") -> dict[str, str]:
    """Return the keys of the functions of the module by their names."""
    found = reached_from([module(*changes)["above"]], layouts_of(BOX))
    of = Keys(found, base)
    return {function.__name__: of.key(function) for function in found}


def changed(*changes: tuple[str, str]) -> set[str]:
    """Return the functions that have to be translated again after some changes."""
    before, after = keys(), keys(*changes)
    return {name for name in after if before.get(name) != after[name]}


def test_all_that_an_entry_calls_belongs_to_it():
    assert keys().keys() == {"above", "middle", "below"}


def test_no_two_functions_have_one_key():
    assert len(set(keys().values())) == 3


@pytest.mark.parametrize(
    ("change", "translated"),
    [
        (("return below", "# so\n    return below"), set()),  # a comment
        (('"""Return a weight."""', '"""Return one."""'), set()),
        (('"""Return twice a number."""', ""), set()),
        (("+ 1.0", "+ 2.0"), {"middle"}),  # its callers know only what it takes and returns
        (("FACTOR = 2", "FACTOR = 3"), {"below"}),  # through the helper that is copied into it
        (("return FACTOR * number", "return number * FACTOR"), {"below"}),
        (("@njit", "@inlined"), {"below"}),
        (("def below(box: Box, row: int)", "def below(box: Box, row: float)"), {"below", "middle"}),
        (("int(middle(box, box.size))", "0"), {"above"}),
    ],
)
def test_an_edit_has_that_translated_which_depends_on_it(change, translated):
    assert changed(change) == translated


def test_the_compiler_and_the_processor_count_for_all():
    assert not set(keys(base="one").values()) & set(keys(base="another").values())


def test_the_layout_of_a_component_counts_for_those_that_take_it():
    other = Box(size=3, weights=np.ones((3, 2)))
    entry: Entry[..., int] = module()["above"]
    one, two = (reached_from([entry], layouts_of(box)) for box in (BOX, other))
    assert all(Keys(one, "").key(function) != Keys(two, "").key(function) for function in one)


def no_annotation(box, row: int) -> float:
    return box.weights[row]


def a_list(box: Box, rows: list[int]) -> int:
    return box.size + rows[0]


def an_array_returned(box: Box) -> np.ndarray:
    return box.weights


@pytest.mark.parametrize(
    ("function", "sentence"),
    [
        (no_annotation, "no_annotation is outlined, and its box is annotated with"),
        (a_list, r"its rows is annotated with list\[int\]; right would be a component"),
        (an_array_returned, "its return is annotated with"),
    ],
)
def test_an_outlined_function_says_what_it_takes(function: Callable[..., Any], sentence: str):
    with pytest.raises(TypeError, match=sentence):
        signature_of(function, layouts_of(BOX))
