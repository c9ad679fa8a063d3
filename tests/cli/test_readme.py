"""What README.md shows is what happens: its commands and its Python run here.

Shown output must come in the same order; three dots stand for any lines, and figures may differ.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def commands() -> dict[str, list[str]]:
    """Return each command of the console blocks with the lines that are shown below it."""
    found: dict[str, list[str]] = {}
    for line in "".join(blocks("console")).splitlines():
        if line.startswith("$ "):
            shown = found.setdefault(line.removeprefix("$ "), [])
        else:
            shown.append(line)
    return found


def shape(line: str) -> str:
    """Return a line with its figures and its spaces made equal."""
    return re.sub(r"\s+", " ", re.sub(r"[\d.,]+", "0", line)).strip()


@pytest.mark.parametrize("command", commands())
def test_a_command_prints_what_is_shown(xc40io, command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    program, *words = shlex.split(command)
    assert program == "xc40io"
    result = xc40io(*words)
    assert result.exit_code == 0, result.stderr
    printed = iter(shape(line) for line in result.stdout.splitlines())
    gap = False
    for line in commands()[command]:
        if line == "...":
            gap = True
        elif gap:
            assert shape(line) in printed, line
            gap = False
        else:
            assert shape(line) == next(printed)


def test_python_runs(capsys):
    for code in blocks("python"):
        exec(compile(code, "README.md", "exec"), {})
    assert re.match(r"write: [\d.]+ GB/s in .* s\nread: ", capsys.readouterr().out)


def test_the_scenario_file_runs(xc40io, tmp_path):
    for text in blocks("yaml"):
        path = tmp_path / "scenario.yaml"
        path.write_text(text)
        assert xc40io("run", str(path), "--print").exit_code == 0


@pytest.mark.parametrize("document", ["README.md", "CONTRIBUTING.md"])
def test_targets_of_make_exist(document):
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"\bmake (\w+) +#", (ROOT / document).read_text(encoding="utf-8")):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
