"""What is packed comes back as it was."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, PrivateAttr

from xc40io.archive.plain import Packer, Unpacker
from xc40io.config.errors import InputError
from xc40io.config.kept import NOT_KEPT, kept


@kept
class Colour(StrEnum):
    RED = "red"


@kept
class Place(IntEnum):
    FIRST = 1


@kept
class Pair(NamedTuple):
    left: Any
    right: Any = None


@kept
@dataclass(frozen=True, eq=True)
class Box:
    inside: Any
    live: Any = field(default=None, metadata=NOT_KEPT)


@kept
class Sheet(BaseModel):
    name: str
    lines: int = 3
    _source: dict[str, Pair] = PrivateAttr(default_factory=dict)


@kept(
    before={"settle": 0.0, "hit_rate": lambda fields: fields["rate"]},
    gone=("colour",),
)
class Disk(BaseModel):
    rate: float
    settle: float
    hit_rate: float


class Stranger(NamedTuple):
    x: int


def there_and_back(value: Any) -> Any:
    packer = Packer()
    text = json.dumps(packer.pack(value), allow_nan=False)
    return Unpacker(packer.columns).unpack(json.loads(text))


scalars = st.none() | st.booleans() | st.integers() | st.text() | st.floats(allow_nan=False)
keys = st.text() | st.integers() | st.sampled_from([Colour.RED, Place.FIRST]) | st.tuples(st.text())
values = st.recursive(
    scalars | st.sampled_from([Colour.RED, Place.FIRST]),
    lambda inner: (
        st.lists(inner)
        | st.lists(inner).map(tuple)
        | st.dictionaries(keys, inner)
        | st.builds(Pair, inner, inner)
        | st.builds(Box, inner)
    ),
)


def same(one: Any, other: Any) -> bool:
    """Whether two values are equal and of the same classes all the way down."""
    return one == other and repr(one) == repr(other)


@given(values)
def test_values_come_back(value: Any):
    assert same(there_and_back(value), value)


@pytest.mark.parametrize("dtype", ["<f8", "<f4", "<i8", "<i4", "|i1", "<u8", "|b1"])
@pytest.mark.parametrize("shape", [(), (0,), (5,), (100,), (3, 100), (100, 3), (40, 3, 2), (0, 3)])
@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_come_back_as_they_lay_in_memory(dtype: str, shape: tuple[int, ...], order: str):
    count = int(np.prod(shape))
    array = np.asarray(np.arange(count).reshape(shape) * 3 % 251, dtype=dtype, order=order)
    back = there_and_back(Box(array)).inside
    assert back.dtype == array.dtype
    assert np.array_equal(back, array)
    if count > 64:
        assert back.strides == array.strides


@pytest.mark.parametrize("size", [3, 300])
def test_what_is_no_finite_number_comes_back(size: int):
    array = np.full(size, np.nan)
    array[1], array[2] = np.inf, -np.inf
    assert np.array_equal(there_and_back(array), array, equal_nan=True)
    assert there_and_back((float("inf"), np.float64(2.5), np.int64(7))) == (float("inf"), 2.5, 7)


def test_an_array_that_is_there_twice_is_kept_once():
    packer, one = Packer(), np.arange(1000.0)
    packed = packer.pack({"a": one, "b": one.copy(), "c": one.reshape(10, 100), "d": one + 1})
    assert list(packer.columns) == ["a", "c", "d"]
    back = Unpacker(packer.columns).unpack(packed)
    assert np.array_equal(back["b"], one)
    assert back["c"].shape == (10, 100)


@pytest.mark.parametrize("size", [0, 3, 1000])
def test_records_come_back_field_by_field(size: int):
    layout = np.dtype([("op", "i4"), ("bytes", "i8"), ("mode", "i4"), ("end", "f8")], align=True)
    records = np.zeros(size, layout)
    records["op"], records["bytes"] = 7, np.arange(size)
    records["end"] = np.where(np.arange(size) % 2, np.inf, 0.1)
    back = there_and_back(records)
    assert back.dtype == layout
    np.testing.assert_array_equal(back, records)


def test_many_texts_are_a_column():
    packer, texts = Packer(), tuple(f"OST {number}" for number in range(100))
    packed = packer.pack({"few": ("a", "b"), "many": texts})
    assert list(packer.columns) == ["many"]
    assert Unpacker(packer.columns).unpack(packed) == {"few": ("a", "b"), "many": texts}


def test_a_field_that_is_not_kept_has_its_default():
    assert there_and_back(Box(1, live=object())) == Box(1)


def test_a_model_comes_back_with_what_was_given_and_what_is_its_own():
    sheet = Sheet(name="plan")
    sheet._source["here"] = Pair(1, 2)
    back = there_and_back(sheet)
    assert back == sheet
    assert back.model_fields_set == {"name"}
    assert back._source == {"here": Pair(1, 2)}


@pytest.mark.parametrize("value", [Stranger(3), object(), {1}, 3j])
def test_only_records_of_kept_classes_can_be_kept(value: Any):
    with pytest.raises(TypeError):
        Packer().pack({"deep": [value]})


@pytest.mark.parametrize(
    ("packed", "says"),
    [
        ({"is": "Stranger", "has": {"x": 1}}, "holds a Stranger"),
        ({"is": "Pair", "has": {"left": 1, "middle": 2}}, "Pair has middle"),
        ({"is": "Pair", "has": {"right": 1}}, "Pair lacks left"),
        ({"is": "Box", "has": {}}, "Box lacks inside"),
        ({"is": "Box", "has": {"inside": 1, "live": 2}}, "Box has live"),
        ({"is": "Sheet", "has": {"lines": 1}, "given": [], "own": None}, "Sheet lacks name"),
    ],
)
def test_what_another_version_wrote_is_refused_by_name(packed: Any, says: str):
    with pytest.raises(InputError, match=says):
        Unpacker({}).unpack(packed)


def test_a_field_that_came_later_has_its_default():
    assert Unpacker({}).unpack({"is": "Pair", "has": {"left": 1}}) == Pair(1, None)


def test_a_field_that_came_later_is_what_records_amounted_to_before():
    old = {"is": "Disk", "has": {"rate": 2.0, "colour": "red"}, "given": ["rate"], "own": None}
    assert Unpacker({}).unpack(old) == Disk(rate=2.0, settle=0.0, hit_rate=2.0)
    disk = Disk(rate=2.0, settle=1.0, hit_rate=3.0)
    assert there_and_back(disk) == disk


def test_two_classes_of_one_name_cannot_both_be_kept():
    other = type("Pair", (Pair,), {"__module__": "elsewhere"})
    with pytest.raises(TypeError, match="one name"):
        kept(other)
    assert there_and_back(Pair(1)) == Pair(1)
