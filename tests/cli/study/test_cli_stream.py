"""``xc40io stream``: tables of jobs and scenarios with a queue."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest
from interrupts import interrupted

from xc40io.config.stream import checked_stream
from xc40io.run.streaming.stream_run import Stream
from xc40io.studies.stream.stream_draws import run_stream
from xc40io.workloads.job_records.stream_jobs import recorded_jobs

TABLE = """\
job,nodes,ranks,read,written,runtime,submit,walltime,write_seconds,call,layout,opens,color
one,2,4,8 MB,16 MB,5,0,20,0.5,1m,rank,1,red
two,4,4,0,8 MB,5,1,20,0.4,64k,rank,1,red
three,3,3,8 MB,0,2,2,4,,1m,job,1,red
"""


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "jobs.csv"
    path.write_text(TABLE)
    return path


def test_all_that_a_stream_tells(xc40io, table, tmp_path):
    files = ["--csv", str(tmp_path / "out.csv"), "--plot", str(tmp_path / "out.png")]
    result = xc40io(
        *("stream", str(table), "--nodes", "5", "--draws", "2", "--alone", "--jobs", "1", *files)
    )
    assert result.exit_code == 0, result.output
    assert (
        "3 jobs on 5 nodes of theta (simulated): first come, first served, with EASY"
        in result.stdout
    )
    assert "2 draws of what is not known" in result.stdout.replace("\n", " ")
    assert re.search(r"^slow-down of I/O  ", result.stdout, re.MULTILINE)
    rows = re.findall(r"^(one|two|three) .* \d+\.\d{3} to \d+\.\d{3}$", result.stdout, re.MULTILINE)
    assert rows == ["one", "three", "two"]
    assert "are known of 2 jobs" in result.stdout.replace("\n", " ")
    assert "# columns that are not used: color." in result.stdout
    assert re.search(r"digest [0-9a-f]{16}\n# Wall time: \d+\.\d\d s$", result.stdout)
    assert (tmp_path / "out.png").stat().st_size > 10_000
    written = list(csv.DictReader((tmp_path / "out.csv").open()))
    assert [row["job"] for row in written] == ["one", "three", "two"]
    assert float(written[2]["waited"]) > 0.0
    assert float(written[0]["measured"]) == 0.5
    assert written[1]["measured"] == ""


def test_a_stream_tells_what_its_table_lacks(xc40io, tmp_path):
    path = tmp_path / "log.swf"
    path.write_text(
        "; MaxNodes: 4\n; MaxProcs: 16\n"
        "1 0 1 60 8 -1 -1 8 90 -1 1 1 1 -1 1 -1 -1 -1\n"
        "2 0 1 60 4 -1 -1 4 90 -1 0 1 1 -1 1 -1 -1 -1\n"
        "3 0 1 60\n"
    )
    result = xc40io("stream", str(path))
    assert result.exit_code == 0, result.output
    told = " ".join(result.stdout.split())
    for note in (
        "# 1 failed of 2 jobs: they run as the others.",
        "# Nodes are counted from processors, 4 a node by the head of the file",
        "# of no job the bytes are known, so none reads or writes.",
        "# left out: 1 row that cannot be read (row 5: has 4 numbers).",
    ):
        assert note in told


def test_one_json_document(xc40io, table):
    result = xc40io("stream", str(table), "--nodes", "5", "--queue", "fcfs", "--json")
    assert result.exit_code == 0, result.output
    document = json.loads(result.stdout)
    assert [job["job"] for job in document["jobs"]] == ["one", "two", "three"]
    assert document["jobs"][0]["node_list"] == [0, 1]
    assert document["agreement"]["jobs"] == 2
    assert document["agreement"]["r"] is None
    assert document["queue"] == "fcfs"
    assert sum(document["bandwidth"]["bytes"]) > 40e6
    assert 0.0 < document["utilisation"] <= 1.0


def test_a_scenario_with_all_kinds_of_jobs(xc40io, table, tmp_path):
    scenario = tmp_path / "stream.yaml"
    scenario.write_text(
        "machine: theta\nqueue: {nodes: 12}\n"
        "jobs:\n- {name: own, nodes: 2, ppn: 1, workload: {ior: -w -b 1m}}\n"
        "mix: {jobs: 2, interval: 1 s, kinds: [{name: m, nodes: 1, ppn: 1, workload: {ior: -w}}]}\n"
        f"records: {{table: {table.name}}}\n"
        "most_calls: 4\nmost_ranks_per_node: 1\n"
    )
    result = xc40io("stream", str(scenario))
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("6 jobs on 12 nodes")
    assert "1 of 3 jobs are simulated more coarsely" in result.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["none"], "'none' is not one of the streams that ship (theta-month)"),
        (["theta-month", "--machine", "theta"], "with --machine: the scenario says so itself"),
        (["JOBS", "--nodes", "2"], "jobs.two.nodes = 4; right would be at most the 2"),
        (["JOBS", "--habits", "mine"], "'mine' is not one of the habits that ship"),
        (["JOBS", "--exact"], "No such option '--exact'"),
        (["JOBS", "--plot", "x.bmp"], "--plot x.bmp"),
        (["JOBS", "--csv", "/nowhere/x.csv"], "--csv"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(xc40io, table, words, said):
    result = xc40io("stream", *(str(table) if word == "JOBS" else word for word in words))
    assert result.exit_code == 2
    assert said in result.stderr.replace("\n", " ")
    assert "Traceback" not in result.output


def test_run_says_what_runs_a_stream(xc40io, tmp_path):
    path = tmp_path / "stream.yaml"
    path.write_text("machine: theta\nqueue: {}\njobs: []\n")
    result = xc40io("run", str(path))
    assert result.exit_code == 2
    assert "right would be xc40io stream" in result.stderr


def test_an_interrupt_keeps_the_rows_of_the_jobs_that_have_ended(table, tmp_path):
    long = TABLE + "".join(f"j{n},4,64,0,900 GB,5,{3 + n},20,,64k,rank,1,\n" for n in range(40))
    table.write_text(long)
    part = tmp_path / "out.csv.part"
    words = ("stream", str(table), "--nodes", "12", "--csv", str(tmp_path / "out.csv"))
    _, said = interrupted(
        words, tmp_path, lambda: part.exists() and part.read_text().count("\n") > 2
    )
    assert "had ended; what is known of them is in" in said.replace("\n", " ")
    assert not (tmp_path / "out.csv").exists()
    kept = list(csv.DictReader(part.open()))
    assert {row["job"] for row in kept} >= {"one"}
    assert all(float(row["ended"]) > 0.0 for row in kept)


def test_what_has_ended_well_leaves_no_part(xc40io, table, tmp_path):
    result = xc40io("stream", str(table), "--nodes", "5", "--csv", str(tmp_path / "out.csv"))
    assert result.exit_code == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["jobs.csv", "out.csv"]


def test_several_draws_tell_how_far_they_are_to_the_end(table):
    told: list[tuple[int, int]] = []
    document = {
        "machine": "theta",
        "queue": {"nodes": 5},
        "records": {"table": str(table), "habits": "production"},
    }
    found = run_stream(
        checked_stream(document, "a test"), draws=2, progress=lambda *now: told.append(now)
    )
    total = 2 * Stream(found.first.scenario, recorded_jobs(found.first.scenario).jobs).bytes
    assert told == [(total // 2, total), (total, total)]
    hours = found.node_hours
    assert hours.low <= hours.middle <= hours.high
    assert 0.0 < found.longest.low <= found.longest.high <= 1.0
