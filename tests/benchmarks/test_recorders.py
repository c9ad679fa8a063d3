"""What recording costs: runs without anything, with time bins, and with every record."""

from __future__ import annotations

import time
from statistics import median
from typing import NamedTuple

import pytest
from measuring import print_table, theta

from xc40io.config.scenario import Scenario
from xc40io.engine.types import Table
from xc40io.plane.recorder import LOGS
from xc40io.plane.stations import StationBook
from xc40io.run.result import Result
from xc40io.run.simulate import simulate

REPETITIONS = 7
CASES = {
    "own files, 4,096 ranks, write and read": theta(
        "-F -w -r -e -b 64m -t 4m", stripe_count=1, stripe_size="1m"
    ),
    "one file, 512 ranks in pieces of 64 KiB": theta(
        "-w -e -b 64k -t 64k -s 32", 32, 16, stripe_count=8, stripe_size="1m"
    ),
    "collective, 4,096 ranks, 48 aggregators": theta("-a MPIIO -c -w -r -b 16m -t 8m"),
}
BARE, BINS, FULL = "without", "time bins", "full"


class Sample(NamedTuple):
    """Seconds of the processor, and what was simulated."""

    seconds: float
    result: Result


def sample(scenario: Scenario, kind: str, monkeypatch: pytest.MonkeyPatch) -> Sample:
    """Simulate with what a kind of run records; the time does not count what others use."""
    with monkeypatch.context() as patched:
        if kind == BARE:
            patched.setattr(StationBook, "table", unwatched(StationBook.table))
        began = time.process_time()
        result = simulate(scenario, record=kind == FULL)
        return Sample(time.process_time() - began, result)


def unwatched(table: object) -> object:
    """Return a function for the table of stations in which none has time bins."""

    def without(book: StationBook) -> Table:
        stations = table(book)  # type: ignore[operator]
        stations.row[:] = -1
        return stations

    return without


def overhead(samples: dict[str, list[Sample]], kind: str, base: str) -> str:
    """Return how much longer a kind of run takes than another: the median of pairs."""
    pairs = zip(samples[kind], samples[base], strict=True)
    return f"{100 * (median(one.seconds / other.seconds for one, other in pairs) - 1):+.1f} %"


def row(name: str, samples: dict[str, list[Sample]]) -> tuple[str, ...]:
    """Return a row of the table."""
    result = samples[FULL][0].result
    assert result.recording is not None
    logs = [getattr(result.recording, log) for log in LOGS]
    return (
        name,
        f"{result.events:,}",
        f"{1e3 * median(one.seconds for one in samples[BARE]):,.0f}",
        overhead(samples, BINS, BARE),
        overhead(samples, FULL, BINS),
        f"{sum(map(len, logs)):,}",
        f"{sum(log.nbytes for log in logs) / 1e6:,.0f}",
    )


@pytest.mark.benchmark
def test_overhead_of_recorders(monkeypatch: pytest.MonkeyPatch) -> None:
    body = []
    for name, job in CASES.items():
        scenario = Scenario.model_validate(job)
        samples: dict[str, list[Sample]] = {kind: [] for kind in (BARE, BINS, FULL)}
        for kind in samples:
            sample(scenario, kind, monkeypatch)  # compiles, and builds the network
        for _ in range(REPETITIONS):
            for kind in samples:
                samples[kind].append(sample(scenario, kind, monkeypatch))
        assert samples[FULL][0].result.events == samples[BARE][0].result.events
        body.append(row(name, samples))
    print_table(
        "Overhead of recorders: processor time of whole runs, with all that builds and sorts\n"
        f"  (aims: bins 5 %, full recording 50 %). Medians of {REPETITIONS}, in turns.",
        ("", "events", "bare ms", "bins", "full, over bins", "records", "MB"),
        body,
    )
