"""docs/real-programs.md has the tables of the recordings and the exceptions."""

from __future__ import annotations

from case_table import groups
from real_page import PAGE, WHAT, renewed


def test_the_page_shows_what_is() -> None:
    assert renewed() == PAGE.read_text(encoding="utf-8"), "`make docs-outputs` writes it anew"


def test_every_group_has_its_words() -> None:
    assert WHAT.keys() == set(groups())
