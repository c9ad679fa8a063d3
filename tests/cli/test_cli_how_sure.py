"""How sure a figure is, on the command line: told by every command, and left out by ``--exact``."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from xc40io.cli.app import cli

JOB = ("--nodes", "2", "--ppn", "2")
IOR = ("--", "-a", "POSIX", "-F", "-w", "-e", "-b", "1m", "-t", "1m")
WORDS = ("real runs", "real GB/s", " sure", "chance", "Chance")


def xc40io(*words: str) -> str:
    result = CliRunner().invoke(cli, words)
    assert result.exit_code == 0, result.output
    return result.stdout


def names(document: Any) -> set[str]:
    """Return all names of a document."""
    if isinstance(document, dict):
        return set(document) | {name for value in document.values() for name in names(value)}
    if isinstance(document, list):
        return {name for value in document for name in names(value)}
    return set()


@pytest.mark.parametrize(
    ("command", "said", "named"),
    [
        (("ior", *JOB), "# 9 of 10 real runs: write ", "real"),
        (("sweep", *JOB, "--over", "ppn=1,2"), ". 9 of 10 real runs: ", "real"),
        (("compare", *JOB, "--what-if", "ppn=1"), "real GB/s", "chance_better"),
        (("compare", *JOB, "--what-if", "ppn=1"), "Chance: that", "real"),
    ],
)
def test_it_is_told_unless_figures_are_to_be_exact(
    command: tuple[str, ...], said: str, named: str
) -> None:
    assert said in xc40io(*command, *IOR)
    exact = xc40io(*command, "--exact", *IOR)
    assert not any(word in exact for word in WORDS), exact
    assert named in names(json.loads(xc40io(*command, "--json", *IOR)))
    alone = json.loads(xc40io(*command, "--json", "--exact", *IOR))
    assert not names(alone) & {"real", "chance_better"}


def test_a_table_has_the_bounds() -> None:
    xc40io("sweep", *JOB, "--over", "ppn=1,2", "--csv", "runs.csv", *IOR)
    for row in csv.DictReader(Path("runs.csv").read_text().splitlines()):
        low, rate, high = (float(row[name]) for name in ("real_low", "bandwidth", "real_high"))
        assert low < rate < high


def test_a_kept_result_and_its_page_tell_it() -> None:
    xc40io("ior", *JOB, "--save", "kept", *IOR)
    assert "# 9 of 10 real runs: write " in xc40io("show", "kept", "--html", "page.html")
    assert "9 of 10 real runs" in Path("page.html").read_text()
    assert "real runs" not in xc40io("show", "kept", "--exact", "--html", "exact.html")
    assert "9 of 10 real runs" not in Path("exact.html").read_text()
