"""Which of its candidate routes a message takes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xc40io.engine.network import STATION, make_network
from xc40io.engine.types import make_table
from xc40io.network.aries import choose_route

NOW = 10.0
MINIMAL = 2


def chosen(routes: list[list[float]], *, bias: float = 1.0, latency: float = 1e-6) -> int:
    """Return which route is taken, each given by the seconds that the queues on its links last.

    The first two are minimal.
    """
    queues = np.array([seconds for route in routes for seconds in route])
    network = make_network(meters=1, messages=1)
    network.stations = make_table(STATION, len(queues))
    network.stations.latency = latency
    network.stations.free = NOW + queues
    network.path = np.arange(len(queues), dtype=np.int32)
    stop = np.cumsum([len(route) for route in routes])
    start = stop - [len(route) for route in routes]
    table = np.stack([start, stop], axis=1).astype(np.int32)
    return int(choose_route(network, table, MINIMAL, bias, NOW))


def test_a_minimal_route_wins_ties() -> None:
    assert chosen([[0.0], [0.0], [0.0], [0.0]]) == 0
    assert chosen([[2.0], [1.0], [1.0], [1.0]]) == 1


def test_without_queues_the_shortest_route_is_taken() -> None:
    assert chosen([[0.0, 0.0], [0.0, 0.0], [0.0, 0.0, 0.0], [0.0]]) == 3


def test_a_long_way_round_a_queue_is_worth_while() -> None:
    assert chosen([[1.0], [1.0], [0.0, 0.0, 0.0], [0.5, 0.0, 0.0]]) == 2


@pytest.mark.parametrize(("bias", "taken"), [(1.0, 2), (1.9, 2), (2.0, 0), (3.0, 0)])
def test_the_bias_makes_queues_count_more_on_routes_that_are_not_minimal(
    bias: float, taken: int
) -> None:
    """Powers of two: the sums are exact."""
    routes = [[0.5], [0.75], [0.25], [0.375]]
    assert chosen(routes, bias=bias, latency=0.0) == taken


def test_a_link_that_has_been_idle_for_long_is_no_better_than_a_free_one() -> None:
    assert chosen([[0.0], [-5.0], [-5.0], [-5.0]]) == 0


queues = st.lists(st.integers(0, 8).map(float), min_size=1, max_size=4)


@given(st.lists(queues, min_size=4, max_size=4))
def test_no_candidate_delivers_earlier(routes: list[list[float]]) -> None:
    taken = routes[chosen(routes, latency=1.0)]
    assert sum(taken) + len(taken) == min(sum(route) + len(route) for route in routes)
