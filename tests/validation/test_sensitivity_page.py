"""docs/sensitivity.md: every free parameter is there, and names of claims are those of claims."""

from __future__ import annotations

import re
from pathlib import Path

from validation.claim import load_claims
from validation.free_parameter import load_free_parameters

PAGE = Path(__file__).resolve().parents[2] / "docs" / "sensitivity.md"


def test_it_has_every_free_parameter_once() -> None:
    text = PAGE.read_text(encoding="utf-8")
    table = re.findall(r"^\| `([\w.]+)` \| ([\w, -]+) \| \d+ of \d+ \|", text, re.MULTILINE)
    blind = re.findall(r"^\* `([\w.]+)` \(([\w, -]+)\)", text, re.MULTILINE)
    listed = [(path, tuple(machines.split(", "))) for path, machines in table + blind]
    free = [(each.path, tuple(each.machines)) for each in load_free_parameters().values()]
    assert sorted(listed) == sorted(free)


def test_the_claims_that_it_names_are_there() -> None:
    names = set(re.findall(r"`([A-J]\d\d[\w.-]*)`", PAGE.read_text(encoding="utf-8")))
    assert len(names) > 30
    assert names <= load_claims().keys() | {"A18", "A19"}
