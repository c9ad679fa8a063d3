"""Twice the size, twice the time: what is told of runs, replays and streams."""

from __future__ import annotations

import time

import pytest
from doubled import CASES, Case
from measuring import print_table

TIMES = (1, 16, 32, 64)
"""Times the size of the tests."""


def seconds(case: Case, times: int) -> float:
    told = case.made(times * case.size)
    began = time.process_time()
    told()
    return time.process_time() - began


@pytest.mark.benchmark
def test_what_is_told_of_twice_as_much() -> None:
    body = []
    for name, case in CASES.items():
        sizes = [one for one in TIMES if "animation" not in name or one <= 32]  # no more is drawn
        _, *measured = (seconds(case, one) for one in sizes)
        cells = [f"{one:.2f}" for one in measured] + [""] * (len(TIMES) - len(sizes))
        body.append((name, *cells, f"{measured[-1] / measured[-2]:.1f} x"))
    print_table(
        "What is told of larger runs, in processor seconds; the ratio of the last two (aim: 2 x)",
        ("", *(f"{one} x" for one in TIMES[1:]), "ratio"),
        body,
    )
