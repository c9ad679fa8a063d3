"""What stands below /proc of servers and clients, read back and compared with the run."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import yaml
from recorded_runs import RUNS, recorded, recording_of_run

from xc40io import Result, Scenario, simulate
from xc40io.engine.page import PAGE
from xc40io.lustre.requests import OST_SYNC
from xc40io.plane.operations import Op
from xc40io.results.exports.machine_view import view_of
from xc40io.results.exports.proc.folder import CLIENTS, proc_files, write_proc

UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20}


class Table(NamedTuple):
    """A histogram as a reader finds it: per cents and counts by label, read and written."""

    read: dict[int, tuple[int, int, int]]
    write: dict[int, tuple[int, int, int]]


def tables_of(text: str) -> dict[str, Table]:
    """Read histograms: a head with a name, then lines with a label and six numbers."""
    found: dict[str, Table] = {}
    for line in text.splitlines():
        head = re.fullmatch(r"(\S.*?)\s{2,}(rpcs|ios)\s+% cum % \|\s+\2\s+% cum %", line)
        row = re.fullmatch(r"(\d+)([KM]?):\s+(.*)", line)
        if head:
            table = found[head[1]] = Table({}, {})
        elif row and found and "|" in line:
            left, right = row[3].split("|")
            label = int(row[1]) * UNITS[row[2]]
            table.read[label] = tuple(map(int, left.split()))  # type: ignore[assignment]
            table.write[label] = tuple(map(int, right.split()))  # type: ignore[assignment]
    return found


def check(table: Table) -> tuple[int, int]:
    """Check shares and sums of a histogram; return how many reads and writes it has."""
    totals = []
    for side in table:
        whole = sum(count for count, _, _ in side.values())
        so_far = 0
        for count, share, reached in side.values():
            so_far += count
            assert share == (100 * count // whole if whole else 0)
            assert reached == (100 * so_far // whole if whole else 0)
        totals.append(whole)
    return totals[0], totals[1]


@pytest.fixture(scope="module", params=RUNS)
def run(request: pytest.FixtureRequest) -> Result:
    return recorded(request.param)


def files_of(result: Result) -> dict[str, str]:
    return dict(proc_files(view_of(result, "--proc")))


def test_an_ost_has_tallied_every_rpc_that_came(run: Result):
    assert run.recording is not None
    rpcs, files = run.recording.rpcs, files_of(run)
    rpcs = rpcs[np.isfinite(rpcs["arrived"])]
    for ost in range(run.machine.lustre.osts):
        (path,) = (p for p in files if p.endswith(f"theta-OST{ost:04x}/brw_stats"))
        assert path.startswith(f"oss{ost:04d}/proc/fs/lustre/obdfilter/")
        tables = tables_of(files[path])
        own = rpcs[rpcs["ost"] == ost]
        numbers = (own["write"] == 0).sum(), (own["write"] == 1).sum()
        for name in ("pages per bulk r/w", "disk fragmented I/Os", "disk I/Os in flight"):
            assert check(tables[name]) == numbers, name
        assert check(tables["disk I/O size"]) == numbers
        assert check(tables["discontiguous pages"]) == numbers
        assert not tables["discontiguous blocks"].read
        for name in ("pages per bulk r/w", "disk I/O size"):
            assert all(label & (label - 1) == 0 for label in tables[name].read)


def test_pages_and_sizes_are_in_the_buckets_of_their_powers(run: Result):
    assert run.recording is not None
    rpcs, files = run.recording.rpcs, files_of(run)
    rpcs = rpcs[np.isfinite(rpcs["arrived"]) & (rpcs["write"] == 1)]
    found: Counter[int] = Counter()
    for path, text in files.items():
        if path.endswith("brw_stats"):
            for label, (count, _, _) in tables_of(text)["pages per bulk r/w"].write.items():
                found[label] += count
    expected = Counter(
        1 << (max(-(-size // PAGE), 1) - 1).bit_length() for size in rpcs["bytes"].tolist()
    )
    assert +found == expected


def test_an_ost_counts_the_bytes_of_the_station(run: Result):
    moved = {use.name: use.bytes for use in run.stations()}
    for path, text in files_of(run).items():
        if path.endswith("/stats"):
            ost = int(path.split("OST")[1][:4], 16)
            lines = dict(re.findall(r"(\w+)_bytes +\d+ samples \[bytes\] \d+ \d+ (\d+)", text))
            total = sum(map(int, lines.values()))
            assert total == moved.get(f"OST {ost}", 0.0)


def test_jobs_have_their_counters_in_yaml(run: Result):
    assert run.recording is not None
    syncs = 0
    for path, text in files_of(run).items():
        if path.endswith("job_stats") and "obdfilter" in path:
            for job in yaml.safe_load(text)["job_stats"] or ():
                assert job["job_id"] == "ior.0"
                syncs += job["sync"]["samples"]
                written = job["write_bytes"]
                assert written["min"] <= written["max"] <= written["sum"] or not written["samples"]
    assert syncs == (run.recording.requests["kind"] == OST_SYNC).sum()


def test_an_mdt_has_counted_what_programs_asked_for(run: Result):
    assert run.recording is not None
    files, calls = files_of(run), run.recording.calls
    (text,) = (text for path, text in files.items() if path.endswith("mdt/theta-MDT0000/job_stats"))
    (job,) = yaml.safe_load(text)["job_stats"]
    (stats,) = (text for path, text in files.items() if path.endswith("md_stats"))
    counted = {name: int(number) for name, number in re.findall(r"(\w+) +(\d+) samples", stats)}

    def done(*operations: Op) -> int:
        return int(np.isin(calls["op"], operations).sum())

    # What is open on a node already is opened and closed without it.
    assert done(Op.CREATE) <= job["open"]["samples"] == counted["open"]
    assert counted["open"] <= done(Op.OPEN, Op.CREATE)
    assert job["mknod"]["samples"] == counted["mknod"] == done(Op.CREATE)
    assert 0 < job["close"]["samples"] == counted["close"] <= done(Op.CLOSE)
    assert job["unlink"]["samples"] == counted.get("unlink", 0) == done(Op.UNLINK)
    assert job["rename"]["samples"] == 0
    assert "rename" not in counted


def test_a_client_has_tallied_its_rpcs_and_how_many_were_in_flight(run: Result):
    assert run.recording is not None
    files, rpcs, nodes = files_of(run), run.recording.rpcs, run.recording.nodes.tolist()
    seen = 0
    for path, text in files.items():
        if not path.endswith("rpc_stats"):
            continue
        host, ost = re.match(r"nid(\d+)/proc/fs/lustre/osc/theta-OST(\w{4})-osc-", path).groups()  # type: ignore[union-attr]
        node = nodes.index(int(host))
        own = rpcs[(rpcs["node"] == node) & (rpcs["ost"] == int(ost, 16))]
        tables = tables_of(text)
        numbers = (own["write"] == 0).sum(), (own["write"] == 1).sum()
        assert all(check(table) == numbers for table in tables.values())
        assert list(tables) == ["pages per rpc", "rpcs in flight", "offset"]
        for kind in (0, 1):
            if numbers[1 - kind] == 0 and numbers[kind]:  # one way alone: the limit is of both
                in_flight = Counter(own["in_flight"].tolist())
                found = tables["rpcs in flight"][kind]
                assert {k: count for k, (count, _, _) in found.items() if count} == in_flight
        left = int(np.isinf(own["ended"][own["write"] == 1]).sum())
        assert f"write RPCs in flight: {left}\n" in text
        seen += len(own)
    assert seen == run.rpcs


def test_extents_are_the_sizes_of_calls():
    files = files_of(recorded("shared file"))
    texts = [text for path, text in files.items() if path.endswith("extents_stats")]
    assert len(texts) == 4
    for text in texts:
        *_, last = text.splitlines()
        # 64 KiB: the bucket that begins there. 4 ranks x 8 calls x 3 segments.
        assert re.fullmatch(r"  64K -  128K :\s+96\s+100\s+100\s+\|\s+96\s+100\s+100", last)


def test_io_times_are_those_of_disks_in_milliseconds():
    rpcs = recording_of_run("own files").rpcs
    latency = recorded("own files").machine.lustre.ost_write_latency
    times = rpcs["served"] + latency * rpcs["write"] - rpcs["arrived"]
    found: Counter[int] = Counter()
    for path, text in files_of(recorded("own files")).items():
        if path.endswith("brw_stats"):
            table = tables_of(text)["I/O time (1/1000s)"]
            for side in table:
                found.update({label: count for label, (count, _, _) in side.items()})
    slowest = max(label for label, count in found.items() if count)
    assert slowest / 2 <= 1e3 * times.max() <= 2 * slowest
    assert sum(found.values()) == len(rpcs)


def test_the_folder_is_written(tmp_path: Path):
    result = recorded("own files")
    assert write_proc(result, str(tmp_path / "proc"), "--proc") == [str(tmp_path / "proc")]
    for path, text in files_of(result).items():
        assert (tmp_path / "proc" / path).read_text() == text


def test_of_many_clients_some_are_written():
    scenario = Scenario(
        machine="theta", nodes=CLIENTS + 20, ppn=1, workload={"ior": "-a POSIX -w -F"}
    )
    result = simulate(scenario, record=True)
    hosts = {path.split("/")[0] for path in files_of(result) if path.startswith("nid")}
    assert len(hosts) == CLIENTS
    nodes = [f"nid{node:05d}" for node in result.allocation.nodes.tolist()]
    assert {nodes[0], nodes[-1]} <= hosts < set(nodes)
