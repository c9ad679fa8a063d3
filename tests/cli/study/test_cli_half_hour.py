"""The planner's half hour: the page's files and commands, one after the other, with few values."""

from __future__ import annotations

import json

import pytest
from documents import ROOT, blocks

from xc40io.config.machine import load_machine

PAGE = ROOT / "docs" / "for-planners.md"
FEW = ("lustre.ost_write_rate", "nodes.write_copy_rate")
TRUE = {"lustre.ost_write_rate": 1.9e9, "nodes.write_copy_rate": 230e6}
"""What the page says of the made-up site."""


@pytest.fixture(scope="module")
def page() -> dict[str, str]:
    """Return the files of the page, and its commands by their names."""
    found = blocks(PAGE.read_text(encoding="utf-8"))
    files = {one.words: "\n".join(one.lines) + "\n" for one in found if one.words.count(".") == 1}
    commands = [line[2:] for one in found for line in one.lines if line.startswith("$ xc40io ")]
    return files | {command.split()[1]: command for command in commands[:3]}


def test_its_commands_lead_from_outputs_to_an_answer(page, xc40io, monkeypatch, tmp_path) -> None:
    monkeypatch.chdir(tmp_path)
    for name in page:
        if name.endswith((".yaml", ".out", ".txt")):
            (tmp_path / name).write_text(page[name], encoding="utf-8")
    measured = xc40io(*page["measured"].split()[1:])
    assert measured.exit_code == 0
    (tmp_path / "ours.yaml").write_text(measured.stdout, encoding="utf-8")
    free = [word for path in FEW for word in ("--free", path)]
    fitted = xc40io(*page["fit"].split()[1:], *free, "--jobs", "1", "--json")
    assert fitted.exit_code == 0, fitted.stderr
    values = {one["path"]: one for one in json.loads(fitted.stdout)["values"]}
    machine = load_machine(tmp_path / "ours-fitted.yaml").values()
    for path, true in TRUE.items():
        assert values[path]["low"] < true < values[path]["high"]
        assert machine[path] == pytest.approx(true, rel=0.15)
    planned = xc40io(*page["plan"].split()[1:], "--jobs", "1", "--json")
    assert planned.exit_code == 0, planned.stderr
