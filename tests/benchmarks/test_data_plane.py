"""The data plane against plain SimPy and against its own calendar on the Theta path, in one run."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from statistics import median
from typing import NamedTuple

import pytest
from bare_calendar import EVENTS, bare_loop
from measuring import print_table, theta
from simpy_models import Work, lean_callbacks, process_per_rpc, theta_write

from xc40io.config.scenario import Scenario
from xc40io.plane.stations import StationKind
from xc40io.run.result import Result
from xc40io.run.simulate import simulate

NODES, PPN, STRIPES = 256, 16, 48
LEAN_MIB, PROCESS_MIB = 8, 2  # a rank
REPETITIONS = 3
OWN = "-F -e -b 256m -t 4m"
DIRECT = f"{OWN} -B"
SHARED = "-e -b 48m -t 8m"
DIRECT_WRITE, LIMIT = "write, own files, O_DIRECT", "bare loop over the calendar"
LEAN, PROCESS = "SimPy, lean callbacks, write", "SimPy, process per RPC, write"
IN_FLIGHT = 4  # RPCs of a rank's direct call


class Sample(NamedTuple):
    wall: float
    rpcs: int
    events: int


def data_plane(ior: str) -> Result:
    """Simulate a run of IOR, in files of one stripe or in one file of stripes of 8 MiB."""
    count, size = (1, "1m") if "-F" in ior else (STRIPES, "8m")
    job = theta(ior, NODES, PPN, stripe_count=count, stripe_size=size)
    return simulate(Scenario.model_validate(job))


def sample(ior: str) -> Sample:
    result = data_plane(ior)
    return Sample(result.wall, result.rpcs, result.events)


def simpy_model(model: Callable[[Work], int], work: Work) -> Sample:
    gc.collect()
    gc.freeze()  # the garbage collector need not look at the description of the work
    began = time.perf_counter()
    events = model(work)
    wall = time.perf_counter() - began
    gc.unfreeze()
    return Sample(wall, work.rpcs, events)


def models(lean: Work, process: Work) -> dict[str, Callable[[], Sample]]:
    """Return what is measured, by name."""
    direct = data_plane(f"-w {DIRECT}")  # compiles, too
    in_flight = NODES * PPN * IN_FLIGHT
    cycle = in_flight * direct.simulated / direct.rpcs
    return {
        DIRECT_WRITE: lambda: sample(f"-w {DIRECT}"),
        "read, own files, O_DIRECT": lambda: sample(f"-r {DIRECT}"),
        "write, own files": lambda: sample(f"-w {OWN}"),
        "read, own files": lambda: sample(f"-r {OWN}"),
        "write, shared file": lambda: sample(f"-w {SHARED}"),
        LIMIT: lambda: Sample(bare_loop(in_flight, cycle), 0, EVENTS),
        LEAN: lambda: simpy_model(lean_callbacks, lean),
        PROCESS: lambda: simpy_model(process_per_rpc, process),
    }


def hops() -> float:
    """Return the stations that an RPC passes on its way."""
    result = data_plane("-w -F -B -b 4m -t 4m")
    bulk = [use for use in result.stations() if use.kind <= StationKind.OST]
    return sum(use.requests for use in bulk) / result.rpcs


def ratio(mine: list[Sample], others: list[Sample]) -> str:
    """Return how many times as many RPCs a second some samples have as others."""
    pairs = zip(mine, others, strict=True)
    if not mine[0].rpcs:
        return ""
    return f"{median(a.rpcs / a.wall / (b.rpcs / b.wall) for a, b in pairs):.1f} x"


def row(name: str, samples: dict[str, list[Sample]]) -> tuple[str, ...]:
    """Return a row of the table."""
    own = samples[name]
    wall, rpcs, events = median(one.wall for one in own), own[0].rpcs, own[0].events
    return (
        name,
        f"{rpcs:,}" if rpcs else "",
        f"{wall:.2f}",
        f"{events / rpcs:.1f}" if rpcs else "",
        f"{1e6 * wall / events:.3f}",
        f"{rpcs / wall:,.0f}" if rpcs else "",
        ratio(own, samples[LEAN]),
        ratio(own, samples[PROCESS]),
    )


@pytest.mark.benchmark
def test_rpcs_a_second_beside_plain_simpy() -> None:
    lean, process = (theta_write(NODES, PPN, mib, STRIPES) for mib in (LEAN_MIB, PROCESS_MIB))
    passed = hops()
    measured = models(lean, process)
    samples: dict[str, list[Sample]] = {name: [] for name in measured}
    for _ in range(REPETITIONS):
        for name, model in measured.items():
            samples[name].append(model())
    print_table(
        f"Theta path, {NODES} nodes x {PPN} ranks, RPCs of 1 MiB, one core "
        "(aims: a direct write 1,000,000 RPCs/s, 5 x lean, 25 x a process per RPC).\n"
        f"Stations on the way: {passed:.1f} in the data plane, {lean.hops:.1f} in SimPy. "
        f"Medians of {REPETITIONS}, in turns.",
        ("", "RPCs", "wall s", "events/RPC", "us/event", "RPCs/s", "by lean", "by process"),
        [row(name, samples) for name in measured],
    )
    share = median(
        (ours.events / ours.wall) / (bare.events / bare.wall)
        for ours, bare in zip(samples[DIRECT_WRITE], samples[LIMIT], strict=True)
    )
    print(f"\n  Of the bare loop's events a second a direct write has {share:.2f} (aim 0.5)")
