from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from xc40io.engine.compiled import njit
from xc40io.engine.component import Component
from xc40io.engine.pool import FREE, NoRowLeftError, Pool, give, make_pool, reserve, take
from xc40io.engine.types import Floats, Integers, Table, make_table

THING = np.dtype([("length", "i8"), ("time", "f8")], align=True)


class Pair(NamedTuple):
    first: Integers
    second: Floats


class Lower(Component):
    factor: int
    shift: float
    things: Table
    spare_things: Pool
    pair: Pair


class Upper(Component):
    lower: Lower
    matrix: Floats


def built() -> Upper:
    lower = Lower(
        factor=3,
        shift=1,  # a whole number where a float is declared
        things=make_table(THING, 4),
        spare_things=make_pool(4),
        pair=Pair(np.arange(3), np.array([0.5, 1.5])),
    )
    return Upper(lower=lower, matrix=np.arange(6.0).reshape(2, 3))


@njit
def read_all(upper: Upper, row: int) -> float:
    lower = upper.lower
    lower.things[row].length += lower.factor
    return lower.shift + lower.pair.first[2] + lower.pair.second[1] + upper.matrix[1, row]


@njit
def take_thing(lower: Lower) -> int:
    return take(lower.spare_things)


def test_compiled_code_reads_every_kind_of_field() -> None:
    upper = built()
    assert read_all(upper, 2) == 1.0 + 2 + 1.5 + 5.0
    assert upper.lower.things.length.tolist() == [0, 0, 3, 0]


def test_a_table_that_has_grown_is_seen_through_those_above_it() -> None:
    upper = built()
    upper.matrix = np.arange(20.0).reshape(2, 10)
    upper.lower.grow("things", 10)
    assert read_all(upper, 9) == 1.0 + 2 + 1.5 + 19.0
    assert upper.lower.things.length.tolist() == [0] * 9 + [3]
    assert sorted(take_thing(upper.lower) for _ in range(10)) == list(range(10))


def test_a_field_that_is_missing_or_unknown_is_refused() -> None:
    with pytest.raises(TypeError, match="missing or unknown: matrix"):
        Upper(lower=built().lower)
    with pytest.raises(TypeError, match="has no field rows"):
        built().rows = 3


def test_a_table_cannot_become_one_of_another_kind() -> None:
    with pytest.raises(TypeError, match=r"Lower\.things cannot become"):
        built().lower.things = np.zeros(3)


def test_a_field_of_another_kind_is_refused() -> None:
    lower = built().lower
    with pytest.raises(TypeError, match=r"Lower\.factor cannot become float"):
        lower.factor = 2.5
    with pytest.raises(TypeError, match=r"Lower\.pair cannot become Pool"):
        lower.pair = lower.spare_things
    with pytest.raises(TypeError, match=r"Lower\.things cannot become <f8 2C"):
        lower.things = np.zeros((3, 3))
    assert read_all(built(), 2) == 1.0 + 2 + 1.5 + 5.0


def test_compiled_code_reads_a_table_however_it_lies() -> None:
    upper, wide = built(), np.arange(20.0).reshape(4, 5)
    pair = Pair(np.arange(9)[::-3], np.array([0.5, 1.5], ">f8"))
    for matrix in (wide[1:, 1:], wide[::-1, ::-2], wide.T, wide.astype(">f8")):
        upper.matrix, upper.lower.pair = matrix, pair
        assert read_all(upper, 1) == 1.0 + pair.first[2] + 1.5 + matrix[1, 1]
        lying = Upper(lower=upper.lower, matrix=matrix)
        assert read_all(lying, 1) == read_all(upper, 1)


def test_a_table_that_lies_right_stays_the_same_object() -> None:
    upper = built()
    whole, pair = np.arange(20.0).reshape(4, 5), Pair(np.arange(3), np.arange(2.0))
    upper.matrix, upper.lower.pair = whole[1:3], pair
    assert upper.lower.pair is pair
    whole[2, 0] = 100.0
    assert read_all(upper, 0) == 1.0 + 2 + 1.0 + 100.0


def test_a_component_knows_its_pools_and_what_it_uses() -> None:
    upper = built()
    assert upper.uses() == {"lower": upper.lower}
    assert list(upper.lower.pools()) == ["things"]


def test_taking_from_an_empty_pool_raises() -> None:
    lower = built().lower
    for _ in range(4):
        take_thing(lower)
    with pytest.raises(NoRowLeftError):
        take_thing(lower)
    assert lower.spare_things.counts[FREE] == 0
    give(lower.spare_things, 2)
    assert take_thing(lower) == 2


def test_rows_are_reserved_only_beyond_those_that_others_need() -> None:
    pool = make_pool(10)
    pool.counts[1] = 4
    assert reserve(pool, 5)
    assert not reserve(pool, 6)
    assert pool.counts.tolist() == [10, 4, 6]
