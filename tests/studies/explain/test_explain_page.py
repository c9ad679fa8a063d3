"""docs/explain.md lists the parts that are tried, with what is changed for each."""

from __future__ import annotations

from pathlib import Path

from xc40io.config.machine import load_machine
from xc40io.studies.explain.ideals import PARTS, Part

PAGE = Path(__file__).resolve().parents[3] / "docs/explain.md"


def row(part: Part) -> str:
    cells = [", ".join(f"`{name}`" for name in names) for names in part[4:8]]
    return f"| {part.words} | {' | '.join(cells)} |"


def test_the_table_is_that_of_the_code():
    page = PAGE.read_text(encoding="utf-8")
    table = page[page.index("| without |") : page.index("## Parts that are slow")]
    lines = [line for line in table.splitlines() if line.startswith("|")]
    assert lines[2:] == [row(part) for part in PARTS]


def test_every_value_that_is_changed_is_one_of_some_machine():
    newer = load_machine("theta").with_changes({"lustre.release": "2.12"})
    machines = newer, load_machine("cori-knl"), load_machine("cori-haswell")
    known = {name for machine in machines for name in machine.values()}
    for part in PARTS:
        assert set(part.rates + part.times) <= known, part.key
