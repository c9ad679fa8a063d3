from __future__ import annotations

import numpy as np
import pytest
import simpy
from hypothesis import given
from hypothesis import strategies as st

from xc40io.config.machine import Machine, load_machine
from xc40io.machine.assembly import assemble
from xc40io.plane.site import Background, Occupants
from xc40io.run.fabric import fabric_of
from xc40io.storage.ssd.device import device_io, dirty_limits, make_ssds

KIB, MIB = 1 << 10, 1 << 20
SMALL = 4 * KIB


def machine(**changes: object) -> Machine:
    named = {name.replace("__", "."): value for name, value in changes.items()}
    return load_machine("theta").with_changes({"ssd.write_spread": 0.0} | named)


class Device:
    """The SSD of one node."""

    def __init__(self, **changes: object) -> None:
        described = machine(**changes)
        one, none = np.zeros(1, np.int32), np.zeros(0, np.int32)
        occupants = Occupants(one, none, none, 0)
        quiet = Background(0.0, 0.0)
        plane, _ = assemble(described, fabric_of(described), occupants, quiet, 1)
        self.ssds = plane.tables.ssds
        self.limits = self.ssds.limits

    def move(self, size: int, *, write: bool = False, now: float = 0.0) -> float:
        return device_io(self.ssds, 0, size, int(write), now)


def test_a_single_read_takes_its_request_its_bytes_and_its_latency() -> None:
    device = Device(ssd__request_time="10 us", ssd__read_latency="100 us")
    assert device.move(4 * KIB) == pytest.approx(10e-6 + 4 * KIB / 1e9 + 100e-6)


def test_a_long_transfer_runs_at_the_rate_of_the_device() -> None:
    device = Device(ssd__request_time="0 us", ssd__read_latency="100 us", ssd__queue_depth=64)
    assert device.move(64 * MIB) == pytest.approx(64 * MIB / 1e9 + 100e-6)


def test_with_one_request_under_way_every_one_waits_for_the_answer_to_the_last() -> None:
    device = Device(ssd__request_size=64 * KIB, ssd__queue_depth=1, ssd__request_time="0 us")
    each = 64 * KIB / 1e9 + device.limits.read_latency
    assert device.move(16 * 64 * KIB) == pytest.approx(16 * each)


def test_writes_are_slower_and_share_the_device_with_reads() -> None:
    device = Device()
    written = device.move(8 * MIB, write=True)
    assert written > 8 * MIB / 622e6
    assert device.move(8 * MIB) > written + 8 * MIB / 1e9 - 1e-3


@given(
    transfers=st.lists(
        st.tuples(st.floats(0.0, 0.01), st.integers(1, 256 * KIB), st.booleans()),
        min_size=1,
        max_size=8,
    ),
    depth=st.integers(1, 5),
)
def test_it_ends_transfers_when_a_model_of_queue_and_device_does(
    transfers: list[tuple[float, int, bool]], depth: int
) -> None:
    transfers.sort(key=lambda transfer: transfer[0])
    alike: dict[str, object] = {"ssd__read_latency": "80 us", "ssd__write_latency": "80 us"}
    device = Device(ssd__queue_depth=depth, ssd__request_size=SMALL * 16, **alike)
    limits = device.limits
    found = [device.move(size, write=write, now=start) for start, size, write in transfers]

    environment = simpy.Environment()
    queue, flash = simpy.Resource(environment, depth), simpy.Resource(environment, 1)
    ends = np.zeros(len(transfers))

    def request(number: int, start: float, size: int, write: bool):  # type: ignore[no-untyped-def]
        yield environment.timeout(start)
        with queue.request() as place:
            yield place
            with flash.request() as turn:
                yield turn
                rate = 622e6 if write else 1e9
                yield environment.timeout(limits.request_time + size / rate)
            yield environment.timeout(80e-6)
        ends[number] = max(ends[number], environment.now)

    for number, (start, size, write) in enumerate(transfers):
        for at in range(0, size, limits.request_size):
            piece = min(limits.request_size, size - at)
            environment.process(request(number, start, piece, write))
    environment.run()
    assert found == pytest.approx(ends.tolist(), rel=1e-9)


def test_devices_differ_in_writing_and_the_mean_is_the_machines() -> None:
    ssds, _ = make_ssds(load_machine("theta"), np.arange(4392, dtype=np.int32), 1)
    rates = 1.0 / ssds.write_seconds
    assert rates.mean() == pytest.approx(622e6, rel=0.01)
    assert rates.std() / rates.mean() == pytest.approx(0.064, rel=0.1)


def test_the_slowest_of_many_devices_explains_the_measured_rates() -> None:
    # 604, 497 and 486 MB/s a node on 1, 256 and 512 nodes (vol-cache, ssd_cache.pdf)
    nodes, theta = np.arange(512, dtype=np.int32), load_machine("theta")
    draws = [make_ssds(theta, nodes, seed)[0] for seed in range(20)]
    slowest = {n: np.mean([1 / ssds.write_seconds[:n].max() for ssds in draws]) for n in (256, 512)}
    assert slowest[256] == pytest.approx(497e6, rel=0.05)
    assert slowest[512] == pytest.approx(486e6, rel=0.05)


def test_a_machine_without_ssds_has_empty_tables() -> None:
    ssds, slots = make_ssds(load_machine("titan"), np.arange(4, dtype=np.int32), 1)
    assert len(ssds) == len(slots) == 0


def test_the_dirty_limits_are_shares_of_the_memory_that_programs_leave() -> None:
    described = machine()
    free, half = dirty_limits(described), dirty_limits(described, described.nodes.memory // 2)
    assert free.dirty == pytest.approx(0.2 * described.nodes.memory)
    assert half.background == pytest.approx(free.background / 2, abs=1)
