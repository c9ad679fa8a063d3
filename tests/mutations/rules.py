"""The table of rules: each has a change that breaks it, and the tests that must fail then."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import yaml

HERE = Path(__file__).parent
PROJECT = HERE.parents[1]


class Rule(NamedTuple):
    """A rule that the code names, and how to break it."""

    sentence: str
    file: str  # below the project
    text: str  # of the file, once in it
    instead: str
    tests: tuple[str, ...]


def load() -> list[Rule]:
    """Return all rules, in the order of the table."""
    table = yaml.safe_load((HERE / "rules.yaml").read_text(encoding="utf-8"))
    return [
        Rule(sentence, file, text, instead, tuple(of_file["tests"]))
        for file, of_file in table.items()
        for sentence, text, instead in of_file["rules"]
    ]
