"""What all studies have: a table, a picture, a page, and paths that are checked before a run."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from html_outline import Outline

from xc40io.studies import store

JOB = ("--nodes", "1", "--ppn", "2")
WRITE = ("--", "-a", "POSIX", "-F", "-w", "-e", "-b", "1m", "-t", "1m")
MIX = "machine: theta\njobs: [{name: a, nodes: 1, ppn: 1, workload: {ior: -w -b 1m -t 1m}}]\n"
TABLE = "job,nodes,ranks,read,written,runtime\none,2,4,8 MB,16 MB,5\ntwo,4,4,0,8 MB,5\n"
STORE = ("--store", "store")
COMMANDS = {
    "compare": ("compare", *JOB, "--what-if", "ppn=1", "OPTIONS", *WRITE),
    "targets": ("compare", *JOB, "OPTIONS", *WRITE),
    "sweep": ("sweep", *JOB, *STORE, "--over", "ior.b=1m,2m", "OPTIONS", *WRITE),
    "tune": ("tune", *JOB, *STORE, "--budget", "4", "--repeat", "1", "OPTIONS", *WRITE),
    "explain": ("explain", *JOB, "OPTIONS", *WRITE),
    "checkpoint": ("checkpoint", *JOB, *STORE, "--mtbf", "1h", "--work", "2h", "OPTIONS", *WRITE),
    "plan": ("plan", "mix.yaml", *STORE, "--over", "lustre.osts=56,112", "OPTIONS"),
    "faults": ("plan", "mix.yaml", *STORE, "--faults", "--failed", "0,1", "OPTIONS"),
    "stream": ("stream", "jobs.csv", "--nodes", "5", "OPTIONS"),
}
COLUMNS = {
    "compare": ("phase", "side", "bandwidth"),
    "targets": ("target.kind", "phase", "bandwidth"),
    "sweep": ("ior.b", "seed", "bandwidth"),
    "tune": ("trial", "stripe-count", "seconds"),
    "explain": ("phase", "tried", "gain"),
    "checkpoint": ("way", "every", "share"),
    "plan": ("lustre.osts", "job", "times_as_fast"),
    "faults": ("fault", "failed", "bandwidth"),
    "stream": ("job", "waited", "in_io"),
}


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "cache_folder", lambda: tmp_path / "runs")
    Path("mix.yaml").write_text(MIX, encoding="utf-8")
    Path("jobs.csv").write_text(TABLE, encoding="utf-8")


def typed(name: str, *options: str) -> list[str]:
    words = list(COMMANDS[name])
    place = words.index("OPTIONS")
    return [*words[:place], *options, "--jobs", "1", *words[place + 1 :]]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_study_has_a_table_a_picture_a_page_and_a_document(xc40io, name):
    words = typed(name, "--csv", "a.csv", "--plot", "a.svg", "--html", "a.html", "--json")
    done = xc40io(*words)
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout)
    told = [line for line in done.stderr.splitlines() if line.split()[1] in ("wrote", "drew")]
    assert told == ["xc40io: wrote a.csv", "xc40io: drew a.svg", "xc40io: wrote a.html"]
    rows = list(csv.DictReader(Path("a.csv").read_text(encoding="utf-8").splitlines()))
    assert len(rows) >= 2
    assert set(COLUMNS[name]) <= rows[0].keys()
    assert Path("a.svg").read_text(encoding="utf-8").startswith("<?xml")
    outline = Outline.of(Path("a.html").read_text(encoding="utf-8"))
    assert len(outline.texts["figure"]) >= 1
    commands = [text.split() for text in outline.texts["pre"] if "xc40io " in text]
    assert ["xc40io", *words] in commands


@pytest.mark.parametrize("name", [name for name, words in COMMANDS.items() if STORE[0] in words])
def test_runs_that_are_kept_go_to_a_scheduler_or_to_processes(xc40io, name):
    done = xc40io(*typed(name, "--scheduler", "dask.json"))
    assert done.exit_code == 2
    assert "--jobs 1 with --scheduler: the scheduler has its workers" in done.stderr


def test_a_table_or_a_picture_is_that_of_one_study(xc40io):
    for option in ("--csv", "--plot"):
        done = xc40io(*typed("faults", "--sensitivity", option, "a.svg"))
        assert done.exit_code == 2
        assert f"{option} a.svg with several studies" in done.stderr


def test_a_plan_takes_another_seed_in_place_of_that_of_the_mix(xc40io):
    done = xc40io(*typed("plan", "--seed", "7", "--repeat", "2"))
    assert "seeds 7 to 8" in done.stdout


def test_a_sweep_that_has_no_picture_has_a_page(xc40io):
    axes = ("--over", "ior.t=256k,1m", "--over", "ppn=1,2")
    done = xc40io(*typed("sweep", *axes, "--html", "a.html"))
    assert done.exit_code == 0, done.stderr
    outline = Outline.of(Path("a.html").read_text(encoding="utf-8"))
    assert "figure" not in outline.texts
    assert outline.texts["h2"][:2] == ["Which is the fastest", "Runs"]
