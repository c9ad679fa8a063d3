"""What is told of twice as much costs at most twice as much: nothing is quadratic."""

from __future__ import annotations

import pytest
from doubled import CASES, calls

MOST = 2.1
"""Times as many calls of functions for twice the size."""


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.slow) if "page" in name else name for name in CASES],
)
def test_twice_the_size_costs_at_most_twice_as_much(name: str) -> None:
    case = CASES[name]
    case.made(1 if "nodes" not in name else 2)()  # what is done once for all
    small, large = (calls(case.made(times * case.size)) for times in (1, 2))
    assert large <= MOST * small
