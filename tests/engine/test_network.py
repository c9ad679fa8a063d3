from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xc40io.engine.network import (
    STATION,
    Network,
    begin_segment,
    hop,
    make_network,
    serve,
    set_stations,
)
from xc40io.engine.pool import FREE, Pool, enlarge_pool, give, make_pool, take
from xc40io.engine.types import make_table

BINS, WIDTH = 8, 0.5


class Request(NamedTuple):
    gap: float  # seconds after the request before
    held: float
    size: float


requests = st.lists(
    st.builds(
        Request,
        gap=st.floats(0, 20),
        held=st.floats(0, 30),
        size=st.integers(0, 1 << 20).map(float),
    ),
    min_size=1,
    max_size=40,
)


def one_watched_station() -> Network:
    stations = make_table(STATION, 2)
    stations.row = [-1, 0]
    network = make_network(meters=1, messages=1)
    set_stations(network, stations, bins=BINS, bin_width=WIDTH)
    return network


@settings(max_examples=200)
@given(requests)
def test_time_bins_keep_all_bytes_and_busy_time(load: list[Request]) -> None:
    network, now = one_watched_station(), 0.0
    for request in load:
        now += request.gap
        serve(network, 1, now, request.size, request.held)
    station, bins = network.stations[1], network.bins
    width = bins.width[0]
    assert bins.bytes[0].sum() == station.bytes == sum(request.size for request in load)
    assert bins.busy[0].sum() == pytest.approx(station.busy, rel=1e-9)
    # No bin is busier than it is wide: a station serves one message after another.
    assert bins.busy[0].max() <= width * (1 + 1e-9)
    # The bins cover the run, and grow by doubling.
    assert station.free <= BINS * width * (1 + 1e-9)
    assert np.log2(width / WIDTH).is_integer()


def test_a_service_is_spread_over_the_bins_that_it_lasts() -> None:
    network = one_watched_station()
    serve(network, 1, 0.25, 100.0, 1.0)
    assert network.bins.busy[0].tolist() == [0.25, 0.5, 0.25, 0, 0, 0, 0, 0]
    assert network.bins.bytes[0].tolist() == [100, 0, 0, 0, 0, 0, 0, 0]


def test_folding_adds_neighbours() -> None:
    network = one_watched_station()
    for second in range(4):
        serve(network, 1, float(second), 10.0 * (second + 1), 0.25)
    serve(network, 1, 5.0, 50.0, 0.25)
    assert network.bins.width[0] == 1.0
    assert network.bins.bytes[0].tolist() == [10, 20, 30, 40, 0, 50, 0, 0]
    assert network.bins.busy[0].tolist() == [0.25] * 4 + [0.0, 0.25, 0.0, 0.0]


def test_a_station_that_nobody_watches_is_counted_but_not_over_time() -> None:
    network = one_watched_station()
    assert serve(network, 0, 1.0, 8.0, 2.0) == 1.0
    assert serve(network, 0, 1.5, 8.0, 2.0) == 3.0
    station = network.stations[0]
    assert (station.bytes, station.busy, station.waiting, station.requests) == (16, 4, 1.5, 2)
    assert (network.first[0], station.free) == (1.0, 5.0)
    assert network.bins.bytes.sum() == 0


def test_a_pool_hands_out_each_row_once() -> None:
    pool = make_pool(5)
    assert [take(pool) for _ in range(5)] == [0, 1, 2, 3, 4]
    give(pool, 3)
    assert take(pool) == 3


@given(st.data(), st.integers(1, 8), st.integers(0, 8))
def test_a_larger_pool_keeps_rows_in_use_apart(data: st.DataObject, size: int, more: int) -> None:
    pool = make_pool(size)
    used = [take(pool) for _ in range(data.draw(st.integers(0, size)))]
    for _ in range(data.draw(st.integers(0, len(used)))):
        give(pool, used.pop())
    pool = enlarge_pool(pool, size + more)
    assert sorted(used + _rest(pool)) == list(range(size + more))


def _rest(pool: Pool) -> list[int]:
    return [take(pool) for _ in range(int(pool.counts[FREE]))]


@pytest.mark.parametrize(
    ("now", "tail"),
    [
        (10.0, 20.0),  # the other way is idle again
        (4.0, 17.0),  # 3 of its 10 bytes in the 6 s in which both serve, and 7 in as many seconds
        (0.0, 15.0),
    ],
)
def test_a_station_is_slower_while_its_opposite_serves(now: float, tail: float) -> None:
    stations = make_table(STATION, 2)
    stations.inverse_rate = 1.0
    stations.opposite = [1, -1]
    stations.row = -1
    network = make_network(meters=1, messages=2)
    set_stations(network, stations, bins=BINS, bin_width=WIDTH, opposed=2.0)
    for message_id, start in enumerate((0.0, now)):
        network.messages[message_id].bytes = 10.0
        begin_segment(network, message_id, start, message_id, 0, 0, -1)
        hop(network, message_id, start)
    assert network.messages.tail.tolist() == [10.0, tail]
