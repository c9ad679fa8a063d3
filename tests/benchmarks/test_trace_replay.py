"""Replays of long traces: ten million rows, as CSV and as Parquet, to the end of the result."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from measuring import print_table

ROWS, RANKS, NODES = 10_000_000, 256, 16

_CODE = """
import json, resource, sys, time
from xc40io.config.scenario import Scenario, Workload
from xc40io.run.simulate import simulate

began = time.perf_counter(), time.process_time()
kernel = {"name": "replay", "trace": sys.argv[1]}
job = {"machine": "theta", "nodes": int(sys.argv[2]), "ppn": int(sys.argv[3])}
result = simulate(Scenario(**job, workload=Workload(kernel=kernel)))
print(json.dumps({
    "wall": time.perf_counter() - began[0],
    "cpu": time.process_time() - began[1],
    "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    "events": result.events,
    "end": float(result.outcome.end.max()),
}))
"""


def words(numbers: np.ndarray, names: list[str]) -> pa.Array:
    coded = pa.DictionaryArray.from_arrays(pa.array(numbers.astype(np.int32)), pa.array(names))
    return coded.cast(pa.string())


def runs() -> pa.Table:
    """Each rank writes its file in order and a shared one strided, then reads at random."""
    each = ROWS // RANKS
    rank, call = np.tile(np.arange(RANKS), each), np.repeat(np.arange(each), RANKS)
    third = -(-each // 3)
    part, at = np.divmod(call, third)
    random = np.random.default_rng(1).integers(0, third, len(call))
    offset = np.choose(part, [at * 4096, (at * RANKS + rank) * 2048, random * 4096])
    names = ["shared", *(f"out.{number}" for number in range(RANKS))]
    return pa.table(
        {
            "rank": rank,
            "op": words(np.where(part < 2, 1, 0), ["read", "write"]),
            "file": words(np.where(part == 1, 0, 1 + rank), names),
            "offset": offset,
            "length": np.where(part == 1, 2048, 4096),
        }
    )


def lone_calls() -> pa.Table:
    """Each rank writes and reads its file in order, and computes before every call."""
    each = ROWS // RANKS
    rank, call = np.tile(np.arange(RANKS), each), np.repeat(np.arange(each), RANKS)
    draws = np.random.default_rng(3)
    return pa.table(
        {
            "rank": rank,
            "op": words(np.where(call < each // 2, 1, 0), ["read", "write"]),
            "file": words(rank, [f"out.{number}" for number in range(RANKS)]),
            "offset": call % (each // 2) * 8192,
            "length": np.where(draws.random(len(rank)) < 0.5, 4096, 8192),
            "think": np.round(draws.random(len(rank)) * 1e-3, 6),
        }
    )


def measure(path: Path) -> dict[str, float]:
    """Replay a trace in a fresh process, so that its peak of memory is its own."""
    words = [sys.executable, "-c", _CODE, str(path), str(NODES), str(RANKS // NODES)]
    done = subprocess.run(words, check=True, stdout=subprocess.PIPE)
    found: dict[str, float] = json.loads(done.stdout)
    return found


@pytest.mark.benchmark
def test_ten_million_rows(tmp_path: Path) -> None:
    body = []
    for name, table in (("runs of calls", runs()), ("computing before each", lone_calls())):
        path = tmp_path / "trace"
        pyarrow.csv.write_csv(table, path.with_suffix(".csv"))
        pyarrow.parquet.write_table(table, path.with_suffix(".parquet"))
        found = [measure(path.with_suffix(suffix)) for suffix in (".csv", ".parquet")]
        assert found[0]["end"] == found[1]["end"]
        for kind, run in zip(("CSV", "Parquet"), found, strict=True):
            memory = f"{run['memory'] / 2**30:.2f} GiB"
            times = (f"{run['wall']:.1f} s", f"{run['cpu']:.1f} s")
            body.append((f"{name}, {kind}", *times, memory, f"{run['events']:,.0f}"))
    print_table(
        f"A trace of {ROWS:,} rows, {RANKS} ranks on {NODES} nodes (aim: 120 s and 2 GiB)",
        ("", "wall", "CPU", "peak memory", "events"),
        body,
    )
