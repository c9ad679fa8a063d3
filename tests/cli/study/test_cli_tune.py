"""``xc40io tune``: what is printed, drawn and refused; an interrupt prints the best so far."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from darshan_logs import posix_writes, write_log
from interrupts import interrupted

from xc40io.cli.app import cli

JOB = ("--nodes", "1", "--ppn", "2", "--jobs", "1", "--store", "store")
IOR = ("--", "-a", "POSIX", "-w", "-e", "-b", "4m", "-t", "4m")


def tune(*words: str) -> Result:
    return CliRunner().invoke(cli, ["tune", *words], prog_name="xc40io")


def test_lines_to_paste_a_document_and_a_picture() -> None:
    shape = ("--nodes", "2", "--ppn", "2", "--jobs", "1", "--store", "store")
    asked = (*shape, "--budget", "9", "--repeat", "2", "--plot", "map.svg")
    ior = ("--", "-a", "POSIX", "-w", "-e", "-b", "8m", "-t", "8m")
    result = tune(*asked, *ior)
    assert result.exit_code == 0, result.output
    assert "  lfs setstripe -c " in result.stdout
    assert "  aprun -n 4 -N 2 ior -a POSIX -w -e -b 8m -t 8m\n" in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 100
    drawn = Path("map.svg").read_bytes()
    again = tune(*asked, "--json", *ior)
    assert "xc40io: 0 runs simulated" in again.stderr
    document = json.loads(again.stdout)
    assert document["proposal"]["setstripe"] in result.stdout
    assert document["reproducible"]
    assert document["model_error"]["kind"] == "shared file, write"
    assert Path("map.svg").read_bytes() == drawn


def test_beside_others_on_request_and_where_their_load_is_known() -> None:
    asked = ("--budget", "3", "--repeat", "1", "--allow", "", "--over", "striping.count=1,8")
    usual = tune("--machine", "cori-knl", *JOB, *asked, *IOR)
    assert usual.exit_code == 0, usual.output
    assert "Beside the usual load of cori-knl" in usual.stdout
    again = tune("--machine", "cori-knl", *JOB, *asked, "--beside", "typical", *IOR)
    assert again.stdout == usual.stdout
    alone = tune("--machine", "cori-knl", *JOB, *asked, "--beside", "nothing", "--json", *IOR)
    assert json.loads(alone.stdout)["beside"] == {"kind": "nothing", "name": "nothing"}
    mix = "machine: theta\njobs: [{name: b, nodes: 1, ppn: 2, workload: {ior: -w -b 4m -t 4m}}]\n"
    Path("mine.yaml").write_text(mix, encoding="utf-8")
    beside = tune(*JOB, *asked, "--beside", "mine.yaml", "--html", "page.html", *IOR)
    assert beside.exit_code == 0, beside.output
    assert "Beside the jobs of mine.yaml, one at a time" in " ".join(beside.stdout.split())
    assert "Beside others" in Path("page.html").read_text(encoding="utf-8")


def test_a_kept_result_is_tuned_as_it_was_run() -> None:
    words = ("--nodes", "1", "--ppn", "2", "--stripe-count", "8", "--save", "kept.xc40io")
    CliRunner().invoke(cli, ["ior", *words, *IOR])
    result = tune("kept.xc40io", "--budget", "3", "--repeat", "1", "--store", "store", "--json")
    document = json.loads(result.stdout)
    assert document["present"]["setting"] == {"stripe-count": "8", "stripe-size": "1m"}


def test_of_a_log_only_that_is_turned_which_its_replay_can_change() -> None:
    writes = [posix_writes(rank, 3, 1 << 20, FSYNCS=1) for rank in range(2)]
    write_log(Path("job.darshan"), ranks=2, POSIX=writes)
    asked = ("--allow", "all", "--budget", "3", "--repeat", "1", "--jobs", "1", "--store", "store")
    result = tune("job.darshan", *asked, "--json")
    assert result.exit_code == 0, result.output
    document = json.loads(result.stdout)
    turned = {knob["name"] for knob in document["knobs"]}
    assert turned == {"stripe-count", "stripe-size", "ranks-per-node"}
    assert document["title"].startswith("Tune replay of job.darshan on theta")
    assert document["objective"]["minimised"].startswith("seconds in calls")
    assert len(document["trials"]) == 3


def test_seconds_of_the_clock_are_said_not_to_be_repeatable() -> None:
    result = tune(*JOB, "--budget", "1s", "--over", "striping.count=1,4", "--allow", "", *IOR)
    assert result.exit_code == 0, result.output
    assert "A budget in runs can be repeated" in " ".join(result.stdout.split())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--at-most", "osts", *IOR), "right would be NAME=MOST"),
        (("--budget", "1", *IOR), "2 or more, as 60"),
        (("--beside", "typical", *IOR), "usual day of theta is not known"),
        (("theta-two-jobs",), "it has several jobs"),
        (("theta-headline", "more"), "right would be one scenario"),
        (("theta-headline", "--nodes", "4"), "stands in the scenario"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_runs(words: tuple[str, ...], said: str) -> None:
    result = tune("--store", "store", *words)
    assert result.exit_code == 2
    assert said in result.output
    assert not list(Path().glob("store/*/*"))


def test_an_interrupt_prints_the_best_so_far(tmp_path: Path) -> None:
    asked = ("tune", "--budget", "900", "--allow", "all", "--jobs", "1", "--store", "store")

    def two_are_kept() -> bool:
        return len(list(tmp_path.glob("store/*/*.json"))) > 1

    printed, _ = interrupted((*asked, *JOB[:4], *IOR), tmp_path, two_are_kept)
    assert "Interrupted: this is the best so far" in printed
