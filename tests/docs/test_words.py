"""Words and phrases that do not come back, in documents and in what is printed: CONTRIBUTING.md."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from documents import ROOT, documents

WORDS = (
    "bound by no station",
    "what strikes",
    "kinds of remedies",
    "than the model may be off",
    "has seen in no form",
    "asked back",
    "from when to when",
    "amid a",
    "on no package index",
    "surely faster",
    "surely less",
    "front of cost",
    "there: the same settings",
)
PLACES = ("sim", "validation", "tools")
SHEET = ROOT / "CONTRIBUTING.md"
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


def found_in(text: str) -> set[str]:
    """Return the words that stand in a text, however its lines are broken."""
    told = " ".join(text.lower().split())
    return {word for word in WORDS if word in told}


def strings(module: Path) -> Iterator[str]:
    """Yield the string literals of a module, docstrings too; of f-strings each piece."""
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


@pytest.mark.parametrize("place", PLACES)
def test_nothing_that_is_printed_has_them(place: str) -> None:
    modules = sorted((ROOT / place).rglob("*.py"))
    assert len(modules) > 10
    told = [
        (str(module.relative_to(ROOT)), found)
        for module in modules
        if (found := set().union(*map(found_in, strings(module))))
    ]
    assert told == []


@pytest.mark.parametrize("document", documents(), ids=lambda path: str(path.relative_to(ROOT)))
def test_no_document_has_them(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    if document == SHEET:
        sheet = re.search(r"^\| not \| but \|$.*?\n\n", text, re.M | re.S)
        assert sheet is not None
        assert len(found_in(sheet[0])) > 8, "the sheet shows what the test holds"
        text = text.replace(sheet[0], "")
    assert found_in(text) == set()


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.name)
def test_no_notebook_has_them(notebook: Path) -> None:
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    told = [found_in("".join(cell["source"])) for cell in cells if cell["cell_type"] == "markdown"]
    assert set().union(*told) == set()
