"""A machine from a few measurements: what another machine does, given as measured."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from xc40io import Scenario, simulate
from xc40io.config.machine import load_machine
from xc40io.trust.how_sure import expected
from xc40io.workloads.catalogue import traits_of

MINE = """
name: mine
title: Mine
description: What is known of it.
like: theta
"""
TRUTH = """
name: truth
title: Truth
description: What it really is.
like: mine.yaml
nodes:
  write_copy_rate: {value: 200 MB/s, source: truth, firm: assumed}
lustre:
  mds:
    op_latency: {value: 200 us, source: truth, firm: assumed}
"""
RUNS = {
    "one": {"ior": "-w -F -b 64m -t 1m"},
    "eight": {"nodes": 2, "ppn": 4, "ior": "-w -F -b 32m -t 1m"},
    "small": {"ior": "-w -F -b 16m -t 64k"},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two machine files, and what the second does as measurements of the first."""
    folder = tmp_path_factory.mktemp("fit")
    (folder / "mine.yaml").write_text(MINE)
    (folder / "truth.yaml").write_text(TRUTH)
    claims = []
    for name, run in RUNS.items():
        job = {"nodes": 1, "ppn": 1} | {k: v for k, v in run.items() if k != "ior"}
        workload = {"ior": run["ior"]}
        done = simulate(Scenario(machine=str(folder / "truth.yaml"), workload=workload, **job))
        (rate,) = done.to_pandas()["phases"].bandwidth
        claims.append(
            {
                "id": name,
                "text": name,
                "source": "the truth",
                "role": "check",
                "runs": {"it": {"machine": "theta", "workload": workload, **job}},
                "metric": "write(it)",
                "relation": {"value": f"{rate / 1e6:.4f} MB/s", "tolerance": "5%"},
            }
        )
    (folder / "ours.yaml").write_text(yaml.safe_dump({"claims": claims}))
    return folder


def test_the_value_that_differs_is_found_and_the_machine_is_written(folder, xc40io, monkeypatch):
    monkeypatch.chdir(folder)
    done = xc40io("fit", "mine.yaml", "--from", "ours.yaml", "--output", "fitted.yaml", "--json")
    assert done.exit_code == 0, done.stderr
    told = json.loads(done.stdout)
    numbers = {one["name"]: one for one in told["numbers"]}
    assert all(abs(one["after"] - 1.0) < abs(one["before"] - 1.0) for one in numbers.values())
    assert all(abs(one["left_out"] - 1.0) < 0.15 for one in numbers.values())
    first = told["values"][0]
    assert first["path"] == "nodes.write_copy_rate"
    assert first["low"] < 200e6 < first["high"]
    assert told["unmet"] == told["contradicted"] == []
    fitted = load_machine(folder / "fitted.yaml")
    assert fitted.values()["nodes.write_copy_rate"] == pytest.approx(first["after"])
    provenance = fitted.provenance["nodes.write_copy_rate"]
    assert provenance.firm == "calibrated"
    # What was measured makes intervals of runs like it narrower.
    assert [run.kind for run in fitted.measured] == ["own files, write"] * len(RUNS)
    one = {"nodes": 1, "ppn": 1, "workload": {"ior": "-w -F -b 128m -t 1m"}}
    runs = [Scenario(machine=name, **one) for name in ("mine.yaml", "fitted.yaml")]
    before, after = (expected(run, traits_of(run), "write") for run in runs)
    assert "on mine" in before.why
    assert after.why == ""
    assert after.nine_of_ten < before.nine_of_ten
    assert provenance.source.startswith("fitted to ours.yaml on ")
    assert fitted.values()["lustre.osts"] == load_machine("theta").values()["lustre.osts"]


def test_what_no_value_can_bring_about_is_said_and_bends_none(folder, xc40io, monkeypatch):
    monkeypatch.chdir(folder)
    claims = yaml.safe_load(Path("ours.yaml").read_text())
    claims["claims"][2]["relation"]["value"] = "2 MB/s"  # no value slows 64 KiB calls so much
    Path("wrong.yaml").write_text(yaml.safe_dump(claims))
    free = ("--free", "nodes.write_copy_rate", "--free", "nodes.call_time")
    done = xc40io("fit", "mine.yaml", "--from", "wrong.yaml", *free, "--json")
    told = json.loads(done.stdout)
    assert told["unmet"] == ["small"]
    values = {one["path"]: one for one in told["values"]}
    assert values["nodes.write_copy_rate"]["after"] > 150e6
    text = xc40io("fit", "mine.yaml", "--from", "wrong.yaml", *free).stdout
    assert "small: simulated" in text
    assert "the model lacks something" in text


