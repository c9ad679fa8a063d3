"""docs/licences.csv lists every library that is pinned, with the licence of that version."""

from __future__ import annotations

import csv
import re
from importlib.metadata import PackageNotFoundError, distribution

import pytest
from licences_page import PAGE, TABLE, licence, pinned

from xc40io.config.extras import EXTRAS


@pytest.fixture(scope="module")
def rows() -> list[tuple[str, ...]]:
    return [tuple(row) for row in csv.reader(TABLE.read_text(encoding="utf-8").splitlines())][1:]


def test_every_pinned_library_is_listed_once_in_its_version(rows):
    assert [row[:2] for row in rows] == sorted(pinned().items(), key=lambda pin: pin[0].lower())


def test_licences_are_those_of_what_is_installed(rows):
    looked_at = 0
    for name, version, told, _ in rows:
        try:
            installed = distribution(name)
        except PackageNotFoundError:
            continue
        if installed.version == version:
            assert licence(installed) == told, name
            looked_at += 1
    assert looked_at > 50


def test_all_extras_are_listed_with_what_they_bring():
    text = PAGE.read_text(encoding="utf-8")
    listed = re.findall(r"^\| `(\w+)` \| .+ \| .+ \| \d+ \|$", text, re.M)
    assert listed == list(EXTRAS)
