"""How a claim is put changes in the open only: with a line that says what and why."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from xc40io.config.errors import InputError
from xc40io.validation.claim import load_claims
from xc40io.validation.frozen import (
    CHANGES,
    LIST,
    NONE,
    digest_of,
    expected,
    load_changes,
    load_frozen,
    unexplained,
)

FROZEN_LIST = "947a68935b172552901af0d2cfc42326565bb7d39946558852914d7a94f75793"
"""SHA-256 of the list: it is of one day, and what changes later stands in CHANGES.md."""

HEAD = "| claim | digest | what changed | why | result known? |\n|---|---|---|---|---|\n"
CLAIMS = """
claims:
  - id: B02
    text: some words
    role: check
    runs: {a: {machine: theta, nodes: 2, ppn: 2, workload: {ior: -w -b 1m -t 1m}}}
    metric: write(a)
    relation: {value: 60 GB/s, tolerance: 25%}
"""


def digest(folder: Path, text: str) -> str:
    path = folder / "claims.yaml"
    path.write_text(text, encoding="utf-8")
    return digest_of(load_claims([path])["B02"])


def test_the_list_is_that_of_the_day() -> None:
    assert hashlib.sha256(LIST.read_bytes()).hexdigest() == FROZEN_LIST


def test_every_change_has_its_line() -> None:
    found = unexplained(load_claims(), expected(load_frozen(), load_changes()))
    assert found == {}, "python -m xc40io.validation.frozen prints the lines that CHANGES.md lacks"


def test_nothing_is_explained_that_there_is_not() -> None:
    known = load_claims().keys() | load_frozen().keys()
    assert {change.claim for change in load_changes()} <= known


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("tolerance: 25%", "tolerance: 30%"),
        ("60 GB/s", "61 GB/s"),
        ("-t 1m", "-t 2m"),
        ("nodes: 2", "nodes: 4"),
        ("write(a)", "read(a)"),
        ("role: check", "role: input\n    parameters: [lustre.osts]"),
        ("text: some", "seeds: 3\n    text: some"),
        ("text: some", "unjudged: some\n    text: some"),
    ],
)
def test_a_bound_that_changes_in_a_copy_is_found(before: str, after: str, tmp_path: Path) -> None:
    text = CLAIMS.replace(before, after)
    assert text != CLAIMS
    frozen = {"B02": digest(tmp_path, CLAIMS)}
    path = tmp_path / "claims.yaml"
    path.write_text(text, encoding="utf-8")
    claims = load_claims([path])
    found = unexplained(claims, frozen)
    assert found.keys() == {"B02"}
    told = tmp_path / "CHANGES.md"
    told.write_text(f"{HEAD}| B02 | {found['B02']} | bound | a reason | no |\n", encoding="utf-8")
    assert unexplained(claims, expected(frozen, load_changes(told))) == {}


def test_words_are_free(tmp_path: Path) -> None:
    said = CLAIMS.replace("some words", "others\n    note: read so\n    suspect: a cause")
    assert digest(tmp_path, CLAIMS) == digest(tmp_path, said)


def test_a_claim_that_is_gone_is_missed() -> None:
    assert unexplained({}, {"B02": "0123456789ab"}) == {"B02": NONE}
    assert unexplained({}, {"B02": NONE}) == {}


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("| B02 | 0123 | bound |  | no |", "all filled"),
        ("| B02 | 0 | a | b | perhaps |", "yes or no"),
    ],
)
def test_a_line_says_everything(line: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / CHANGES.name
    path.write_text(f"{HEAD}{line}\n", encoding="utf-8")
    with pytest.raises(InputError, match=words):
        load_changes(path)
