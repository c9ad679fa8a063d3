"""A run as a trace: what is in it, that it nests, and what is left out of a large one."""

from __future__ import annotations

import gzip
import json
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from recorded_runs import RUNS, recorded, recording_of_run
from trace_checks import check_trace

from xc40io import Scenario, simulate
from xc40io.plane.operations import Op
from xc40io.results.exports.trace import trace_file
from xc40io.results.exports.trace.trace_file import write_trace


def trace_of(name: str, folder: Path) -> dict[str, Any]:
    path = folder / "run.json"
    assert write_trace(recorded(name), str(path), "--perfetto") == [str(path)]
    document: dict[str, Any] = json.loads(path.read_text())
    return document


def counts_of(document: dict[str, Any], **wanted: str) -> int:
    return sum(
        all(event.get(key) == value for key, value in wanted.items())
        for event in document["traceEvents"]
    )


@pytest.mark.parametrize("name", RUNS)
def test_a_trace_is_as_viewers_need_it(name: str, tmp_path: Path):
    check_trace(trace_of(name, tmp_path))


IOR = st.builds(
    "-a {} -w -b {}k -t {}k -s {} {}".format,
    st.sampled_from(["POSIX", "MPIIO", "MPIIO -c"]),
    st.sampled_from([256, 1024]),
    st.sampled_from([32, 128]),
    st.integers(1, 3),
    st.sets(st.sampled_from(["-e", "-r", "-F", "-k"])).map(sorted).map(" ".join),
)


@given(IOR, st.sampled_from([1, 3]), st.integers(1, 2))
@settings(max_examples=15)
def test_any_run_makes_a_trace_that_nests(ior: str, ppn: int, threads: int):
    scenario = Scenario(
        machine="theta",
        nodes=2,
        ppn=ppn,
        cores={"threads": threads if "POSIX" in ior else 1},
        striping={"count": 2, "size": "256k"},
        workload={"ior": ior},
    )
    result = simulate(scenario, record=True)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "run.json")
        write_trace(result, str(path), "--perfetto")
        document = json.loads(path.read_text())
    check_trace(document)
    seconds = sum(e["dur"] for e in document["traceEvents"] if e.get("cat") == "wait") / 1e6
    assert seconds <= result.simulated * 2 * ppn * (threads + 1) + 1e-6


@pytest.mark.parametrize("name", RUNS)
def test_all_of_a_small_run_is_there(name: str, tmp_path: Path):
    document, recording = trace_of(name, tmp_path), recording_of_run(name)
    over = np.isfinite(recording.rpcs["ended"]).sum()
    for kind in ("rpc", "bulk", "disk"):
        assert counts_of(document, ph="X", cat=kind) == over
    assert counts_of(document, ph="s") == counts_of(document, ph="f") == over
    calls = Counter(recording.calls["op"].tolist())
    for operation in (Op.READ, Op.WRITE, Op.CREATE, Op.FSYNC):
        found = counts_of(document, ph="X", cat="call", name=operation.name.lower())
        assert found == calls[operation]
    assert document["otherData"]["ranks"] == "all 16"
    assert document["otherData"]["recorded until (s)"] == "the end"


def test_calls_say_what_they_moved(tmp_path: Path):
    events = trace_of("own files", tmp_path)["traceEvents"]
    written = [event for event in events if event["name"] == "write" and event["ph"] == "X"]
    assert sum(event["args"]["bytes"] for event in written) == 16 * 3 << 20
    assert {event["args"]["file"] for event in written} == {
        f"testFile.{rank:08d}" for rank in range(16)
    }


def test_waits_add_up_to_what_ranks_waited(tmp_path: Path):
    events = trace_of("shared file", tmp_path)["traceEvents"]
    seconds = sum(event["dur"] for event in events if event.get("cat") == "wait") / 1e6
    assert seconds == pytest.approx(recorded("shared file").waits.sum(), rel=1e-4)


def test_ranks_stand_at_their_nodes(tmp_path: Path):
    document = trace_of("own files", tmp_path)
    lanes, groups = {}, {}
    for event in document["traceEvents"]:
        if event["name"] == "thread_name":
            lanes[event["pid"], event["tid"]] = event["args"]["name"]
        elif event["name"] == "process_name":
            groups[event["pid"]] = event["args"]["name"]
    nodes = recorded("own files").allocation.nodes.tolist()
    ranks = {name: groups[group] for (group, _), name in lanes.items() if name.startswith("rank ")}
    assert ranks == {f"rank {rank}": f"nid{nodes[rank // 4]:05d}" for rank in range(16)}


def test_counters_reach_the_most_that_were_in_flight(tmp_path: Path):
    events = trace_of("own files", tmp_path)["traceEvents"]
    lines = [
        event["args"]
        for event in events
        if event["name"] == "RPCs in flight" and event["ph"] == "C"
    ]
    rpcs = recording_of_run("own files").rpcs
    at_once = max(int(((rpcs["start"] <= at) & (rpcs["ended"] > at)).sum()) for at in rpcs["start"])
    assert 0.8 * at_once <= max(line["write"] + line["read"] for line in lines) <= at_once
    assert lines[0] == {"write": 0, "read": 0}


def test_a_large_run_is_sampled_evenly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(trace_file, "_OF_RANKS", 100)
    monkeypatch.setattr(trace_file, "_OF_RPCS", 80)
    monkeypatch.setattr(trace_file, "_OF_REQUESTS", 20)
    document = trace_of("own files", tmp_path)
    check_trace(document)
    said = document["otherData"]
    assert said["bulk RPCs"].endswith(" evenly spread")
    assert said["small requests"].endswith(" evenly spread")
    assert counts_of(document, ph="X", cat="rpc") <= 10
    assert counts_of(document, ph="X", cat="request") <= 20
    ranks = {e["args"]["name"] for e in document["traceEvents"] if e["name"] == "thread_name"}
    shown = sorted(int(name.split()[1]) for name in ranks if name.startswith("rank "))
    assert said["ranks"] == f"{len(shown)} of 16, evenly spread"
    assert len(set(np.diff(shown))) <= 1
    assert len(shown) < 16


def test_compressed_it_is_the_same(tmp_path: Path):
    trace_of("collective", tmp_path)
    for name in ("a.json.gz", "b.json.gz"):
        write_trace(recorded("collective"), str(tmp_path / name), "--perfetto")
    packed = (tmp_path / "a.json.gz").read_bytes()
    assert packed == (tmp_path / "b.json.gz").read_bytes()
    assert gzip.decompress(packed) == (tmp_path / "run.json").read_bytes()
