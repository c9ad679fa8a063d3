"""The page docs/result.md, made from the code: ``python -m xc40io.results.result_page``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from xc40io.findings.waits import AT_WORDS, WORDS
from xc40io.plane.causes import DOING, FINEST
from xc40io.results.frames import TABLES, VARIABLES, at_column, wait_column
from xc40io.telling.answer import Column, To
from xc40io.telling.units import SECONDS

_HEAD = """\
# A result and its tables

*Made from the code by `python -m xc40io.results.result_page > docs/result.md`.*

| you want | do |
| --- | --- |
| keep a run | `--save FILE` of `ior`, `kernel`, `run`, `replay` |
| print it again | `xc40io show FILE`; `--json`, `--getstripe`, `--lustre-stats` choose what |
| tables in Python | below |
| what happened when | [the recording](recording.md) |
| files for other tools | [formats of other tools](exports.md), [a Darshan log](darshan-log.md) |

```python not run: FILE is one of your own
import xc40io

result = xc40io.load("FILE")  # or result = xc40io.simulate(...); result.save("FILE")
tables = result.to_pandas()  # of pandas
dataset = result.to_xarray()  # of xarray: pip install 'xc40io[tables]'
```

Of several jobs `xc40io.load` returns a `JobsResult` (a result in each of its `jobs`), of a replayed
log a `ReplayReport` (the results are in `runs`).

The file is a zip of JSON and Parquet with a seal; there is no code in it. Older files can be read.
A file that was changed, lacks something or is newer than xc40io is refused in one sentence.
"""

_CAUSES = "`wait_CAUSE` says what ranks wait for, `at_CAUSE` what they are at meanwhile."


def result_page() -> str:
    """Return the text of the page."""
    lines = [_HEAD, "## Tables of pandas", "", "Bytes, seconds and bytes/s throughout.", ""]
    for table in TABLES:
        lines += [f"### {table.name}", "", f"A row is {table.help}.", ""]
        lines += [*_columns(_shortened(table.inner)), ""]
    lines += ["### Causes", "", _CAUSES, ""]
    lines += [*_table([("CAUSE", "`wait_CAUSE`", "`at_CAUSE`"), *_causes()]), ""]
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


def _causes() -> Iterator[tuple[str, str, str]]:
    for cause in dict.fromkeys([*FINEST, *DOING]):
        waits = WORDS[cause] if cause in FINEST else ""
        doing = AT_WORDS[cause] if cause in DOING else ""
        yield f"`{cause.name.lower()}`", waits, "the same" if doing == waits else doing


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return a table of Markdown; the first row is its head."""
    head, *body = rows
    return [_line(head), _line(["---"] * len(head)), *map(_line, body)]


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    print(result_page(), end="")
