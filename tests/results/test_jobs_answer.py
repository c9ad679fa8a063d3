"""What is printed about several jobs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xc40io.results.jobs_answer import node_text
from xc40io.run.jobs import JobPhase
from xc40io.topology import parse_node_list


@given(st.lists(st.integers(0, 60), min_size=1, unique=True))
def test_node_ranges_read_back_as_the_same_nodes(nodes: list[int]) -> None:
    text, _, more = node_text(np.array(nodes, np.int32)).partition(" and ")
    shown = parse_node_list(text).tolist()
    assert shown == nodes[: len(shown)]
    assert (len(shown) < len(nodes)) == bool(more)


def test_a_range_is_written_with_both_its_ends() -> None:
    assert node_text(np.array([0, 1, 2, 7, 9, 10])) == "0-2,7,9-10"
    assert node_text(np.arange(0, 20, 2)) == "0,2,4,6 and 6 more"


def test_slow_down_of_a_phase_is_that_of_its_time_or_of_its_rate() -> None:
    phase = JobPhase("write", 100, 4.0)
    assert phase.slowdown(None) is None
    assert phase.slowdown(JobPhase("write", 100, 2.0)) == 2.0
    assert phase.slowdown(JobPhase("write", 200, 4.0)) == 2.0  # stopped by a deadline both times
    assert JobPhase("open", 0, 3.0).slowdown(JobPhase("open", 0, 2.0)) == pytest.approx(1.5)
    assert JobPhase("write", 0, 3.0).bandwidth is None
