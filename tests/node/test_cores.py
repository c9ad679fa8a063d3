"""Who runs where on a node, and what copying costs there."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xc40io.engine.network import STATION, Network, make_network, set_stations
from xc40io.engine.page import PAGE
from xc40io.engine.types import Floats, make_table
from xc40io.node.cores import copy, idle_cores, list_handover, rank_cores

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


@given(nodes, per_node, usable, st.booleans())
def test_helpers_have_cores_without_a_rank_if_there_are_any(
    nodes: int, per_node: int, usable: int, bound: bool
) -> None:
    ranks = rank_cores(nodes, per_node, usable, bound=bound, seed=1)
    helpers = idle_cores(ranks, per_node, usable)
    for taken, chosen in zip(ranks.reshape(nodes, -1), helpers.reshape(nodes, -1), strict=True):
        idle = set(range(usable)) - set(taken.tolist())
        if idle:
            assert set(chosen.tolist()) <= idle
            assert len(set(chosen.tolist())) == min(len(idle), per_node)
        else:
            assert (chosen == taken).all()


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
    network = make_network(meters=1, messages=1)
    set_stations(network, table, bins=2, bin_width=1.0)
    return network


def test_one_core_copies_at_its_own_pace() -> None:
    node = node_of([np.inf, np.inf, 1000.0])
    assert copy(node, 0, 2, 100.0, 0.5, 0.1, 0.0, 1.0) == 1.5


def test_a_core_serves_one_piece_of_work_after_another() -> None:
    node = node_of([np.inf, np.inf, 1000.0])
    assert [copy(node, 0, 2, 100.0, 0.5, 0.1, 0.0, 0.0) for _ in range(3)] == [0.5, 1.0, 1.5]


@pytest.mark.parametrize(("copies", "seconds"), [(1, 0.5), (5, 0.5), (8, 0.8)])
def test_all_cores_together_are_bounded_by_the_memory(copies: int, seconds: float) -> None:
    node = node_of([np.inf] * copies + [1000.0])
    ends = [copy(node, core, copies, 100.0, 0.5, 0.1, 0.0, 0.0) for core in range(copies)]
    assert max(ends) == pytest.approx(seconds)


def ends_of_copies(cores: int, seconds: float, handover: float) -> Floats:
    """Return when the pieces end, of which each core of a node copies 40, one after another.

    A piece of 100 bytes takes the memory 0.1 s, and a core so many seconds.
    """
    node = node_of([np.inf] * cores + [1000.0])
    free = np.zeros(cores)
    ends = []
    for _ in range(40 * cores):
        core = int(np.argmin(free))
        free[core] = copy(node, core, cores, 100.0, seconds, 0.1, handover / 100.0, free[core])
        ends.append(free[core])
    return np.sort(ends)


@given(st.integers(2, 64), st.floats(0.05, 0.9), st.floats(1e-6, 0.03))
def test_each_core_that_waits_delays_the_others(cores: int, busy: float, handover: float) -> None:
    """All wait but the one that is served and those that are at work elsewhere (Little's law)."""
    seconds = busy * cores * 0.1
    ends = ends_of_copies(cores, seconds, handover)
    step = float(ends[-1] - ends[20 * cores]) / (20 * cores - 1)
    waiting = cores - 1 - max(seconds - 0.1, 0.0) / step
    assert step == pytest.approx(0.1 + waiting * handover, rel=0.02)


@given(st.integers(1, 9), st.floats(1e-6, 0.05))
def test_cores_that_the_memory_can_feed_do_not_delay_each_other(
    cores: int, handover: float
) -> None:
    assert ends_of_copies(cores, 1.0, handover)[-1] == pytest.approx(40.0)


def test_a_core_puts_several_pages_at_a_time_on_the_list_of_its_numa_node() -> None:
    assert list_handover(14e-6, 1, 14) * PAGE == pytest.approx(1e-6)
    assert list_handover(14e-6, 2, 14) * PAGE == pytest.approx(0.25e-6)
