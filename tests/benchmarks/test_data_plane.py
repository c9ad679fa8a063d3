"""The data plane against plain SimPy on the Theta path, in one run."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from statistics import median
from typing import NamedTuple

import pytest
from measuring import print_table, theta
from simpy_models import Work, lean_callbacks, process_per_rpc, theta_write

from sim.config.scenario import Scenario
from sim.plane.stations import StationKind
from sim.run.result import Result
from sim.run.simulate import simulate

NODES, PPN, STRIPES = 256, 16, 48
DATA_PLANE_MIB, LEAN_MIB, PROCESS_MIB = 128, 8, 2  # a rank
REPETITIONS = 5
DIRECT = "--posix.odirect"
AIMS = {
    "data plane, write": "1,000,000 RPCs/s",
    "data plane, read": "1,000,000 RPCs/s",
    "SimPy, lean callbacks, write": "5 x",
    "SimPy, process per RPC, write": "25 x",
}


class Sample(NamedTuple):
    wall: float
    rpcs: int
    events: int


def data_plane(options: str, mib: int = DATA_PLANE_MIB, *, files: bool = False) -> Result:
    """Simulate calls of 1 MiB; with a file for each process, every lock is asked for once."""
    ior = f"{options} {'-F' if files else ''} -b {mib}m -t 1m"
    count = 1 if files else STRIPES
    job = theta(ior, NODES, PPN, stripe_count=count, stripe_size="1m")
    return simulate(Scenario.model_validate(job))


def sample(result: Result) -> Sample:
    return Sample(result.wall, result.rpcs, result.events)


def simpy_model(model: Callable[[Work], int], work: Work) -> Sample:
    gc.collect()
    gc.freeze()  # the garbage collector need not look at the description of the work
    began = time.perf_counter()
    events = model(work)
    wall = time.perf_counter() - began
    gc.unfreeze()
    return Sample(wall, work.rpcs, events)


def hops() -> float:
    """Return the stations that an RPC passes on its way."""
    result = data_plane(f"-w {DIRECT}", 1, files=True)
    bulk = [use for use in result.stations() if use.kind <= StationKind.OST]
    return sum(use.requests for use in bulk) / result.rpcs


@pytest.mark.benchmark
def test_rpcs_a_second_beside_plain_simpy() -> None:
    lean_work, process_work = (
        theta_write(NODES, PPN, mib, STRIPES) for mib in (LEAN_MIB, PROCESS_MIB)
    )
    models: dict[str, Callable[[], Sample]] = {
        "data plane, write": lambda: sample(data_plane(f"-w {DIRECT}", files=True)),
        "data plane, read": lambda: sample(data_plane(f"-r {DIRECT}", files=True)),
        "data plane, read of a shared file": lambda: sample(data_plane(f"-r {DIRECT}")),
        "data plane, write through the cache": lambda: sample(data_plane("-w", files=True)),
        "data plane, read through the cache": lambda: sample(data_plane("-r", files=True)),
        "SimPy, lean callbacks, write": lambda: simpy_model(lean_callbacks, lean_work),
        "SimPy, process per RPC, write": lambda: simpy_model(process_per_rpc, process_work),
    }
    passed = hops()
    samples: dict[str, list[Sample]] = {name: [] for name in models}
    for _ in range(REPETITIONS):
        for name, model in models.items():
            samples[name].append(model())
    ours = samples["data plane, write"]
    body = []
    for name, theirs in samples.items():
        ratio = median(
            (mine.rpcs / mine.wall) / (other.rpcs / other.wall)
            for mine, other in zip(ours, theirs, strict=True)
        )
        body.append(
            (
                name,
                f"{theirs[0].rpcs:,}",
                f"{median(sample.wall for sample in theirs):.3f}",
                f"{median(sample.rpcs / sample.wall for sample in theirs):,.0f}",
                f"{median(sample.events / sample.wall for sample in theirs):,.0f}",
                f"{ratio:.1f} x",
                AIMS.get(name, ""),
            )
        )
    print_table(
        f"Theta path, {NODES} nodes x {PPN} ranks, RPCs of 1 MiB, one core; direct I/O on a file "
        "per process unless said otherwise.\n"
        f"Stations on the way: {passed:.1f} in the data plane, {lean_work.hops:.1f} in SimPy. "
        f"Medians of {REPETITIONS}, in turns.",
        ("model", "RPCs", "wall s", "RPCs/s", "events/s", "write is faster by", "aim"),
        body,
    )
