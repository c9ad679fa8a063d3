"""h5bench's patterns through the asynchronous connector: what is hidden, and what is waited for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from refusals import refusal
from simulated_calls import run_romio
from small_jobs import run

from xc40io.results.programs.h5bench_output import pattern_lines
from xc40io.run.result import Result
from xc40io.workloads.h5bench.benchmarks import PatternTimes
from xc40io.workloads.h5bench.configuration import read_configuration

CONFIGURATION = {
    **{"MEM_PATTERN": "CONTIG", "FILE_PATTERN": "CONTIG", "TIMESTEPS": "4", "NUM_DIMS": "1"},
    **{"COLLECTIVE_DATA": "YES", "COLLECTIVE_METADATA": "YES", "DIM_1": "65536"},
    **{"EMULATED_COMPUTE_TIME_PER_TIMESTEP": "0 s", "MODE": "ASYNC"},
}
ASYNC = {"connector": "async under_vol=0;under_info={}"}


def document(*benchmarks: str, vol: Any = ASYNC, **changed: str) -> dict[str, Any]:
    """Return a configuration of benchmarks on one file."""
    tasks = [
        {"benchmark": name, "file": "test.h5", "configuration": CONFIGURATION | changed}
        for name in benchmarks or ["write"]
    ]
    return {
        "mpi": {"command": "srun", "ranks": "4", "configuration": "-N 2 -n 4"},
        **{"vol": vol, "file-system": {}, "directory": "d", "benchmarks": tasks},
    }


def finished(folder: Path, *benchmarks: str, **changed: str) -> Result:
    path = folder / "h5bench.json"
    path.write_text(json.dumps(document(*benchmarks, **changed)))
    return run({"kernel": {"name": "h5bench", "config": str(path)}}, nodes=2, ppn=2)


def times(result: Result, number: int = 0) -> PatternTimes:
    found: PatternTimes = result.outcome.benchmarks[number].times
    return found


def waits(result: Result) -> list[float]:
    """Return the waits for the data of each time step, in seconds."""
    return [row.longest for row in result.rows if row.phase.startswith("H5ESwait")]


@pytest.mark.parametrize("operation", ["write", "read"])
def test_computing_hides_all_time_steps_but_the_last(tmp_path: Path, operation: str) -> None:
    benchmarks = ("write",) if operation == "write" else ("write", "read")
    number = len(benchmarks) - 1
    long = {"EMULATED_COMPUTE_TIME_PER_TIMESTEP": "2 s"}
    now, later = (finished(tmp_path, *benchmarks, MODE=mode, **long) for mode in ("SYNC", "ASYNC"))
    (*hidden, last) = waits(later)[-4:]
    assert hidden == [0.0] * 3
    step = times(now, number).raw / 4
    assert last == pytest.approx(step, rel=0.5, abs=0.02)
    assert times(later, number).observed < times(now, number).observed - 2 * step
    assert times(later, number).observed > 3 * 2.0 + step / 2
    assert later.bulk_bytes == pytest.approx(now.bulk_bytes, rel=0.01)


def test_what_computing_does_not_hide_is_waited_for(tmp_path: Path) -> None:
    large = {"DIM_1": str(1 << 22)}
    at_once = finished(tmp_path, **large)
    short = finished(tmp_path, **large, EMULATED_COMPUTE_TIME_PER_TIMESTEP="500 ms")
    step = waits(at_once)
    assert min(step) > 0.6, "a time step takes longer than that to write"
    for number, wait in enumerate(waits(short)[:-1]):
        assert wait == pytest.approx(step[number] - 0.5, rel=0.15)


@pytest.mark.parametrize(
    ("options", "steps"),
    [
        ({"DELAYED_CLOSE_TIMESTEPS": "0"}, [0, 1, 2, 3]),
        ({"DELAYED_CLOSE_TIMESTEPS": "1"}, [0, 1, 2, 3]),
        ({"DELAYED_CLOSE_TIMESTEPS": "3"}, [2, 2, 2, 3]),
        ({"DELAYED_CLOSE_TIMESTEPS": "9"}, [3, 3, 3, 3]),
        ({"IO_MEM_LIMIT": str(3 * 65536 * 32)}, [1, 2, 3, 3]),
    ],
)
def test_a_time_step_is_waited_for_when_it_is_closed_and_memory_is_short(
    tmp_path: Path, options: dict[str, str], steps: list[int]
) -> None:
    """``steps``: behind the calls of which time step each is waited for."""
    compute = {"EMULATED_COMPUTE_TIME_PER_TIMESTEP": "1 s"}
    result = finished(tmp_path, **options, **compute)
    called = [row.start for row in result.rows if row.phase.startswith("H5Dwrite_async")]
    begun = [row.start for row in result.rows if row.phase.startswith("H5ESwait")]
    assert [sum(call < begin for call in called) - 1 for begin in begun] == steps


def test_the_threads_make_the_calls_that_the_ranks_make_without_them(tmp_path: Path) -> None:
    path = tmp_path / "h5bench.json"
    made = []
    for mode in ("SYNC", "ASYNC"):
        path.write_text(json.dumps(document(MODE=mode)))
        calls = run_romio({"kernel": {"name": "h5bench", "config": str(path)}})
        moves = ("READ", "WRITE", "OPEN", "CREATE", "FSYNC")
        made.append(
            {rank: [call for call in own if call.name in moves] for rank, own in calls.items()}
        )
    assert made[0] == made[1]


def test_the_benchmark_says_that_it_was_asynchronous(tmp_path: Path) -> None:
    (done,) = finished(tmp_path).outcome.benchmarks
    lines = list(pattern_lines(done.task, done.times, 4))
    assert [line.split(":")[0] for line in lines[-3:-1]] == [
        "ASYNC Raw write rate",
        "ASYNC Observed write rate",
    ]


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (document(MODE="LOG"), "right would be SYNC or ASYNC"),
        (document(vol={}), "vol.connector does not name the asynchronous connector"),
        (document(vol={"connector": "cache_ext"}), "right would be async under_vol=0"),
        (document(IO_MEM_LIMIT="2 M"), "IO_MEM_LIMIT = 2097152: a time step takes as much"),
        (document(DELAYED_CLOSE_TIMESTEPS="soon"), "DELAYED_CLOSE_TIMESTEPS = 'soon': right would"),
    ],
)
def test_what_the_connector_cannot_do_is_refused(
    tmp_path: Path, asked: dict[str, Any], words: str
) -> None:
    path = tmp_path / "h5bench.json"
    path.write_text(json.dumps(asked))
    assert words in refusal(read_configuration, str(path))
