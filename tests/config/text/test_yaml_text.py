"""YAML from anywhere is read as data, or refused in one sentence."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from xc40io.config.errors import InputError
from xc40io.config.text.yaml_text import parse_value, parse_yaml

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
DATA = st.recursive(
    SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20
)


def bomb(levels: int) -> str:
    """Return a text of a few lines that stands for ten to the power of `levels` words."""
    lines = ["a0: &a0 [" + ", ".join(["x"] * 10) + "]"]
    for level in range(1, levels):
        lines.append(f"a{level}: &a{level} [" + ", ".join([f"*a{level - 1}"] * 10) + "]")
    return "\n".join(lines)


@given(DATA)
def test_what_yaml_writes_is_read_back(data):
    assert parse_yaml(yaml.safe_dump(data), "here") == data


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused_in_a_sentence_that_names_the_place(text):
    try:
        parse_yaml(text, "here.yaml")
    except InputError as error:
        told = str(error)
    else:
        told = "here.yaml"
    assert told.startswith("here.yaml")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a: 1\na: 2\n", "here line 2: 'a' is given twice"),
        ("? [a, b]\n: 1\n", "here line 1: a key is a list or a mapping"),
        ("? {a: b}\n: 1\n", "here line 1: a key is a list or a mapping"),
        ("a: !!int x\n", "here line 1: is not valid YAML: 'x' is not a value of the type 'int'"),
        ("!!int x: 1\n", "'x' is not a value of the type 'int'"),
        ("a: !!float abc\n", "'abc' is not a value of the type 'float'"),
        ("a: !!timestamp x\n", "'x' is not a value of the type 'timestamp'"),
        ("a: 2020-99-99\n", "'2020-99-99' is not a value of the type 'timestamp'"),
        ("a: !!python/object:os.system {}\n", "could not determine a constructor"),
        (
            "a: 2:30\n",
            "here line 1: is not valid YAML: YAML reads '2:30' as 150; right would be plain",
        ),
        ("a: 1_0\n", "YAML reads '1_0' as 10"),
        ("a: 010\n", "YAML reads '010' as 8"),
        ("- " * 20_000, "here: nests more than 100 levels deep"),
        ("[" * 300, "here"),
        ("a: &a [*a]\n", "here: nests more than 100 levels deep"),
        (bomb(9), "stands for more than 1,000,000 values"),
    ],
)
def test_what_only_harms_a_reader_is_refused(text, told):
    with pytest.raises(InputError) as caught:
        parse_yaml(text, "here")
    assert told in str(caught.value)
    assert len(str(caught.value)) < 300


def test_aliases_that_stand_for_little_are_read():
    assert parse_yaml(bomb(3), "here")["a2"][0][0] == ["x"] * 10


def test_a_text_that_is_read_again_is_what_it_was_whoever_changed_the_first_one():
    text = "a: {b: [1, 2]}"
    parse_yaml(text, "it")["a"]["b"].append(3)
    assert parse_yaml(text, "it") == {"a": {"b": [1, 2]}}


def test_a_value_that_is_typed_is_named_with_its_option():
    assert parse_value("[1, 8m]", "--set x") == [1, "8m"]
    with pytest.raises(InputError, match=r"--set x: '\[1' is not a number, a size or a word"):
        parse_value("[1", "--set x")
