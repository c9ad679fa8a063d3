"""Workers that load ahead: how far, and what computing hides of it."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refusal
from small_jobs import job, run, run_kernel

from xc40io.config.scenario import machine_of
from xc40io.plane.operations import Op
from xc40io.run.result import Result
from xc40io.workloads.catalogue import workload_of

LAYOUTS: dict[str, dict[str, Any]] = {
    "files": {},
    "packed": {"layout": "packed", "per_file": 16},
    "samples": {"layout": "packed", "per_file": 16, "shuffle": "samples"},
}


def load(depth: int = 2, **options: Any) -> Result:
    asked = {"samples": 256, "batch": 8, "epochs": 1, "distribution": "fixed"} | options
    return run_kernel("dl-loading", 1, 2, job={"cores": {"depth": depth}}, **asked)


def seconds(result: Result) -> float:
    return float(sum(row.seconds for row in result.rows))


@settings(max_examples=10)
@given(
    st.sampled_from(sorted(LAYOUTS)),
    st.integers(1, 4),
    st.integers(1, 3),
    st.integers(0, 20).map(lambda ticks: ticks / 1000),
)
def test_an_epoch_is_no_longer_than_both_and_no_shorter_than_either(
    layout, workers, prefetch, compute
):
    batches = 256 // 2 // 8
    options = {**LAYOUTS[layout], "compute": compute}
    alone = load(**options)
    reading = seconds(load(**{**options, "compute": 0.0}))
    ahead = load(**options, workers=workers, prefetch=prefetch)
    assert ahead.bulk_bytes == pytest.approx(alone.bulk_bytes, rel=0.5)
    assert ahead.rows[0].bytes == alone.rows[0].bytes
    assert seconds(ahead) <= seconds(alone) * 1.1 + 0.01
    assert seconds(ahead) >= batches * compute
    # No more than the whole loading, cut in workers, and the first batch before all.
    share = reading / workers
    assert seconds(ahead) >= min(share, seconds(alone)) / 3


def test_with_long_computing_a_rank_waits_for_the_first_batch_alone():
    result = load(workers=2, compute=0.5)
    (row,) = result.rows
    first = seconds(load(workers=1, samples=2 * 8))
    assert row.figures["waiting"].value == pytest.approx(first, rel=0.3)
    assert row.seconds == pytest.approx(16 * 0.5 + first, rel=0.01)


@pytest.mark.parametrize(("workers", "prefetch"), [(1, 1), (2, 2), (3, 2), (4, 1)])
def test_workers_load_so_many_batches_ahead_and_no_more(workers, prefetch):
    options = {"samples": 512, "batch": 8, "epochs": 1, "workers": workers, "prefetch": prefetch}
    asked = {"kernel": {"name": "dl-loading", "compute": 5.0, **options}}
    calls = run(asked, nodes=1, ppn=2, record=True).recording.calls
    reads = calls["start"][calls["op"] == int(Op.READ)]
    for number in range(1, 4):  # the rank computes on its batch of that number
        begun = (reads < 5.0 * number).sum()
        assert begun == 2 * 8 * (prefetch * workers + number)


def test_a_worker_on_the_ranks_core_takes_of_its_computing():
    shared, free = (
        load(depth, workers=1, compute=0.5, size=8_000_000, samples=64) for depth in (1, 2)
    )
    assert seconds(free) < 0.95 * seconds(shared)


def test_more_workers_load_faster_until_something_else_bounds():
    took = [seconds(load(workers=workers, samples=1024)) for workers in (1, 2, 4)]
    assert all(later < 0.7 * earlier for earlier, later in pairwise(took))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"workers": 2, "cache": "node"}, "right would be one of both"),
        ({"workers": 1 << 22}, "make too many threads to simulate; right would be at most"),
    ],
)
def test_what_cannot_be_is_refused(options, words):
    scenario = job({"kernel": {"name": "dl-loading", "samples": 64, **options}}, nodes=2)
    workload = workload_of(scenario.workload)
    assert words in refusal(workload.check, scenario, machine_of(scenario))
