"""docs/recording.md describes the columns that there are, in their order."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest

from xc40io.lustre import locks, requests
from xc40io.plane.library_calls import LIBRARY_CALL
from xc40io.plane.recorder import LOGS, MOST_RECORDS
from xc40io.run.recording import Recording

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "recording.md").read_text(encoding="utf-8")


def first_cells(section: str) -> list[str]:
    """Return the names in the first column of the table of a section."""
    rows = re.findall(r"^\| (`.*?`) \|", section, re.MULTILINE)
    return [name for row in rows for name in re.findall(r"`(\w+)`", row)]


@pytest.mark.parametrize("name", LOGS)
def test_each_log_is_described_column_by_column(name: str) -> None:
    section = PAGE.split(f"\n### {name}\n")[1].split("\n#")[0]
    layout, _ = LOGS[name]
    assert first_cells(section) == list(layout.names or ())


def test_library_calls_are_described_column_by_column() -> None:
    section = PAGE.split("\n### library_calls\n")[1].split("\n#")[0]
    assert first_cells(section) == list(LIBRARY_CALL.names or ())


def test_what_stands_beside_the_logs_is_described() -> None:
    section = PAGE.split("\n## Beside the logs\n")[1].split("\n#")[0]
    assert first_cells(section) == [one.name for one in fields(Recording) if one.name not in LOGS]


def test_the_numbers_that_stand_for_words_are_those_of_the_code() -> None:
    for module, names in ((requests, "MDS_OPERATION MDS_SYNC OST_SYNC GLIMPSE PUNCH"),):
        for name in names.split():
            assert f"{getattr(module, name)} `{name}`" in PAGE
    for name in ("PR", "PW", "GROUP"):
        assert f"{getattr(locks, f'MODE_{name}')} `{name}`" in PAGE


def test_the_bound_and_the_sizes_are_those_of_the_code() -> None:
    assert f"after {MOST_RECORDS // 10**6} million records" in PAGE
    sizes = {name: layout.itemsize for name, (layout, _) in LOGS.items()}
    assert sizes == {"calls": 48, "rpcs": 144, "requests": 56, "locks": 72, "spans": 24}
