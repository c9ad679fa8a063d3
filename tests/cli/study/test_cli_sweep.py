"""``xc40io sweep``: tables, files and plots of all combinations; what cannot be is said at once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from interrupts import kept_and_told

from xc40io.cli.app import cli

IOR = ("--", "-a", "POSIX", "-w", "-r", "-b", "2m", "-t", "1m")


def sweep(*words: str, ior: tuple[str, ...] = IOR) -> Result:
    job = ("--nodes", "2", "--ppn", "2", "--jobs", "1", "--store", "store") if ior else ()
    return CliRunner().invoke(cli, ["sweep", *job, *words, *ior], prog_name="xc40io")


def test_a_table_of_two_axes_and_all_files() -> None:
    axes = ("--over", "striping.count=1,4", "--over", "striping.size=1m..4m", "--repeat", "2")
    result = sweep(*axes, "--out", "out", "--plot", "map.svg")
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[1] == "6 points, seeds 1 to 2; GB = 10^9 bytes"
    assert lines[4].split() == ["striping.count", "1m", "2m", "4m"]
    assert "12 runs simulated, 0 known from before" in result.stderr
    assert {path.name for path in Path("out").iterdir()} == {
        "data.nc",
        "runs.parquet",
        "sweep.json",
    }
    drawn = Path("map.svg").read_bytes()
    again = sweep(*axes, "--plot", "map.svg", "--json")
    assert "0 runs simulated, 12 known from before" in again.stderr
    assert json.loads(again.stdout) == json.loads(Path("out/sweep.json").read_text("utf-8"))
    assert Path("map.svg").read_bytes() == drawn


def test_a_scenario_and_a_kernel_are_swept_too() -> None:
    Path("mine.yaml").write_text(
        "machine: theta\nnodes: 1\nppn: 2\nworkload: {ior: -w -b 1m -t 1m}\n", encoding="utf-8"
    )
    result = sweep("mine.yaml", "--seed", "5", "--store", "store", "--over", "ppn=1:3", ior=())
    assert result.stdout.splitlines()[1] == "3 points, seed 5; GB = 10^9 bytes"
    job = ("--nodes", "1", "--ppn", "2", "--store", "store", "--json")
    over = ("--over", "kernel.minels=512,1024")
    told = sweep("--kernel", "exerciser", *job, *over, ior=()).stdout
    assert sweep(*job, *over, ior=("--", "kernel", "exerciser")).stdout == told
    kernel: dict[str, Any] = json.loads(told)
    moved = [point["phases"]["H5Dwrite"]["bytes"][0] for point in kernel["points"]]
    assert 0 < moved[0] < moved[1]


def test_a_combination_that_cannot_be_is_named_and_is_a_failure() -> None:
    result = sweep("--over", "ior.b=1m,4m", "--over", "ior.t=1m,4m")
    assert result.exit_code == 1
    assert "NOT RUN (ior.b=1m, ior.t=4m): -b 1048576 is smaller" in result.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "--over is missing"),
        (("--over", "ior.b=1m", "--plot", "x.txt"), "ends in .svg, .png or .pdf"),
        (("--over", "ior.b=1m", "--plot", "x.svg"), "right would be one axis or two"),
        (("--over", "ior.b=1m,2m", "--sample", "2", "--plot", "x.svg"), "--plot with a sample"),
        (("--over", "ior.b=1m", "--kernel", "vpic-io"), "right would be one of them"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_runs(words: tuple[str, ...], said: str) -> None:
    result = sweep(*words)
    assert result.exit_code == 2
    assert said in result.output
    assert not list(Path().glob("store/*/*"))


def test_a_scenario_says_itself_what_describes_the_job() -> None:
    result = sweep("theta-headline", "--nodes", "4", "--over", "ppn=1", ior=())
    assert result.exit_code == 2
    assert "right would be --over" in result.output


def test_an_interrupt_keeps_what_has_finished(tmp_path: Path) -> None:
    axes = ("--over", "ppn=1:60", "--over", "ior.b=1m..64m", "--store", "store")
    kept, finished = kept_and_told(("sweep", *axes, *IOR), tmp_path)
    assert 0 < finished <= kept <= finished + 1  # one may be kept just before it is counted
