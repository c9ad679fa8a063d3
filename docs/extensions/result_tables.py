"""Tables of what results, recordings and explanations hold, made from the code that makes them.

In a page of the site ``<!-- tables of a result -->`` is replaced by its tables of pandas, ``<!--
causes of waiting -->`` by the causes in the names of their columns, ``<!-- dataset of a result
-->`` by that of xarray, ``<!-- columns of xc40io.plane.recorder:CALL -->`` by the columns of a
record, with the comments beside them, and ``<!-- parts that explain tries -->`` by these parts.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from typing import Any

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

from xc40io.findings.waits import AT_WORDS, WORDS
from xc40io.plane.causes import DOING, FINEST
from xc40io.results.frames import TABLES, VARIABLES, at_column, wait_column
from xc40io.studies.explain.ideals import PARTS
from xc40io.telling.answer import Column, To
from xc40io.telling.units import SECONDS

RECORD = re.compile(r"^<!-- columns of ([\w.]+):(\w+) -->$", re.MULTILINE)


def tables() -> str:
    """Return the tables of pandas, each below its name."""
    lines: list[str] = []
    for table in TABLES:
        lines += [f"### {table.name}", "", f"A row is {table.help}.", ""]
        lines += [*_columns(_shortened(table.inner)), ""]
    return "\n".join(lines)


def causes() -> str:
    """Return what CAUSE stands for in the names of columns."""
    rows = [("CAUSE", "`wait_CAUSE`", "`at_CAUSE`")]
    for cause in dict.fromkeys([*FINEST, *DOING]):
        waits = WORDS[cause] if cause in FINEST else ""
        doing = AT_WORDS[cause] if cause in DOING else ""
        rows.append((f"`{cause.name.lower()}`", waits, "the same" if doing == waits else doing))
    return "\n".join(_table(rows))


def dataset() -> str:
    """Return the variables and coordinates of the dataset of xarray."""
    return "\n".join(_columns(VARIABLES))


def parts() -> str:
    """Return what is changed so that a part costs nothing."""
    rows = [("without", "rates x 1000", "times made zero", "stations x 1000", "hints")]
    for one in PARTS:
        some = (one.rates, one.times, one.stations, one.hints)
        rows.append((one.words, *(", ".join(f"`{name}`" for name in names) for names in some)))
    return "\n".join(_table(rows))


def record(module: str, name: str) -> str:
    """Return the columns of a record, with the comments beside them.

    Raises
    ------
    ExtensionError
        If nothing describes a column, nor one before it.
    """
    source = inspect.getsource(import_module(module))
    lines = source.splitlines()
    (layout,) = (
        one.value
        for one in ast.parse(source).body
        if isinstance(one, ast.Assign) and ast.unparse(one.targets[0]) == name
    )
    rows: list[tuple[str, str]] = []
    for column in (one for one in ast.walk(layout) if isinstance(one, ast.Tuple)):
        called = f"`{ast.literal_eval(column)[0]}`"
        words = lines[column.end_lineno - 1].partition("# ")[2] if column.end_lineno else ""
        if words:
            rows.append((called, words))
        elif rows:
            rows[-1] = (f"{rows[-1][0]}, {called}", rows[-1][1])
        else:
            raise ExtensionError(f"{module}.{name}: nothing is said of {called}")
    return "\n".join(_table([("column", "meaning"), *rows]))


MADE: dict[str, Callable[[], str]] = {
    "<!-- tables of a result -->": tables,
    "<!-- causes of waiting -->": causes,
    "<!-- dataset of a result -->": dataset,
    "<!-- parts that explain tries -->": parts,
}
"""What replaces a comment."""


def expanded(text: str) -> str:
    """Return a page with its tables."""
    for comment, made in MADE.items():
        if comment in text:
            text = text.replace(comment, made())
    return RECORD.sub(lambda found: record(found[1], found[2]), text)


def _shortened(columns: Iterable[Column]) -> Iterator[Column]:
    """Yield columns, with one in place of those for each cause of waiting."""
    of_causes = {wait_column(cause) for cause in FINEST} | {at_column(cause) for cause in DOING}
    told = [column for column in columns if To.PANDAS in column.to]
    yield from (column for column in told if column.name not in of_causes)
    if of_causes & {column.name for column in told}:
        yield Column("wait_CAUSE", SECONDS, help="What it waited for that cause; see below.")
        yield Column("at_CAUSE", SECONDS, help="The same seconds by what it was at; see below.")


def _columns(columns: Iterable[Column]) -> list[str]:
    rows = [
        (f"`{column.name}`", column.unit.name, column.help[0].lower() + column.help[1:].rstrip("."))
        for column in columns
    ]
    return _table([("name", "unit", "meaning"), *rows])


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return a table of Markdown; the first row is its head."""
    head, *body = rows
    return [f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), *body)]


def _expand(_app: Sphinx, _page: str, source: list[str]) -> None:
    source[0] = expanded(source[0])


def setup(app: Sphinx) -> dict[str, Any]:
    """Join Sphinx."""
    app.connect("source-read", _expand)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
