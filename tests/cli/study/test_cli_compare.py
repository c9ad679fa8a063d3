"""``xc40io compare``: one table, one plot, and where one target overtakes another."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from sim.cli.app import cli
from sim.studies.compare.comparison import format_comparison
from sim.studies.compare.comparison_plot import comparison_figure, labels_with_room
from sim.studies.compare.targets import ACCESSES, Cell, Fastest, always_fastest, crossings

WRITE = ACCESSES[0]


def compare(*options: str, words: str = "-a POSIX -F -w -e -b 16m -t 4m") -> Result:
    return CliRunner().invoke(cli, ["compare", "--ppn", "2", *options, "--", *words.split()])


def test_a_table_and_a_plot_of_the_same_runs(tmp_path: Path) -> None:
    plot = tmp_path / "targets.svg"
    counts = ("--targets", "lustre,ssd,home", "--node-counts", "1,4")
    result = compare(*counts, "--plot", str(plot))
    assert result.exit_code == 0, result.output
    assert "write (GB/s)" in result.output
    assert "4 nodes" in result.output
    assert plot.read_text(encoding="utf-8").startswith("<?xml")
    document: dict[str, Any] = json.loads(compare(*counts, "--json").stdout)
    rates = {(run["target"], run["nodes"]): run["rates"]["write"] for run in document["runs"]}
    assert rates["ssd", 4] == pytest.approx(4 * rates["ssd", 1], rel=0.2)
    assert len(rates) == 6


def cells(rates: dict[str, list[float]]) -> list[Cell]:
    counts = [64, 256, 1024]
    return [
        Cell(kind, nodes, {WRITE: rate})
        for kind, line in rates.items()
        for nodes, rate in zip(counts, line, strict=True)
    ]


def test_ssds_overtake_where_the_lines_cross() -> None:
    (crossing,) = crossings(cells({"lustre": [100.0, 100.0, 100.0], "ssd": [32.0, 128.0, 512.0]}))
    assert (crossing.before, crossing.after) == ("lustre", "ssd")
    assert crossing.nodes == pytest.approx(200.0)


def test_lines_that_do_not_cross_have_no_crossing() -> None:
    assert crossings(cells({"lustre": [9.0, 9.0, 9.0], "ssd": [1.0, 2.0, 3.0]})) == []


def test_the_one_that_always_wins_is_named() -> None:
    found = cells(
        {"lustre": [10.0, 20.0, 40.0], "ssd": [20.0, 50.0, 60.0], "home": [1.0, 1.0, 1.0]}
    )
    assert always_fastest(found, WRITE) == Fastest("ssd", (2.0, 2.5, 1.5))
    text = format_comparison("ior", found, crossings(found))
    assert text.splitlines()[-1] == (
        "Write: local SSDs are the fastest on each of these numbers of nodes, 1.5 to 2.5 times the "
        "next."
    )


def test_nobody_wins_where_lines_cross_or_only_one_was_run() -> None:
    crossed = cells({"lustre": [9.0, 9.0, 9.0], "ssd": [1.0, 3.0, 27.0]})
    assert always_fastest(crossed, WRITE) is None
    (line,) = format_comparison("ior", crossed, crossings(crossed)).splitlines()[7:]
    assert line == "Write: local SSDs overtake Lustre at about 512 nodes."
    assert always_fastest(cells({"ssd": [1.0, 2.0, 3.0]}), WRITE) is None
    assert always_fastest(cells({"ssd": [1.0, 2.0, 3.0], "home": [1.0, 1.0, 1.0]}), WRITE) is None


def test_ticks_stand_where_runs_are_and_are_plain_numbers() -> None:
    found = cells({"lustre": [10.0e9, 20.0e9, 40.0e9], "ssd": [20.0e9, 50.0e9, 60.0e9]})
    (axes,) = comparison_figure("ior", found, crossings(found)).axes
    assert axes.get_xticks().tolist() == [64, 256, 1024]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["64", "256", "1,024"]
    assert len(axes.get_xticks(minor=True)) == 0
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("nodes", "GB/s")
    drawn = {str(line.get_label()): list(line.get_ydata()) for line in axes.lines}
    assert drawn == {"Lustre": [10.0, 20.0, 40.0], "local SSDs": [20.0, 50.0, 60.0]}


def test_labels_that_would_touch_are_left_out() -> None:
    assert labels_with_room([30, 40, 64]) == ["30", "40", "64"]
    assert labels_with_room([1, 32, 33, 1000, 1024]) == ["1", "32", "", "", "1,024"]
    assert labels_with_room([7]) == ["7"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--targets", "tape"), "right would be several of"),
        (("--targets", "ssd,ssd"), "each once"),
        (("--targets", "lustre,bb"), "no section burst_buffer"),
        (("--node-counts", "four"), "right would be numbers"),
        (("--node-counts", "5000"), "more than the 4392 compute nodes"),
        (("--plot", "plot.txt"), "ends in .svg, .png or .pdf"),
        (("--target", "ssd"), "a comparison has --targets"),
        (("--bb-access", "private"), "belong to a comparison with bb"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_runs(
    options: tuple[str, ...], words: str
) -> None:
    result = compare(*options)
    assert result.exit_code == 2
    assert words in result.output
