"""Streams of jobs on a small part of Theta."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from xc40io.config.errors import InputError
from xc40io.config.stream import StreamScenario, checked_stream
from xc40io.engine.pool import live_rows
from xc40io.run.streaming.stream_outcome import StreamResult
from xc40io.run.streaming.stream_run import Stream, StreamRun
from xc40io.studies.stream.stream_draws import with_alone

PRODUCTION = {"name": "production", "read": "8 MiB", "written": "24 MiB", "steps": 2}
KINDS: list[dict[str, Any]] = [
    {"ior": "-a POSIX -w -r -C -b 4m -t 1m"},
    {"kernel": PRODUCTION | {"compute": "20 s", "write_layout": "job"}},
    {"kernel": PRODUCTION | {"compute": "5 s", "opens": 3, "stats": 2, "files": 2}},
    {"ior": "-a MPIIO -c -w -b 2m -t 1m"},
]


def stream_of(count: int, **fields: Any) -> StreamScenario:
    """Return a stream of small jobs of all kinds on 8 nodes."""
    listed = [
        {
            "name": f"job{number}",
            "start": f"{2 * number} s",
            "walltime": "30 s",
            "nodes": [4, 2, 6, 1][number % 4],
            "ppn": 1 + number % 2,
            "placement": ["contiguous", "random", "spread"][number % 3],
            "workload": KINDS[number % len(KINDS)],
        }
        for number in range(count)
    ]
    return checked_stream(
        {"machine": "theta", "queue": {"nodes": 8}, "jobs": listed} | fields, "a test"
    )


@pytest.fixture(scope="module")
def stream() -> Stream:
    return Stream(stream_of(12))


@pytest.fixture(scope="module")
def result(stream: Stream) -> StreamResult:
    return stream.run()


def test_a_node_has_one_job_at_a_time(result: StreamResult) -> None:
    for node in range(8):
        spells = sorted((job.started, job.given_back) for job in result.jobs if node in job.nodes)
        assert all(before[1] <= after[0] for before, after in pairwise(spells))


def test_jobs_read_and_write_what_they_are_to(result: StreamResult) -> None:
    moved = {job.name: (job.bytes_read, job.bytes_written) for job in result.jobs}
    assert len(moved) == 12
    assert moved["job0"] == (16 << 20, 16 << 20)
    assert moved["job1"] == (8 << 20, 24 << 20)
    assert moved["job3"] == (0, 4 << 20)


def test_the_bytes_over_time_are_those_that_the_osts_moved(result: StreamResult) -> None:
    assert result.bandwidth.bytes.sum() == pytest.approx(result.bulk_bytes, rel=1e-9)


def test_the_same_stream_gives_the_same_bits(stream: Stream, result: StreamResult) -> None:
    assert stream.run().digest == result.digest


def test_another_seed_gives_others(result: StreamResult) -> None:
    assert Stream(stream_of(12, seed=2)).run().digest != result.digest


def test_all_rows_are_given_back(stream: Stream) -> None:
    machine = stream.build()

    def in_use() -> dict[str, int]:
        StreamRun(stream.scenario, machine, stream.entries).in_turn()
        tables = machine.plane.tables
        pools = {
            "locks": tables.locks.spare_locks,
            "osc_objects": tables.cache.spare_osc_objects,
            "inodes": tables.cache.spare_inodes,
            "osc_extents": tables.cache.spare_osc_extents,
            "handles": tables.handles.spare_rows,
            "runs": tables.byte_lists.spare_runs,
            "lists": tables.byte_lists.spare_lists,
        }
        held = {name: len(live_rows(pool)) for name, pool in pools.items()}
        return held | {"files": len(tables.files.rows), "objects": len(tables.files.objects)}

    once, twice = in_use(), in_use()
    assert once == twice
    assert not any(held for name, held in once.items() if name not in ("files", "objects"))
    assert not machine.plane.tables.cache.nodes.cached.any()
    assert machine.free.all()


def test_a_job_by_itself_does_not_depend_on_which_went_before(
    stream: Stream, result: StreamResult
) -> None:
    allocations = {job.name: job.allocation for job in result.jobs}
    every = {job.name: job.seconds for job in stream.run_in_turn(allocations)}
    last = result.jobs[-1].name
    (alone,) = stream.run_in_turn({last: allocations[last]})
    assert alone.seconds == pytest.approx(every[last], rel=0.02)


def test_what_others_cost_is_told(stream: Stream, result: StreamResult) -> None:
    found = with_alone(stream, result, processes=1)
    assert all(job.alone and job.slowdown and job.slowdown > 0.5 for job in found.jobs)
    quiet = [job for job in found.jobs if job.name == "job0"]
    assert quiet[0].io_slowdown == pytest.approx(1.0)


def test_without_backfilling_jobs_begin_in_their_order() -> None:
    queue = {"nodes": 8, "policy": "fcfs"}
    jobs = Stream(stream_of(8, queue=queue)).run().jobs
    began = {job.name: job.started for job in jobs}
    assert list(np.argsort([began[f"job{number}"] for number in range(8)], kind="stable")) == list(
        range(8)
    )


def test_recorded_jobs_begin_at_their_times_where_there_are_nodes() -> None:
    queue = {"nodes": 40, "policy": "recorded"}
    jobs = Stream(stream_of(8, queue=queue)).run().jobs
    assert all(job.waited == 0.0 for job in jobs)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"queue": {"nodes": 5000}}, "queue.nodes = 5,000; right would be at most the 4,392"),
        ({"queue": {"nodes": 5}}, "jobs.job2.nodes = 6; right would be at most the 5 compute"),
        ({"queue": {"policy": "lifo"}}, "a test: queue.policy = 'lifo': should be"),
        ({"jobs": []}, "there is no job; right would be jobs"),
        ({"faults": ["node 1 evicted at 1 s"]}, "faults: node 1: in a stream jobs come and go"),
    ],
)
def test_what_cannot_be_is_refused(change: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        Stream(stream_of(3, **change)).run()


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        (
            "placement",
            {"policy": "list", "nodes": [0, 1, 2, 3]},
            "a job of a stream gets nodes that are free",
        ),
        ("target", "ssd", "the files of a stream are on Lustre"),
    ],
)
def test_what_a_stream_does_not_know_is_refused(field: str, value: object, words: str) -> None:
    job = {"name": "a", "nodes": 4, "ppn": 1, "workload": {"ior": "-w -F"}, field: value}
    scenario = checked_stream({"machine": "theta", "queue": {}, "jobs": [job]}, "a test")
    with pytest.raises(InputError, match=words):
        Stream(scenario)
