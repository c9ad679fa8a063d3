"""Examples in docstrings give what they show."""

from __future__ import annotations

import doctest
import importlib

import pytest
from check_imports import PACKAGES, Imports

WITH_EXAMPLES = sorted(
    name
    for name, path in Imports(PACKAGES).modules.items()
    if ">>> " in path.read_text(encoding="utf-8")
)


def test_some_are_found() -> None:
    assert {"xc40io", "xc40io.topology"} <= set(WITH_EXAMPLES)


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_it_prints_what_its_docstrings_show(name: str) -> None:
    found = doctest.testmod(importlib.import_module(name))
    assert found.attempted > 0
    assert found.failed == 0
