"""``xc40io stream``: tables of jobs and scenarios with a queue."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest

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
        (["none.csv"], "none.csv: there is no such file"),
        (["theta-month", "--machine", "theta"], "with --machine: the scenario says so itself"),
        (["JOBS", "--nodes", "2"], "jobs.two.nodes = 4; right would be at most the 2"),
        (["JOBS", "--habits", "mine"], "'mine' is not one of the habits that ship"),
        (["JOBS", "--exact"], "No such option '--exact'"),
        (["JOBS", "--plot", "x.bmp"], "--plot x.bmp"),
        (["JOBS", "--csv", "/nowhere/x.csv"], "--csv"),
        (["JOBS", "--machine", "mars"], "'mars' is not one of the machines"),
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
