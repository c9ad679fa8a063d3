"""docs/upgrading.md names fields of machine files as they are needed now, and were before."""

from __future__ import annotations

import re
from pathlib import Path

from pydantic import BaseModel

from xc40io.config.machine import Machine

PAGE = Path(__file__).resolve().parents[2] / "docs" / "upgrading.md"

FIELD = re.compile(r"`(\w+)\.(\w+)`")


def fields(cell: str) -> set[tuple[str, str]]:
    return {(section, name) for section, name in FIELD.findall(cell)}


def needed() -> set[tuple[str, str]]:
    """Return the values that a machine file has to have in its sections."""
    found = set()
    for section, field in Machine.model_fields.items():
        parts = [field.annotation, *getattr(field.annotation, "__args__", ())]
        for part in parts:
            if isinstance(part, type) and issubclass(part, BaseModel):
                names = part.model_fields.items()
                found |= {(section, name) for name, told in names if told.is_required()}
    return found


def test_what_is_needed_now_is_and_what_was_before_is_not():
    rows = re.findall(r"^\| (.*?) ?\| (.+) \|$", PAGE.read_text(encoding="utf-8"), re.M)
    before = set().union(*(fields(old) for old, _ in rows))
    now = set().union(*(fields(new) for _, new in rows))
    assert len(now) > 15
    assert len(before) == 6
    assert now <= needed()
    assert not before & needed()
