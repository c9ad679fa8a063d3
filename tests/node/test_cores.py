"""Who runs where on a node, and what copying costs there."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.engine.network import STATION, Network, make_network
from sim.engine.types import make_table
from sim.node.cores import copy, rank_cores

nodes = st.integers(1, 5)
per_node = st.integers(1, 300)
usable = st.integers(1, 64)


@given(nodes, per_node, usable, st.booleans())
def test_every_rank_has_a_core_and_none_is_a_system_core(
    nodes: int, per_node: int, usable: int, bound: bool
) -> None:
    cores = rank_cores(nodes, per_node, usable, bound=bound, seed=1)
    assert cores.shape == (nodes * per_node,)
    assert cores.min() >= 0
    assert cores.max() < usable


@given(nodes, per_node, usable)
def test_bound_ranks_share_a_core_only_if_there_are_too_few(
    nodes: int, per_node: int, usable: int
) -> None:
    cores = rank_cores(nodes, per_node, usable, bound=True, seed=1).reshape(nodes, per_node)
    for node in cores:
        ranks_on_core = np.bincount(node, minlength=usable)
        assert ranks_on_core.max() == -(-per_node // usable)
        if per_node <= usable:
            assert len(set(node.tolist())) == per_node


def test_bound_ranks_are_spread_evenly_over_the_node() -> None:
    assert rank_cores(2, 4, 64, bound=True, seed=1).tolist() == [0, 16, 32, 48] * 2


def test_where_unbound_ranks_land_follows_from_the_seed() -> None:
    first, again, other = (rank_cores(4, 16, 64, bound=False, seed=s) for s in (1, 1, 2))
    assert first.tolist() == again.tolist()
    assert first.tolist() != other.tolist()
    assert first[:16].tolist() != first[16:32].tolist()  # nodes differ as well


def test_some_unbound_ranks_share_a_core_while_others_idle() -> None:
    cores = rank_cores(1, 32, 64, bound=False, seed=1)
    assert len(set(cores.tolist())) < 32


def node_of(rates: list[float]) -> Network:
    """Return cores without a pace of their own, and at last a memory with a rate."""
    table = make_table(STATION, len(rates))
    table.inverse_rate = 1.0 / np.array(rates)
    table.row = -1
    path = np.zeros(0, np.int32)
    return make_network(table, path, kinds=1, messages=1, events=1, bins=2, bin_width=1.0)


def test_one_core_copies_at_its_own_pace() -> None:
    node = node_of([np.inf, np.inf, 1000.0])
    assert copy(node, 0, 2, 100.0, 0.5, 1.0) == 1.5


def test_a_core_serves_one_piece_of_work_after_another() -> None:
    node = node_of([np.inf, np.inf, 1000.0])
    assert [copy(node, 0, 2, 100.0, 0.5, 0.0) for _ in range(3)] == [0.5, 1.0, 1.5]


@pytest.mark.parametrize(("copies", "seconds"), [(1, 0.5), (5, 0.5), (8, 0.8)])
def test_all_cores_together_are_bounded_by_the_memory(copies: int, seconds: float) -> None:
    node = node_of([np.inf] * copies + [1000.0])
    ends = [copy(node, core, copies, 100.0, 0.5, 0.0) for core in range(copies)]
    assert max(ends) == pytest.approx(seconds)
