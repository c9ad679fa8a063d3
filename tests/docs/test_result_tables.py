"""The reference has every column of a result and of a recording, and every part of explain."""

from __future__ import annotations

import re
from dataclasses import fields

import pytest
from documents import ROOT
from result_tables import MADE, RECORD, expanded, record
from sphinx.errors import ExtensionError

from xc40io.lustre import locks, requests
from xc40io.plane.library_calls import LIBRARY_CALL
from xc40io.plane.recorder import LOGS, MOST_RECORDS
from xc40io.results.frames import TABLES
from xc40io.run.recording import Recording
from xc40io.studies.explain.ideals import PARTS
from xc40io.telling.answer import Column, To

REFERENCE = ROOT / "docs" / "reference"
WRITTEN = (REFERENCE / "result-tables.md").read_text(encoding="utf-8")
PARTS_PAGE = (REFERENCE / "parts.md").read_text(encoding="utf-8")
PAGE = expanded(WRITTEN)
LAYOUTS = {name: layout for name, (layout, _) in LOGS.items()} | {"library_calls": LIBRARY_CALL}


def first_cells(section: str) -> list[str]:
    """Return the names in the first column of the table below a heading."""
    text = PAGE.split(f"\n### {section}\n")[1].split("\n#")[0]
    rows = re.findall(r"^\| (`.*?`) \|", text, re.MULTILINE)
    return [name for row in rows for name in re.findall(r"`(\w+)`", row)]


def test_nothing_is_left_to_replace() -> None:
    assert all(comment in WRITTEN + PARTS_PAGE for comment in MADE)
    assert "<!--" not in PAGE + expanded(PARTS_PAGE)
    assert len(RECORD.findall(WRITTEN)) == len(LAYOUTS)


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_each_table_of_a_result_is_there_with_a_column_for_all_causes(table: Column) -> None:
    told = [one.name for one in table.inner if To.PANDAS in one.to]
    names = dict.fromkeys(re.sub(r"^(wait|at)_[a-z_]+", r"\1_CAUSE", name) for name in told)
    assert first_cells(table.name) == list(names)


@pytest.mark.parametrize("name", LAYOUTS)
def test_each_log_is_described_column_by_column(name: str) -> None:
    assert first_cells(name) == list(LAYOUTS[name].names or ())


def test_each_part_is_there_with_all_that_is_changed() -> None:
    rows = re.findall(r"^\| (?!without|---)(.*) \|$", expanded(PARTS_PAGE), re.MULTILINE)
    assert [row.partition(" | ")[0] for row in rows] == [one.words for one in PARTS]
    for row, one in zip(rows, PARTS, strict=True):
        named = (*one.rates, *one.times, *one.stations, *one.hints)
        assert re.findall(r"`(.*?)`", row) == list(named)


def test_a_column_of_which_nothing_is_said_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    source = 'ROW = np.dtype([("program", "i4"), ("op", "i4")])'
    monkeypatch.setattr("result_tables.inspect.getsource", lambda _: source)
    with pytest.raises(ExtensionError, match="nothing is said of `program`"):
        record("xc40io.plane.recorder", "ROW")


def test_what_stands_beside_the_logs_is_described() -> None:
    named = [one.name for one in fields(Recording) if one.name not in LOGS]
    assert first_cells("Beside the logs") == named


def test_the_numbers_that_stand_for_words_are_those_of_the_code() -> None:
    for name in ["MDS_OPERATION", "MDS_SYNC", "OST_SYNC", "GLIMPSE", "PUNCH"]:
        assert f"{getattr(requests, name)} `{name}`" in PAGE
    for name in ("PR", "PW", "GROUP"):
        assert f"{getattr(locks, f'MODE_{name}')} `{name}`" in PAGE


def test_the_bound_and_the_sizes_are_those_of_the_code() -> None:
    page = (ROOT / "docs" / "result.md").read_text(encoding="utf-8")
    assert f"after {MOST_RECORDS // 10**6} million records" in " ".join(page.split())
    sizes = {name: layout.itemsize for name, (layout, _) in LOGS.items()}
    assert sizes == {"calls": 48, "rpcs": 144, "requests": 56, "locks": 72, "spans": 24}
