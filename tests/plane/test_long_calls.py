"""Calls that are longer than Linux moves at once."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from xc40io.engine.page import MOST_A_CALL
from xc40io.plane.batch import Batch
from xc40io.plane.long_calls import calls_for, cut_long_calls
from xc40io.plane.operations import Op, Operations

KINDS = st.sampled_from([Op.READ, Op.WRITE])
LENGTHS = st.one_of(
    st.integers(1, 1 << 20),
    st.integers(1, 4).map(lambda calls: calls * MOST_A_CALL),
    st.integers(1, 5 * MOST_A_CALL),
)
RUNS = st.lists(
    st.tuples(KINDS, st.integers(0, 1 << 40), LENGTHS, st.integers(1, 4)), min_size=1, max_size=6
)


def calls_of(operations: Operations) -> Iterator[tuple[int, int, int]]:
    """Yield each call that operations make: kind, offset and length."""
    for one in operations:
        for call in range(int(one["count"])):
            yield int(one["kind"]), int(one["offset"] + call * one["stride"]), int(one["length"])


@given(programs=st.lists(RUNS, min_size=1, max_size=3))
def test_a_long_call_is_made_as_a_loop_over_short_ones_makes_it(
    programs: list[list[tuple[Op, int, int, int]]],
) -> None:
    batch = Batch(np.arange(len(programs)))
    for program, listed in enumerate(programs):
        for kind, offset, length, count in listed:
            where = {"offset": offset, "length": length, "stride": 3 * length, "count": count}
            batch.add(kind, np.array([program]), **where)
    operations, bounds = batch.listing()
    for program, listed in enumerate(programs):
        expected = []
        for kind, offset, length, count in listed:
            for call in range(count):
                done = 0
                while done < length:  # as IOR does with what a call returns
                    moved = min(length - done, 0x7FFFF000)
                    expected.append((int(kind), offset + call * 3 * length + done, moved))
                    done += moved
        mine = operations[bounds[program] : bounds[program + 1]]
        assert list(calls_of(mine)) == expected
        assert sum(calls_for(length) * count for _, _, length, count in listed) == len(expected)


def test_an_item_skips_all_that_its_calls_have_become() -> None:
    batch = Batch(np.arange(1))
    batch.add(Op.ITEM, count=2)
    batch.add(Op.WRITE, length=2 * MOST_A_CALL + 5, stride=0, count=1)
    batch.add(Op.CLOSE)
    batch.add(Op.STAT)
    operations, _ = batch.listing()
    assert operations["kind"].tolist() == [Op.ITEM, Op.WRITE, Op.WRITE, Op.CLOSE, Op.STAT]
    assert operations["count"][0] == 3


def test_calls_that_fit_stay_as_they_are() -> None:
    batch = Batch(np.arange(2))
    batch.add(Op.READ, length=MOST_A_CALL, stride=MOST_A_CALL, count=7)
    operations, bounds = batch.listing()
    same, as_before = cut_long_calls(operations, bounds)
    assert same is operations
    assert as_before is bounds
