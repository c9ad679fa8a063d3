"""The page docs/result.md, made from the code: ``python -m xc40io.results.result_page``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from xc40io.findings.waits import AT_WORDS, WORDS
from xc40io.plane.causes import DOING, FINEST
from xc40io.results.frames import TABLES, VARIABLES, at_column, wait_column
from xc40io.telling.answer import Column, To
from xc40io.telling.units import SECONDS

_HEAD = """\
# A result, kept and taken apart

*Made from the code by `python -m xc40io.results.result_page > docs/result.md`.*

`--save FILE` keeps the result of `ior`, `kernel`, `run` and `replay`; `xc40io show FILE` prints it
again, letter for letter, and options such as `--json`, `--getstripe` and `--lustre-stats` choose
anew what is printed. Nothing is lost: in Python

```python not run: FILE is one of your own
import xc40io

result = xc40io.load("FILE")  # or result = xc40io.simulate(...); result.save("FILE")
tables = result.to_pandas()  # of pandas
dataset = result.to_xarray()  # of xarray: pip install 'xc40io[tables]'
```

you have everything that the run left, except the data plane itself. For several jobs `xc40io.load`
returns all of them (`JobsResult`, with a result in each of its `jobs`), for a replayed Darshan log
a report (`ReplayReport`, with the results in `runs`).

The file is a zip: `content.json` with a version of the format, tables of Parquet, and a seal over
them: a file in which something was changed later is refused. Nothing in it is code. An older file
can be read: a value of the machine that was added later gets the value that stands for what the
simulator did before. A file that lacks more than that is refused with one sentence, and so is a
newer one. """


def result_page() -> str:
    """Return the text of the page."""
    lines = [_HEAD, "## Tables of pandas", "", "Bytes, seconds and bytes/s throughout.", ""]
    for table in TABLES:
        lines += [f"### {table.name}", "", f"A row is {table.help}.", ""]
        lines += [*_columns(_shortened(table.inner)), ""]
    lines += ["### What ranks wait for", ""]
    lines += [*_table([("column", "what"), *_causes()]), ""]
    lines += ["### What ranks are at while they wait", ""]
    lines += [*_table([("column", "what"), *_doing()]), ""]
    lines += ["## The dataset of xarray", "", *_columns(VARIABLES)]
    return "\n".join(lines) + "\n"


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


def _causes() -> list[tuple[str, str]]:
    return [(f"`{wait_column(cause)}`", WORDS[cause]) for cause in FINEST]


def _doing() -> list[tuple[str, str]]:
    return [(f"`{at_column(cause)}`", AT_WORDS[cause]) for cause in DOING]


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return a table of Markdown; the first row is its head."""
    head, *body = rows
    return [_line(head), _line(["---"] * len(head)), *map(_line, body)]


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    print(result_page(), end="")
