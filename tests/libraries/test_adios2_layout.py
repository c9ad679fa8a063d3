"""Who writes what where in ADIOS 2, by the rules of its source."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xc40io.libraries.adios2_layout import MOST_AT_ONCE, Parameters, grouping

MIB = 1 << 20


def nodes(count: int, ppn: int) -> Any:
    return np.repeat(np.arange(count, dtype=np.int32), ppn)


GROUPS: dict[str, tuple[dict[str, Any], list[int], list[int]]] = {
    # On three nodes of four ranks: the parameters, the aggregators, the subfile of each.
    "one a node": ({}, [0, 4, 8], [0, 1, 2]),
    "never fewer than a node": ({"num_aggregators": 1}, [0, 4, 8], [0, 1, 2]),
    "rounded down": ({"num_aggregators": 8}, [0, 2, 4, 6, 8, 10], [0, 1, 2, 3, 4, 5]),
    "fewer files": ({"num_sub_files": 1}, [0, 4, 8], [0, 0, 0]),
    "neighbours share": (
        {"num_aggregators": 6, "num_sub_files": 2},
        [0, 2, 4, 6, 8, 10],
        [0, 0, 0, 1, 1, 1],
    ),
    "no more files than aggregators asked for": (
        {"num_aggregators": 1, "num_sub_files": 3},
        [0, 4, 8],
        [0, 0, 0],
    ),
    "ratio": ({"aggregator_ratio": 2}, [0, 2, 4, 6, 8, 10], [0, 1, 2, 3, 4, 5]),
    "every rank": ({"num_aggregators": 99}, list(range(12)), list(range(12))),
    "all write": ({"aggregation_type": "EveryoneWrites", "num_aggregators": 2}, [0, 6], [0, 1]),
    "all write, a node": ({"aggregation_type": "EveryoneWrites"}, [0, 4, 8], [0, 1, 2]),
    "all write, files": (
        {"aggregation_type": "EveryoneWritesSerial", "num_sub_files": 5},
        [0, 3, 6, 8, 10],
        [0, 1, 2, 3, 4],
    ),
    "BP4": ({"engine": "BP4", "num_aggregators": 5}, [0, 3, 6, 8, 10], [0, 1, 2, 3, 4]),
    "BP4 knows no files": ({"engine": "BP4", "num_sub_files": 5}, [0, 4, 8], [0, 1, 2]),
}


@pytest.mark.parametrize("name", GROUPS)
def test_groups_and_their_subfiles(name: str) -> None:
    told, leaders, subfiles = GROUPS[name]
    found = grouping(Parameters(**told), nodes(3, 4))
    assert (found.leader.tolist(), found.subfile.tolist()) == (leaders, subfiles)
    assert found.size.sum() == 12
    assert (found.leader[found.of] <= np.arange(12)).all()


@given(
    st.integers(1, 5), st.integers(1, 9), st.integers(0, 50), st.integers(0, 50), st.integers(0, 9)
)
def test_aggregators_never_serve_two_nodes_by_shared_memory(
    count: int, ppn: int, aggregators: int, files: int, ratio: int
) -> None:
    told = Parameters(num_aggregators=aggregators, num_sub_files=files, aggregator_ratio=ratio)
    node = nodes(count, ppn)
    found = grouping(told, node)
    assert (node[found.leader[found.of]] == node).all()
    assert sorted(set(found.subfile.tolist())) == list(range(found.subfiles))
    assert not files or found.subfiles <= max(files, 1) or told.aggregators(len(node)) < files


@pytest.mark.parametrize(
    ("told", "variable", "variables", "calls"),
    [
        ({}, 4 * MIB - 8, 3, [12 * MIB - 16]),  # copied, filled up to 16 bytes
        ({}, 4 * MIB, 9, [32 * MIB, 4 * MIB]),  # eight pieces of memory in a call
        ({"async_write": True}, 4 * MIB, 9, [36 * MIB]),
        ({"buffer_chunk_size": 100}, 40, 5, [80 + 80 + 48]),
        ({}, 300 * MIB, 8, [300 * MIB] * 8),  # too many for one call: one by one
        ({}, 4096 * MIB, 1, [MOST_AT_ONCE, MOST_AT_ONCE, 204800]),
        ({"min_deferred_size": 0}, 24, 3, [80]),
    ],
)
def test_calls_of_a_rank(
    told: dict[str, Any], variable: int, variables: int, calls: list[int]
) -> None:
    assert Parameters(**told).calls(variable, variables) == calls


def test_buffers_in_shared_memory_are_bounded() -> None:
    assert Parameters().shm_block(1000) == 1024
    bounded = Parameters(max_shm_size=65536)
    assert bounded.shm_block(160_000) == 32_704
    assert bounded.shm_block(100) == 128


def test_memory_of_a_node() -> None:
    size = np.full(8, 40 * MIB)
    node = nodes(2, 4)

    def of_node(variables: int = 1, **told: Any) -> int:
        parameters = Parameters(**told)
        found = parameters.memory(grouping(parameters, node), size, variables)
        return int(np.bincount(node, found)[0])

    assert of_node() == 2 * 40 * MIB  # nothing is copied; two buffers in shared memory
    assert of_node(variables=40) == (4 + 2) * 40 * MIB  # small arrays are copied
    assert of_node(async_write=True) == (4 + 2) * 40 * MIB
    assert of_node(max_shm_size=MIB) < MIB
    assert of_node(aggregation_type="EveryoneWrites") == 0
    assert of_node(engine="BP4") == (4 + 4) * 40 * MIB  # each passes on what comes from behind
    assert of_node(engine="BP4", num_aggregators=8) == 4 * 40 * MIB
