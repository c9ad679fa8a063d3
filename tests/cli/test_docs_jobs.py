"""What docs/jobs.md shows is what happens; figures may differ."""

from __future__ import annotations

import re
from pathlib import Path

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "jobs.md").read_text(encoding="utf-8")


def block(language: str) -> str:
    (found,) = re.findall(rf"^```{language}\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
    return found


def shape(line: str) -> str:
    """Return a line with its figures and its spaces made equal."""
    return re.sub(r"\s+", " ", re.sub(r"[\d.,]+", "0", line)).strip()


def test_the_tables_are_those_that_are_printed(xc40io):
    command, *shown = block("console").splitlines()
    result = xc40io(*command.removeprefix("$ xc40io ").split())
    assert shown.pop() == "..."
    printed = result.stdout.splitlines()[: len(shown)]
    assert [shape(line) for line in printed] == [shape(line) for line in shown]


def test_the_scenario_is_complete(xc40io, tmp_path):
    path = tmp_path / "jobs.yaml"
    path.write_text(block("yaml"))
    assert xc40io("run", str(path), "--print").exit_code == 0


def test_the_python_runs(capsys):
    exec(compile(block("python"), "jobs.md", "exec"), {})
    assert re.match(r"checkpoint: 3\.\d+ s, 1\.\d+ times\n", capsys.readouterr().out)
