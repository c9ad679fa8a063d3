"""``xc40io plan``: tables, a page and pictures; what cannot be is said at once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from interrupts import kept_and_told

from xc40io.cli.app import cli

MIX = """
title: Two jobs
machine: theta
jobs:
  - name: own
    weight: 3
    nodes: 2
    ppn: 2
    workload: {ior: -a POSIX -F -w -b 4m -t 1m}
  - name: shared
    nodes: 1
    ppn: 2
    striping: {count: 4}
    workload: {ior: -a POSIX -w -e -b 4m -t 1m}
costs: {lustre.osts: 100}
currency: EUR
"""
OVER = ("--over", "lustre.osts=56,112", "--over", "lnet.routers=15,30")


@pytest.fixture(autouse=True)
def _mix() -> None:
    Path("mine.yaml").write_text(MIX, encoding="utf-8")


def plan(*words: str) -> Result:
    common = ("mine.yaml", "--jobs", "1", "--store", "store")
    return CliRunner().invoke(cli, ["plan", *common, *words], prog_name="xc40io")


def test_a_plan_as_text_json_picture_and_page() -> None:
    result = plan(*OVER, "--cost", "lnet.routers=7", "--html", "page.html", "--plot", "cost.svg")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("Two jobs\n\n* Buy nothing: none makes the mix faster by more")
    assert "\n4 configurations of theta, seeds 1 to 2;" in result.stdout
    assert "\n  lustre.osts=112 alone" in result.stdout
    assert "cost (EUR)" in result.stdout
    assert "16 runs simulated, 0 known from before" in result.stderr
    page = Path("page.html").read_text("utf-8")
    assert page.count("<svg") == 2
    assert "--cost lnet.routers=7" in page
    drawn = Path("cost.svg").read_bytes()
    again = plan(*OVER, "--cost", "lnet.routers=7", "--json", "--plot", "cost.svg")
    assert "0 runs simulated, 16 known from before" in again.stderr
    document = json.loads(again.stdout)
    assert [each["cost"] for each in document["configurations"]] == [0, 5600, -105, 5495]
    assert Path("cost.svg").read_bytes() == drawn


def test_sensitivity_and_faults_stand_by_themselves_or_beside_a_plan() -> None:
    measured = ("--sensitivity", "--value", "lustre.ost_write_rate", "--runs", "8", "--range=20%")
    failing = ("--faults", "--fault", "OST slow 5", "--failed", "1")
    alone = plan(*measured, *failing, "--html", "page.html")
    assert alone.exit_code == 0, alone.output
    assert "depends most on lustre.ost_write_rate" in alone.stdout
    assert "Throughput with failed parts" in alone.stdout
    assert "Marginal gains" not in alone.stdout
    assert Path("page.html").read_text("utf-8").count("<svg") == 2
    both = json.loads(plan("--over", "lustre.osts=112", *measured, *failing, "--json").stdout)
    (effect,) = both["sensitivity"]["effects"]
    assert effect["range"]["low"] == pytest.approx(0.8 * 3.0714e9)
    assert [point["failed"] for point in both["faults"][0]["points"]] == [0, 1]
    assert len(both["configurations"]) == 2


def test_two_mixes_run_beside_each_other_on_the_same_machines() -> None:
    other = MIX.replace("title: Two jobs", "title: Own files").replace("weight: 3", "weight: 9")
    Path("other.yaml").write_text(other, encoding="utf-8")
    words = ("--over", "lustre.osts=112", "--against", "other.yaml")
    told = plan(*words)
    assert told.exit_code == 0, told.output
    assert "* The other mix (Own files) is " in told.stdout
    assert " other mix " in told.stdout
    document = json.loads(plan(*words, "--json").stdout)["against"]
    assert document["titles"] == ["Two jobs", "Own files"]
    one, more = document["configurations"]
    assert [one["values"], more["values"]] == ["as it is", "lustre.osts=112"]
    first, second = one["bandwidths"]
    assert second / first == pytest.approx(one["times_as_fast"]["value"], rel=1e-3)
    # The same jobs with other weights: the rates of both lie between those of the jobs.
    jobs = json.loads(plan(*words, "--json").stdout)["configurations"][0]["jobs"]
    rates = [job["bandwidth"] for job in jobs.values()]
    assert min(rates) < min(first, second) < max(first, second) < max(rates)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--against", "polaris.yaml"), "there is no such file"),
        (("--over", "strping.count=1"), "there is no such value"),
        (("--cost", "lustre.osts=much"), "right would be PATH=NUMBER"),
        (("--sobol", "4"), "--sobol belongs to --sensitivity"),
        (("--failed", "4"), "--failed belongs to --faults"),
        (("--faults", "--failed", "x"), "right would be numbers"),
        (("--sensitivity", "--range", "much"), "right would be a part, as in 30%"),
        (("--sensitivity", "--runs", "1"), "there have to be two"),
        (("--faults", "--sensitivity", "--plot", "x.svg"), "it draws one"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_runs(words: tuple[str, ...], said: str) -> None:
    result = plan(*words)
    assert result.exit_code == 2
    assert said in result.output
    assert not list(Path().glob("store/*/*"))


def test_an_interrupt_keeps_what_has_finished(tmp_path: Path) -> None:
    words = ("mine.yaml", "--store", "store", "--over", "lustre.osts=14:560:14", "--repeat", "4")
    kept, finished = kept_and_told(("plan", *words), tmp_path)
    assert 0 < finished <= kept <= finished + 1  # one may be kept just before it is counted


JOBS = """\
job,nodes,ranks,read,written,runtime,write_layout,write_call,stats
a,2,4,0,8 MB,60,rank,1m,0
b,2,4,0,16 MB,60,rank,1m,0
c,1,2,4 MB,0,30,,,0
"""


def from_jobs(*words: str) -> Result:
    common = ("--jobs-from", "jobs.csv", "--jobs", "1", "--store", "store")
    return CliRunner().invoke(cli, ["plan", *common, *words], prog_name="xc40io")


def test_a_table_of_jobs_in_place_of_a_mix() -> None:
    Path("jobs.csv").write_text(JOBS, encoding="utf-8")
    found = from_jobs("--over", "lustre.osts=56,112")
    assert found.exit_code == 0, found.output
    assert "The jobs of jobs.csv on theta" in found.stdout
    assert "2 kinds of jobs: 3 of 3 jobs, 100.0 % of the bytes and 100.0 %" in found.stdout
    assert "write-2 0.667, read-1 0.333" in " ".join(found.stdout.split())
    assert "8 runs simulated" in found.stderr
    words = " ".join(found.stdout.split())
    assert "assumed: the ranks of read-1 share files. All was run the other way, too." in words
    assert "* What is said of these does not hang on it: lustre.osts=112 (" in words
    fewer = from_jobs("--kinds", "1", "--over", "lustre.osts=28,56", "--json").stdout
    first = json.loads(fewer)["configurations"][0]
    assert {name: job["bytes"] for name, job in first["jobs"].items()} == {"write-2": 12_000_000}


def test_the_mix_of_a_table_is_written_and_planned_for_alike() -> None:
    rows = "big,64,512,0,240 GB,60,rank,64m,0\n"
    Path("jobs.csv").write_text(JOBS + rows, encoding="utf-8")
    asked = ("--over", "lustre.osts=56,112", "--set", "nodes.write_copy_rate=1 GB/s", "--json")
    of_table = from_jobs(*asked, "--output", "made.yaml")
    assert of_table.exit_code == 0, of_table.output
    written = Path("made.yaml").read_text(encoding="utf-8")
    assert "rpcs_as_one: " in written
    assert "stripes_at_most: 48" in written
    words = ("plan", "made.yaml", "--jobs", "1", "--store", "store", *asked)
    of_file = CliRunner().invoke(cli, words, prog_name="xc40io")
    assert "0 runs simulated" in of_file.stderr
    one, other = (json.loads(found.stdout)["configurations"] for found in (of_table, of_file))
    assert one == other
    assert "--output belongs to --jobs-from" in plan("--output", "x.yaml").stderr
    assert "right would be a name that ends in .yaml" in from_jobs("--output", "x.csv").stderr


SHARED = "job,nodes,ranks,written,write_layout\na,2,4,8 MB,job\n"


def test_habits_follow_a_machine_with_fewer_osts() -> None:
    Path("jobs.csv").write_text(SHARED, encoding="utf-8")
    found = from_jobs("--set", "lustre.osts=28", "--over", "lnet.routers=60")
    assert found.exit_code == 0, found.output
    assert (
        "theta has 28 OSTs, so a shared file of which the table does not tell its stripes gets 28 "
        "where habits say 48."
    ) in " ".join(found.stdout.split())
    fewer = from_jobs("--over", "lustre.osts=28")
    assert fewer.exit_code == 0, fewer.output
    assert "With lustre.osts=28 the files of write-2 have 28 stripes in place of 48" in " ".join(
        fewer.stdout.split()
    )
    Path("jobs.csv").write_text(SHARED.replace("\n", ",stripe_count\n", 1)[:-1] + ",48\n")
    told = from_jobs("--set", "lustre.osts=28", "--over", "lnet.routers=60")
    assert "stripe count 48 is more than the 28 OSTs there are" in told.stderr


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("mine.yaml",), "plan has both MIX and --jobs-from; right would be one of them"),
        (("--machine", "nowhere"), "nowhere"),
        (("--habits", "nowhere"), "nowhere"),
        (("--kinds", "0"), "--kinds"),
    ],
)
def test_what_does_not_go_with_a_table_is_said(words: tuple[str, ...], sentence: str) -> None:
    Path("jobs.csv").write_text(JOBS, encoding="utf-8")
    found = from_jobs(*words)
    assert found.exit_code == 2
    assert sentence in found.stderr


def test_a_table_of_jobs_that_no_plan_can_be_made_of() -> None:
    Path("jobs.csv").write_text("nodes\n4\n", encoding="utf-8")
    found = from_jobs()
    assert found.exit_code == 2
    assert "jobs.csv: of no job the bytes are known; right would be" in found.stderr
    Path("jobs.csv").write_text("nodes,read\n9999,1\n", encoding="utf-8")
    found = from_jobs()
    assert "read-9999 has 9,999 nodes, and theta 4,392" in found.stderr
    assert "neither MIX nor --jobs-from" in CliRunner().invoke(cli, ["plan"]).stderr
    assert "--kinds belongs to --jobs-from" in plan("--kinds", "2").stderr


def test_releases_of_lustre_stand_beside_each_other() -> None:
    result = plan("--over", "lustre.release=2.7,2.12", "--json")
    assert result.exit_code == 0, result.output
    first, second = json.loads(result.stdout)["configurations"]
    assert "2.12" in json.dumps(second)
    assert first != second


NEXT = """
runs:
- {nodes: 1, ppn: 1, workload: {ior: -w -e -F -b 8m -t 1m}, tells: [write(it)]}
- {nodes: 1, ppn: 1, workload: {mdtest: -n 20 -F -C}, tells: ["operations(it, file creation)"]}
"""


def test_what_to_measure_next_is_told_of_the_best_change(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("next.yaml").write_text(NEXT, encoding="utf-8")
    monkeypatch.setattr("xc40io.validation.next_run.FILE", Path("next.yaml"))
    monkeypatch.setattr("xc40io.validation.next_run.BUDGET", 48)
    words = ("--over", "nodes.write_copy_rate=1 GB/s", "--next")
    told = plan(*words)
    assert told.exit_code == 0, told.output
    assert "leaves what nodes.write_copy_rate=1 GB/s brings within a factor of" in told.stdout
    found = json.loads(plan(*words, "--json").stdout)["next"]
    assert found[0]["command"].startswith("aprun -n 1 -N 1 ior -w -e -F -b 8m")
    assert found[0]["most"][0] == "lustre.journal_commit"
    assert 0.0 < found[0]["narrowed"] < 1.0


def test_what_to_measure_next_is_refused_where_nothing_is_changed() -> None:
    told = plan("--sensitivity", "--next")
    assert told.exit_code == 2
    assert "--next is about what a change brings; right would be --over beside it" in told.stderr
