"""``xc40io compare --targets``: a spelling of a sweep over targets and numbers of nodes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from xc40io.cli.app import cli
from xc40io.studies import store

WORDS = "-a POSIX -F -w -e -b 16m -t 4m"


@pytest.fixture(autouse=True)
def _own_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "cache_folder", lambda: tmp_path / "runs")


def xc40io(*words: str) -> Result:
    return CliRunner().invoke(cli, [*words, "--ppn", "2", "--jobs", "1", "--", *WORDS.split()])


def compare(*options: str) -> Result:
    return xc40io("compare", *options)


def test_targets_are_compared_as_a_sweep_does() -> None:
    counts = ("--targets", "lustre,ssd,home", "--node-counts", "1,4")
    result = compare(*counts, "--plot", "targets.svg", "--json")
    assert result.exit_code == 0, result.output
    assert Path("targets.svg").read_text(encoding="utf-8").startswith("<?xml")
    axes = ("--over", "nodes=1,4", "--over", "target.kind=lustre,ssd,home")
    swept = xc40io("sweep", *axes, "--json")
    assert "0 runs simulated, 6 known from before" in swept.stderr
    assert swept.stdout == result.stdout
    document: dict[str, Any] = json.loads(result.stdout)
    rates = {
        tuple(point["values"].values()): point["phases"]["write"]["bandwidth"][0]
        for point in document["points"]
    }
    assert rates[4, "ssd"] == pytest.approx(4 * rates[1, "ssd"], rel=0.2)
    assert "crossings" in document
    told = compare(*counts)
    assert told.stdout == xc40io("sweep", *axes).stdout
    assert "Fastest write: " in told.stdout


def test_the_targets_alone_on_the_nodes_of_the_job() -> None:
    result = compare("--nodes", "2", "--repeat", "2")
    assert result.stdout.splitlines()[1] == "2 points, seeds 1 to 2; GB = 10^9 bytes"
    assert [line.split()[0] for line in result.stdout.splitlines()[4:6]] == ["lustre", "ssd"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--targets", "tape"), "target.kind"),
        (("--targets", "ssd,ssd"), "ssd is there twice"),
        (("--targets", "lustre,bb"), "no section burst_buffer"),
        (("--node-counts", "four"), "nodes"),
        (("--bb-access", "private"), "belong to --target bb"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_runs(
    options: tuple[str, ...], words: str
) -> None:
    result = compare(*options)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert words in result.output
