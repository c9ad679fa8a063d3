from __future__ import annotations

from typing import NamedTuple

import numpy as np

from xc40io.engine.compiled import njit
from xc40io.engine.component import Component
from xc40io.engine.mould import Mould
from xc40io.engine.pool import FREE, Pool, make_pool, take
from xc40io.engine.types import CACHE_LINE, Floats, Integers, Table, make_table

THING = np.dtype([("next", "i4", 2), ("time", "f8")], align=True)


class Parts(NamedTuple):
    next: Integers  # of all things
    nothing: Floats
    limit: int


class Lower(Component):
    factor: int
    shift: float
    things: Table
    spare_things: Pool
    parts: Parts


class Middle(Component):
    lower: Lower
    idle: Floats


class Upper(Component):
    lower: Lower
    middle: Middle
    served: Floats


def built() -> Upper:
    things = make_table(THING, 5)
    things.time = np.arange(5) / 4
    lower = Lower(
        factor=3,
        shift=0.5,
        things=things,
        spare_things=make_pool(5),
        parts=Parts(things["next"], np.zeros(0), 7),
    )
    middle = Middle(lower=lower, idle=np.zeros(4000))
    return Upper(lower=lower, middle=middle, served=np.ones((2, 3, 4), order="F")[:, 1:])


@njit
def work(upper: Upper) -> float:
    lower, middle = upper.lower, upper.middle
    row = take(lower.spare_things)
    lower.things[row].next[1] = lower.factor + lower.parts.limit
    middle.idle[3999] += lower.shift
    upper.served[1, 1, row] += 1.0
    lower = middle.lower
    return lower.parts.next[row, 1] + middle.idle[3999] + upper.served[1, 1, row] + len(middle.idle)


def test_a_copy_works_as_what_was_built() -> None:
    mould, first = Mould(built()), built()
    done = work(first), work(first)
    for copy in (mould.cast(), mould.cast()):
        assert (work(copy), work(copy)) == done
        assert copy.lower.things.tobytes() == first.lower.things.tobytes()
        assert (copy.middle.idle == first.middle.idle).all()
        assert copy.lower.spare_things.counts[FREE] == 3


def test_what_lies_in_the_same_place_does_so_in_a_copy() -> None:
    mould = Mould(built())
    one, other = mould.cast(), mould.cast()
    one.lower.things.next[4, 0] = 9
    assert one.lower.parts.next[4, 0] == 9
    assert one.middle.lower is one.lower
    assert not np.shares_memory(one.lower.things, one.lower.spare_things.rows)
    assert other.lower.things.next[4, 0] == 0


def test_a_copy_has_the_layout_and_the_lines_of_the_cache() -> None:
    upper = built()
    copy = Mould(upper).cast()
    assert copy.layout is upper.layout
    assert copy.served.strides == upper.served.strides
    assert type(copy.lower.things) is np.recarray
    assert copy.lower.things.ctypes.data % CACHE_LINE == 0


def test_a_table_of_a_copy_can_be_replaced() -> None:
    mould = Mould(built())
    grown, other = mould.cast(), mould.cast()
    grown.lower.grow("things", 9)
    work(grown)
    assert len(grown.lower.things) == 9
    assert len(other.lower.things) == 5
    assert grown.lower.things[0].next.tolist() == [0, 10]
