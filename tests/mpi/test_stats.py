"""What is counted of the accesses to a file."""

from __future__ import annotations

import numpy as np
import pytest

from xc40io.lustre.striping import Layout
from xc40io.mpi.stats import DirectionCounts


@pytest.mark.parametrize(
    ("aggregators", "active", "place"),
    [(1, 1, 0), (8, 1, 0), (8, 4, 1), (8, 5, 2), (8, 8, 3), (8, 0, None)],
)
def test_collective_calls_are_told_apart_by_their_active_aggregators(aggregators, active, place):
    counts = DirectionCounts()
    counts.add_collective(64, 1000, aggregators=aggregators, active=active)
    assert counts.collective == 64
    assert counts.active.tolist() == [64 if i == place else 0 for i in range(4)]


def test_a_rank_counts_once_however_often_it_calls():
    counts = DirectionCounts()
    counts.add_independent(np.array([3, 3, 1]), 30)
    counts.add_independent(np.array([3]), 10)
    assert (counts.independent, counts.ranks.tolist(), counts.bytes) == (4, [1, 3], 40)


def test_runs_of_system_calls_count_each_call():
    counts = DirectionCounts()
    counts.add_system(np.array([64, 10]), Layout.striped(64, range(4)), np.array([5, 2]))
    assert (counts.system, counts.stripe_sized, counts.system_bytes) == (7, 5, 340)
