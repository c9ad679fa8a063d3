"""Runs of rows that are taken and given back, beside a set of rows."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xc40io.engine.pool import Spans


@given(st.lists(st.tuples(st.booleans(), st.integers(1, 6)), max_size=40))
def test_rows_are_never_in_two_hands(steps: list[tuple[bool, int]]) -> None:
    spans, free, held = Spans(), set(range(50)), list[tuple[int, int]]()
    spans.give(0, 50)
    for takes, count in steps:
        if takes:
            first = spans.take(count)
            if first is None:
                assert not any(set(range(at, at + count)) <= free for at in range(50))
                continue
            taken = set(range(first, first + count))
            assert taken <= free
            free -= taken
            held.append((first, count))
        elif held:
            first, count = held.pop(count % len(held))
            spans.give(first, count)
            free |= set(range(first, first + count))
        assert spans.rows == len(free)


def test_rows_are_given_back_once() -> None:
    spans = Spans()
    spans.give(4, 3)
    with pytest.raises(ValueError, match="rows from 6 on are given back twice"):
        spans.give(6, 1)
