"""Formats of other tools on the command line: asked for in a run, of a kept result, of jobs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner
from trace_checks import check_trace

from xc40io.cli.app import cli

JOBS = """\
machine: theta
jobs:
  - {name: big, nodes: 2, ppn: 2, workload: {ior: -a POSIX -w -e -F -b 2m}}
  - {name: small, nodes: 1, ppn: 2, start: 10 ms, workload: {ior: -a POSIX -w -e -b 1m}}
"""


def xc40io(*words: str, fails: bool = False) -> str:
    result = CliRunner().invoke(cli, words)
    assert (result.exit_code == 2) if fails else (result.exit_code == 0), result.output
    return result.stderr if fails else result.stdout


def test_a_kept_result_gives_the_same_files():
    ior = ("--", "-w", "-F", "-b", "1m")
    xc40io("ior", "--nodes", "2", "--save", "kept", "--record", "--perfetto", "a.json", *ior)
    printed = xc40io("show", "kept", "--perfetto", "b.json", "--file-stats")
    assert Path("a.json").read_bytes() == Path("b.json").read_bytes()
    assert "# File output by name" in printed


@pytest.mark.parametrize(
    "option",
    ["--proc=p", "--perfetto=t.json", "--tokio=t.hdf5", "--file-stats", "--animate=a.html"],
)
def test_a_result_without_a_recording_is_refused(option: str):
    xc40io("ior", "--nodes", "1", "--save", "kept", "--", "-w", "-b", "1m")
    said = xc40io("show", "kept", option, fails=True)
    assert f"{option.split('=')[0]}: kept was kept without a recording" in said


def test_files_are_told_as_text_and_as_json():
    run = ("ior", "--nodes", "2", "--ppn", "2", "--file-stats")
    text = xc40io(*run, "--", "-w", "-b", "1m")
    below = text[text.index("# Wall time") :].splitlines()[1:]
    assert below[0] == "#"
    assert below[1].startswith("# File output by name")
    assert all(line.startswith("#") for line in below)
    document = json.loads(xc40io(*run, "--json", "--", "-w", "-b", "1m"))
    (use,) = document["xc40io"]["file_stats"]["written"]
    assert (use["file"], use["ranks"], use["bytes"]) == ("testFile", 4, 4 << 20)
    plain = json.loads(xc40io("ior", "--nodes", "1", "--json", "--", "-w", "-b", "1m"))
    assert "file_stats" not in plain["xc40io"]


def test_several_jobs_stand_in_one_trace_and_one_folder():
    Path("two.yaml").write_text(JOBS)
    forms = ("--proc", "proc", "--perfetto", "two.json", "--tokio", "two.hdf5")
    text = xc40io("run", "two.yaml", "--no-alone", "--file-stats", *forms)
    assert text.count("# File output by name") == 2
    document = json.loads(Path("two.json").read_text())
    check_trace(document)
    names = {e["args"]["name"] for e in document["traceEvents"] if e["name"] == "thread_name"}
    assert {"big rank 3", "small rank 1"} <= names
    (mdt,) = Path("proc").glob("mds0000/proc/fs/lustre/mdt/*/job_stats")
    jobs = {job["job_id"]: job for job in yaml.safe_load(mdt.read_text())["job_stats"]}
    assert jobs.keys() == {"big.0", "small.0"}
    assert jobs["big.0"]["mknod"]["samples"] == 4
    assert jobs["small.0"]["mknod"]["samples"] == 1
    written = dict.fromkeys(jobs, 0)
    for path in Path("proc").glob("oss*/proc/fs/lustre/obdfilter/*/job_stats"):
        for job in yaml.safe_load(path.read_text())["job_stats"] or ():
            written[job["job_id"]] += job["write_bytes"]["sum"]
    assert written["big.0"] == 8 << 20


@pytest.mark.parametrize("target", ["ssd", "bb", "home"])
def test_files_elsewhere_leave_the_servers_of_lustre_alone(target: str):
    forms = ("--proc", "proc", "--perfetto", "run.json", "--tokio", "servers.hdf5", "--plots", "p")
    where = ("--machine", "cori-haswell") if target == "bb" else ()
    words = ("ior", *where, "--target", target, "--nodes", "2", "--file-stats", *forms)
    text = xc40io(*words, "--", "-w", "-F", "-b", "1m")
    assert "# File output by name" in text
    check_trace(json.loads(Path("run.json").read_text()))
    stats = list(Path("proc").glob("oss*/proc/fs/lustre/obdfilter/*/stats"))
    assert stats
    assert not any("bytes" in path.read_text() for path in stats)
    assert not list(Path("proc").glob("*/proc/fs/lustre/llite"))
    assert not Path("p/server_rates.png").exists()