def test_values_beside_the_claims_need_no_fit_and_are_written(folder, xc40io, monkeypatch):
    monkeypatch.chdir(folder)
    claims = yaml.safe_load(Path("ours.yaml").read_text())
    leaf = {"value": "200 MB/s", "source": "dd", "firm": "measured"}
    claims["values"] = {"nodes.write_copy_rate": leaf}
    Path("known.yaml").write_text(yaml.safe_dump(claims))
    words = ("fit", "mine.yaml", "--from", "known.yaml", "--free", "nodes.call_time")
    done = xc40io(*words, "--output", "known-fit.yaml", "--json")
    assert all(abs(one["before"] - 1.0) < 0.05 for one in json.loads(done.stdout)["numbers"])
    written = load_machine("known-fit.yaml")
    assert written.values()["nodes.write_copy_rate"] == 200e6
    assert written.provenance["nodes.write_copy_rate"].source == "dd"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["--budget", "3"],
            "budget = 3 runs, of which each step takes 3; right would be 21 at least",
        ),
        (["--free", "nodes.cores"], "--free nodes.cores: the machine has no such rate or time"),
    ],
)
def test_what_cannot_be_fitted_is_refused(folder, xc40io, monkeypatch, words, said):
    monkeypatch.chdir(folder)
    done = xc40io("fit", "mine.yaml", "--from", "ours.yaml", *words)
    assert done.exit_code == 2
    assert said in done.stderr


def test_the_machine_itself_is_not_written_over(folder, xc40io, monkeypatch):
    monkeypatch.chdir(folder)
    before = Path("mine.yaml").read_text()
    done = xc40io("fit", "mine.yaml", "--from", "ours.yaml", "--output", "mine.yaml")
    assert done.exit_code == 2
    assert "is read by the same command" in done.stderr
    assert Path("mine.yaml").read_text() == before


RUNS_NEXT = """
runs:
- {nodes: 1, ppn: 1, workload: {ior: -w -e -F -b 64m -t 1m}, tells: [write(it)]}
- {nodes: 2, ppn: 2, workload: {ior: -w -r -F -b 16m -t 1m}, tells: [read(it)]}
- {nodes: 1, ppn: 1, workload: {mdtest: -n 20 -F -C}, tells: ["operations(it, file creation)"]}
"""


@pytest.fixture
def following(folder, xc40io, monkeypatch):
    """Return what tells the document of a fit of two values, with what to measure next."""
    monkeypatch.chdir(folder)
    (folder / "next.yaml").write_text(RUNS_NEXT)
    monkeypatch.setattr("xc40io.validation.next_run.FILE", folder / "next.yaml")
    free = ("--free", "nodes.write_copy_rate", "--free", "nodes.read_copy_rate")
    return lambda *words: xc40io("fit", "mine.yaml", "--from", "ours.yaml", *free, *words)


def test_the_run_that_narrows_most_is_named(following):
    told = json.loads(following("--next", "--json").stdout)
    best = told["next"][0]
    assert best["command"].startswith("aprun -n 4 -N 2 ior -w -r -F -b 16m -t 1m -i ")
    assert best["most"] == ["nodes.read_copy_rate"]
    assert best["node_hours"] == pytest.approx(2 * best["minutes"] / 60)
    assert 0.3 < best["narrowed"] < 1.0
    assert "next" not in json.loads(following("--json").stdout)


def test_what_is_asked_decides_which_run_it_is(following):
    text = following("--ask", "aprun -n 1 -N 1 ior -w -F -b 128m -t 1m").stdout
    _, table = text.split("What to measure next")
    assert table.splitlines()[2].startswith("aprun -n 1 -N 1 ior -w -e -F")
    assert "leaves the job within a factor of" in table
    rest = following("--ask", "nodes.read_copy_rate", "--node-hours", "0.02").stdout
    assert "no run that takes so few node-hours would narrow nodes.read_copy_rate" in rest


def test_a_fit_that_spends_its_budget_is_told_all_the_same(following):
    done = following("--next", "--budget", "21")
    assert done.exit_code == 0
    assert "What to measure next is not told: that takes " in done.stdout
    assert "nodes.write_copy_rate" in done.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--ask", "nodes.cores"), "'nodes.cores' is no value that the measurements may move"),
        (("--ask", "aprun -n 9999999 -N 1 ior -w"), "what is asked does not run: nodes = 9999999"),
        (("--ask", "make coffee"), "--ask: starts no program that is known"),
    ],
)
def test_what_cannot_be_asked_is_refused(following, words, said):
    done = following(*words)
    assert done.exit_code == 2
    assert said in done.stderr
