"""The compiled streams against plain SimPy, and against what the field's simulators answer."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from simpy_streams import Load, Station, run_by_rule, run_with_resources
from streams import StationSpec, Streams, make_streams, run_streams

from xc40io.compiler.processor import processor
from xc40io.engine.compiled import is_compiling

TICK = 2.0**-12
"""Seconds. Rates are powers of two and all else a multiple of this: sums are exact, ties are ties.
"""


@st.composite
def loads(draw: st.DrawFn) -> Load:
    """Small networks on which many messages meet at the very same time."""
    ticks = st.integers(0, 6).map(lambda n: n * TICK)
    spec = st.builds(
        StationSpec,
        rate=st.sampled_from([2.0**k for k in range(12, 16)]),
        latency=ticks,
    )
    stations = draw(st.lists(spec, min_size=1, max_size=6))
    # A message passes a station once in a segment; it may come back to it in another one.
    numbers = st.integers(0, len(stations) - 1)
    segment = st.lists(numbers, min_size=1, max_size=4, unique=True)
    routes = draw(st.lists(st.lists(segment, min_size=1, max_size=3), min_size=1, max_size=5))
    order = st.tuples(st.integers(0, len(routes) - 1), st.integers(0, 64).map(float))
    orders = draw(st.lists(st.lists(order, max_size=6), min_size=1, max_size=8))
    windows = [draw(st.integers(1, 4)) for _ in orders]
    return Load(stations, routes, orders, windows)


def without_ties(load: Load, seed: int) -> Load:
    """Blur all times, so that no two messages meet at the very same time.

    Latencies are shorter than any service: else messages that come together leave together.
    """
    blur = np.random.default_rng(seed).uniform
    stations = [
        StationSpec(spec.rate * blur(0.5, 1.5), TICK * blur(0.001, 0.05)) for spec in load.stations
    ]
    orders = [[(route, size + blur(1, 64)) for route, size in order] for order in load.orders]
    return Load(stations, load.routes, orders, load.windows)


def compiled(load: Load) -> Streams:
    plane = make_streams(load.stations, load.routes, load.orders, load.windows)
    run_streams(plane)
    return plane


def assert_equal(plane: Streams, finish: list[float], stations: list[Station]) -> None:
    close = pytest.approx
    served = plane.network.stations
    assert plane.streams.finish.tolist() == close(finish, rel=1e-9, abs=0)
    assert served.bytes.tolist() == close([station.bytes for station in stations], rel=1e-9)
    assert served.busy.tolist() == close([station.busy for station in stations], rel=1e-9)
    assert served.waiting.tolist() == close(
        [station.waiting for station in stations], rel=1e-9, abs=1e-9 * (max(finish) + TICK)
    )
    assert served.requests.tolist() == [station.requests for station in stations]


@settings(max_examples=300)
@given(loads())
def test_streams_equal_the_rule_with_ties(load: Load) -> None:
    assert_equal(compiled(load), *run_by_rule(load))


@settings(max_examples=200)
@given(loads(), st.integers(0, 2**32))
def test_streams_equal_simpy_resources(load: Load, seed: int) -> None:
    load = without_ties(load, seed)
    assert_equal(compiled(load), *run_with_resources(load))


@settings(max_examples=100)
@given(loads())
def test_the_station_is_work_conserving_and_never_above_its_rate(load: Load) -> None:
    plane = compiled(load)
    network = plane.network
    for station, first, spec in zip(network.stations, network.first, load.stations, strict=True):
        assert station.bytes <= spec.rate * station.busy
        if station.requests:
            assert station.busy <= station.free - first


def test_one_message_cuts_through_a_segment_and_is_stored_between_segments() -> None:
    # 64 bytes at 64 bytes/s take 1 s at each station; 0.125 s later the head is at the next one.
    stations = [StationSpec(64.0, latency=0.125)] * 3
    cut_through = Load(stations, [[[0, 1, 2]]], [[(0, 64.0)]], [1])
    stored = Load(stations, [[[0], [1], [2]]], [[(0, 64.0)]], [1])
    assert compiled(cut_through).streams.finish[0] == 1.25
    assert compiled(stored).streams.finish[0] == 3.0


def test_a_slow_station_ahead_holds_the_tail_back() -> None:
    stations = [StationSpec(64.0), StationSpec(16.0), StationSpec(64.0, latency=0.5)]
    plane = compiled(Load(stations, [[[0, 1, 2]]], [[(0, 64.0)]], [1]))
    assert plane.streams.finish[0] == 4.5


def test_a_window_of_two_hides_the_round_of_the_first() -> None:
    stations = [StationSpec(64.0), StationSpec(64.0)]
    orders = [[(0, 64.0)] * 10]
    assert compiled(Load(stations, [[[0], [1]]], orders, [1])).streams.finish[0] == 20.0
    assert compiled(Load(stations, [[[0], [1]]], orders, [2])).streams.finish[0] == 11.0


def test_equal_times_are_served_in_the_order_of_the_streams() -> None:
    stations = [StationSpec(64.0)]
    plane = compiled(Load(stations, [[[0]]], [[(0, 64.0)]] * 5, [1] * 5))
    assert plane.streams.finish.tolist() == [1.0, 2.0, 3.0, 4.0, 5.0]


@pytest.mark.parametrize(
    ("rank_step", "bandwidth"),
    [
        pytest.param(1, 161.8e9, id="every rank starts at another server"),
        pytest.param(8, 152.7e9, id="one shared file in lock step"),
    ],
)
def test_parity_with_the_simulators_of_the_field(rank_step: int, bandwidth: float) -> None:
    """256 clients x 16 ranks x 8 MiB in requests of 1 MiB, one in flight for each rank.

    What a bare event heap with FIFO stations, lean SimPy callbacks, a SimPy process for each
    request and CODES on Theta's dragonfly agree on (161.8 to 162.3 GB/s). Fluid sharing does not
    (SimGrid: 135.8 and, in lock step, 51 GB/s): what it says depends on the discipline of a
    station, and ours is first come, first served.
    """
    clients, routers, servers, mib = 256, 30, 48, 1 << 20
    stations = [StationSpec(10e9, 5e-6)] * clients
    stations += [StationSpec(172e9 / routers, 5e-6)] * routers
    stations += [StationSpec(6e9, 5e-6)] * servers
    routes: list[list[list[int]]] = []
    orders: list[list[tuple[int, float]]] = []
    for rank in range(clients * 16):
        client = rank // 16
        order = []
        for request in range(8):
            router = clients + (client + request) % routers
            server = clients + routers + (rank_step * rank + request) % servers
            order.append((len(routes), float(mib)))
            routes.append([[client], [router], [server]])
        orders.append(order)
    plane = make_streams(stations, routes, orders, [1] * len(orders))
    run_streams(plane)
    total = plane.network.stations.bytes[:clients].sum()
    assert total == clients * 16 * 8 * mib
    assert total / plane.streams.finish.max() == pytest.approx(bandwidth, rel=0.02)


def bits() -> str:
    """Return what streams on a network of arbitrary numbers give, to the last bit."""
    random = np.random.default_rng(1)
    stations = [StationSpec(*numbers) for numbers in random.uniform(0.1, 1.0, (6, 2)).tolist()]
    routes = [[[0, 1, 2], [3]], [[4, 5], [0]]]
    orders = [[(i % 2, size) for i, size in enumerate(random.uniform(1, 9, 50))] for _ in range(4)]
    plane = compiled(Load(stations, routes, orders, [3] * len(orders)))
    return plane.streams.tobytes().hex() + plane.network.stations.tobytes().hex()


@pytest.mark.skipif(not is_compiling(), reason="nothing is compiled")
def test_another_kind_of_processors_gives_the_very_same_bits() -> None:
    """Code for processors that could contract products and sums does not do it."""
    if "x86-64" not in processor():
        pytest.skip("these kinds are of another architecture")
    flags = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    newer = "x86-64-v3" if {"fma", "avx2", "bmi2"} <= set(flags.split()) else "x86-64"
    paths = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    told = subprocess.run(
        [sys.executable, "-c", "from test_streams import bits; print(bits())"],
        env=os.environ | {"PYTHONPATH": paths, "XC40IO_PROCESSOR": newer},
        check=True,
        capture_output=True,
        text=True,
    )
    assert told.stdout.strip() == bits()
