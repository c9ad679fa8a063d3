"""The reference in the documents has all there is, and its examples and tables are right."""

from __future__ import annotations

import doctest
import importlib
import re
from typing import Annotated, Literal

import pytest
from check_imports import PACKAGES, Imports
from command_pages import COMMENT as PAGE
from command_pages import _page, commands, in_common
from documents import ROOT, documents
from model_fields import COMMENT, fields, fields_of, models, shown, takes
from option_tables import COMMENT as OPTIONS
from option_tables import rows_of, table
from pydantic import BaseModel, Field
from sphinx.errors import ExtensionError

import xc40io
from xc40io.cli.app import cli
from xc40io.config.machine import load_machine
from xc40io.config.units import Rate, Size

REFERENCE = ROOT / "docs" / "reference"
TABLES = [
    pytest.param(found, id=found[0])
    for page in sorted(REFERENCE.glob("*.md"))
    for found in COMMENT.finditer(page.read_text(encoding="utf-8"))
]
EXAMPLES = [
    name
    for name, path in Imports(PACKAGES).modules.items()
    if re.search(r"^ *>>> ", path.read_text(encoding="utf-8"), re.MULTILINE)
]


@pytest.mark.parametrize("table", TABLES)
def test_every_field_is_described(table: re.Match[str]) -> None:
    model, but, beside = models(table)
    text = fields(model, but, beside)
    for one in shown(model, but):
        names = set(fields_of(one)) - (set(but) if one is model else set())
        assert names <= set(re.findall(r"`(\w+)`", text))


def test_every_command_has_a_page_with_its_own_options_and_what_is_common_stands_once() -> None:
    pages = {path.stem: path.read_text() for path in (REFERENCE / "commands").glob("*.md")}
    assert pages.keys() == commands().keys()
    common = {typed for typed, _ in in_common()}
    assert any(typed.startswith("--stripe-count ") for typed in common)
    for name, group in commands().items():
        assert PAGE.findall(pages[name]) == [f"xc40io {name}"]
        told = _page(PAGE.search(pages[name]))
        for one in group:
            for option in one.options:
                typed, _ = option.get_help_record(one.context)
                assert (f"`{typed}`" in told) or typed in common, (one.name, typed)
    assert "`--stripe-count" not in _page(PAGE.search(pages["ior"]))


@pytest.mark.parametrize(
    ("words", "page"),
    [
        ("sacct", "streams.md"),
        ("uncertainty", "how-far-to-trust-it.md"),
        ("citing", "inside.md"),
        ("striping defaults", "striping.md"),
        ("extent lock", "extent-locks.md"),
        ("budget", "plan.md"),
        ("sbatch", "job-scripts.md"),
    ],
)
def test_a_search_finds_the_page(words: str, page: str) -> None:
    """The site's search wants all words on a page: they are somewhere, and there."""
    (path,) = [path for path in (ROOT / "docs").rglob(page) if path.parent.name != "commands"]
    text = path.read_text(encoding="utf-8").lower()
    assert all(re.search(rf"\b{word}", text) for word in words.split())


def test_every_option_of_a_benchmark_is_listed() -> None:
    page = (REFERENCE / "benchmark-options.md").read_text(encoding="utf-8")
    found = list(OPTIONS.finditer(page))
    assert len(found) == 5
    for comment in found:
        sections = rows_of(comment)
        text, rows = table(sections), [one for rows in sections.values() for one in rows]
        assert all(f"`{name}`" in text for one in rows for name in one.names)
        assert all(one.refused in text and one.idle in text for one in rows)


class Forgetful(BaseModel):
    """A model."""

    untold: int
    told: int  #: What it is.


class Part(BaseModel):
    """A part."""

    #: Of ``both``.
    size: Size
    rate: Annotated[Rate, Field(le=9)] = 2.0
    kind: Literal["a", "b"] | None = None  #: Which.


def test_a_field_that_no_comment_describes_is_told() -> None:
    with pytest.raises(ExtensionError, match="Forgetful: nothing is said of untold"):
        fields(Forgetful)


def test_a_table_has_unit_bound_default_and_value() -> None:
    lines = fields(Part).splitlines()
    assert lines[3] == (
        "| `size`<br>`rate` | bytes, as `8 MiB`, more than 0<br>bytes/s, as `6 GB/s`, 1 or more, "
        "at most 9 | *required*<br>`2.0` | Of `both`. |"
    )
    assert lines[4] == "| `kind` | `a` or `b` | none | Which. |"
    assert "| 56<br>1 |" in fields(xc40io.Machine, (), load_machine("theta"))


def test_a_list_and_a_mapping_say_what_is_in_them() -> None:
    assert takes(tuple[Size, ...]) == "a list; each bytes, as `8 MiB`, more than 0"
    assert takes(dict[str, bool]) == "names, each with `true` or `false`"


def test_all_public_names_are_in_the_reference_of_python() -> None:
    text = (REFERENCE / "python-api.md").read_text(encoding="utf-8")
    assert set(re.findall(r"auto\w+:: xc40io\.(\w+)", text)) == set(xc40io.__all__)


def test_each_command_is_in_a_guide() -> None:
    text = "".join(page.read_text(encoding="utf-8") for page in documents())
    assert [name for name in cli.commands if f"xc40io {name}" not in text] == []


@pytest.mark.parametrize("module", EXAMPLES)
def test_examples_in_docstrings_are_right(module: str) -> None:
    found = doctest.testmod(importlib.import_module(module))
    assert found.attempted
    assert not found.failed
