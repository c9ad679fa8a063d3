"""``xc40io explain``: its answers, and what it refuses."""

from __future__ import annotations

import json
import re

import pytest
from darshan_logs import posix_writes, write_log

MIB = 2**20
JOB = ("--nodes", "4", "--ppn", "2", "--stripe-count", "1")
IOR = ("--", "-w", "-e", "-b", "8m", "-t", "8m")


def test_it_says_what_binds_and_what_helps(xc40io):
    done = xc40io("explain", *JOB, "--jobs", "1", *IOR)
    assert done.exit_code == 0, done.stderr
    lines = done.stdout.splitlines()
    told = done.stdout.partition("\n\n")[0].replace("\n", " ")
    assert re.fullmatch(
        r"Write: .+: \d+\.\d\d times as fast \(.+\), .+ sure\.( It takes .+)?", told
    )
    assert "What helps most" not in done.stdout
    assert "It is bound by " in " ".join(done.stdout.split())
    assert max(map(len, lines)) <= 100
    assert lines[-1].endswith("runs were made. A part is to blame, and a change helps, if the") or (
        "runs were made" in done.stdout
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("vpic",), "did you mean vpic-io?"),
        ((), "kernel.name = ''"),
        (("vpic-io", "--nodes", "4"), "right would be its place before the double dash"),
        (("vpic-io", "--particle", "4"), "see xc40io kernel vpic-io --help"),
        (("vpic-io", "--particles", "x"), "should be a whole number"),
    ],
)
def test_a_kernel_that_cannot_be_is_refused(xc40io, words, said):
    refused = xc40io("explain", "--", "kernel", *words)
    assert refused.exit_code == 2
    assert said in refused.stderr


@pytest.mark.slow
def test_a_kept_result_is_explained_by_its_scenario(xc40io, tmp_path):
    path = str(tmp_path / "kept.xc40io")
    assert xc40io("ior", *JOB, "--save", path, *IOR).exit_code == 0
    ran = xc40io("explain", *JOB, "--jobs", "1", *IOR)
    kept = xc40io("explain", "--jobs", "1", path)
    assert kept.exit_code == 0, kept.stderr
    assert kept.stdout == ran.stdout


def test_a_log_is_explained_and_so_is_what_is_kept_of_its_replay(xc40io, tmp_path):
    log = write_log(
        tmp_path / "job.darshan",
        POSIX=[posix_writes(rank, 8, MIB) | {"id": 1 + rank} for rank in range(4)],
        names={1 + rank: f"/lus/theta-fs0/data.{rank}" for rank in range(4)},
    )
    told = xc40io("explain", "--jobs", "1", "--json", str(log))
    assert told.exit_code == 0, told.stderr
    document = json.loads(told.stdout)
    phases = {phase["phase"]: phase for phase in document["phases"]}
    assert next(iter(phases)) == "replay"
    assert phases["replay"]["waits"]
    assert phases["posix write"]["waits"] == []
    assert document["scenario"]["workload"]["kernel"]["trace"] == str(log)
    assert "--stripe-count 4 --stripe-size 1m" not in told.stdout  # unless somebody waits for OSTs
    path = str(tmp_path / "kept.xc40io")
    assert xc40io("replay", str(log), "--save", path).exit_code == 0
    again = xc40io("explain", "--jobs", "1", "--json", path)
    assert json.loads(again.stdout)["phases"] == document["phases"]


def test_a_log_is_explained_as_it_would_be_replayed_with_options(xc40io, tmp_path):
    log = write_log(tmp_path / "job.darshan", POSIX=[posix_writes(0, 8, MIB)], ranks=1)
    told = xc40io(
        *("explain", "--jobs", "1", "--json", "--stripe-count", "4", str(log), "--set"),
        "lustre.osts=28",
    )
    assert told.exit_code == 0, told.stderr
    scenario = json.loads(told.stdout)["scenario"]
    assert scenario["striping"]["count"] == 4
    assert scenario["changes"] == {"lustre.osts": 28}


def test_what_could_not_be_tried_is_told(xc40io, tmp_path):
    path = tmp_path / "steps.yaml"
    path.write_text(SKELETON, encoding="utf-8")
    scenario = tmp_path / "narrow.yaml"
    scenario.write_text(
        "machine: theta\nnodes: 2\nppn: 4\nstriping: {count: 1}\n"
        "workload: {kernel: {name: steps.yaml}}\n"
    )
    told = xc40io("explain", "--why", "--jobs", "1", str(scenario))
    assert told.exit_code == 0, told.stderr
    assert "Could not be tried: 4 nodes, 2 ranks on each in place of 2 nodes, 4" in told.stdout
    assert "four ranks to a node" in " ".join(told.stdout.split())


SKELETON = """
summary: One that wants its nodes full.
files: {out: {per: job}}
require: [{that: ppn == 4, otherwise: four ranks to a node are right}]
phases: [create: out, write: {file: out, size: 64 MiB, transfer: 8 MiB}, close: out]
"""


def test_seed_and_changes_beside_a_scenario_are_those_of_run(xc40io, tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text(
        "machine: theta\nnodes: 2\nppn: 2\nenvironment: {A: b}\nworkload: {ior: -w -b 4m}\n"
    )
    given = ("--seed", "5", "--set", "lustre.osts=28", "--hints", "*:cb_nodes=1", "--env", "C=d")
    explained = json.loads(xc40io("explain", "--jobs", "1", "--json", *given, str(path)).stdout)
    ran = json.loads(xc40io("run", "--json", *given, str(path)).stdout)
    scenario = explained["scenario"]
    assert scenario == ran["xc40io"]["scenario"]
    assert (scenario["seed"], scenario["changes"]) == (5, {"lustre.osts": 28})
    assert scenario["environment"] == {"A": "b", "C": "d", "MPICH_MPIIO_HINTS": "*:cb_nodes=1"}


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("theta-headline", "again"), "right would be one scenario, log or result, or a command"),
        (("no-such",), "no-such"),
    ],
)
def test_what_is_refused(xc40io, words, sentence):
    done = xc40io("explain", *words)
    assert done.exit_code != 0
    assert sentence in (str(done.exception) + done.stderr)
