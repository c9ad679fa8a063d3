"""Files of jobs as rows: what a file holds is told by its content, not by its name alone."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from xc40io.config.errors import InputError, shown
from xc40io.config.extras import need
from xc40io.config.files import Kind, opened, text_of
from xc40io.config.reading import Cursor
from xc40io.config.text.json_text import parse_json
from xc40io.config.text.yaml_text import parse_yaml
from xc40io.workloads.job_records.accounting_log import accounting_rows, is_accounting_log
from xc40io.workloads.job_records.bad_rows import BadRows
from xc40io.workloads.job_records.columns import SIZES, own_name
from xc40io.workloads.job_records.darshan_frame import (
    add_totals,
    fold_files,
    is_darshan_frame,
    is_darshan_totals,
)
from xc40io.workloads.job_records.darshan_text import is_darshan_text, read_darshan_text
from xc40io.workloads.job_records.slurm import (
    fold_steps,
    is_slurm,
    is_slurm_json,
    rows_of_json,
)
from xc40io.workloads.job_records.standard_workload import (
    is_standard_workload,
    never_ran,
    processors_per_node,
    standard_rows,
)

Row = Mapping[str, Any]

_BETWEEN = {",": "CSV", "|": "a table with |", "\t": "a table with tabs", ";": "a table with ;"}
"""What may be between the cells of a line, and how such a table is called."""


class JobRows(NamedTuple):
    """Rows of a file, one for each job, by the names of its columns."""

    read_as: str  # what the file is, in a few words
    rows: Sequence[tuple[int, Row]]  # with their numbers: a CSV file's first row of values is row 2
    bad: BadRows  # that are left out
    steps: int = 0  # that were folded into their jobs
    never_began: int = 0  # jobs that were left out, for they never had nodes
    cores: int | None = None  # of a node of the machine, if the file tells


JOB_TABLE = Kind("a table of jobs", 1 << 28)
MOST_LINES = 1_000_000
"""Rows of a file: those of jobs, and of their steps or files, which are folded into them."""


def read_rows(path: Path, at: Cursor) -> JobRows:
    """Read the rows of a file, but those that cannot be; ``at`` is told where the reader is.

    Raises
    ------
    InputError
        If it is none of the kinds of files that are known, not whole, or too large.
    """
    bad = BadRows(at)
    if path.suffix == ".parquet":
        rows = _few(enumerate(_parquet_rows(path), start=1), path)
        return _folded("Parquet", rows, path, at, bad)
    text = text_of(path, JOB_TABLE)
    if path.suffix in (".yaml", ".yml"):
        return JobRows("YAML", _few(_records(parse_yaml(text, str(path)), path, bad), path), bad)
    if is_darshan_text(text):
        row = {"name": path.stem, **read_darshan_text(text, at)}
        return JobRows("the text of darshan-parser --total", [(1, row)], bad)
    if is_accounting_log(text):
        logged = _few(accounting_rows(text, at, bad), path)
        return JobRows("an accounting log of PBS or Cobalt", logged, bad)
    if is_standard_workload(text):
        listed = list(standard_rows(text, at, bad))
        ran = _few((line for line in listed if not never_ran(line[1])), path)
        cores, waited = processors_per_node(text), len(listed) - len(ran)
        return JobRows("the Standard Workload Format", ran, bad, never_began=waited, cores=cores)
    if text.lstrip()[:1] in ("{", "["):
        return _json_rows(text, path, at, bad)
    return _lines(text, path, at, bad)


def _few(rows: Iterable[tuple[int, Row]], path: Path) -> list[tuple[int, Row]]:
    """Return rows, and take no more of them than a file may have."""
    found = list(islice(rows, MOST_LINES + 1))
    if len(found) > MOST_LINES:
        raise InputError(f"{path}: right would be at most {MOST_LINES:,} rows; it has more")
    return found


def _lines(text: str, path: Path, at: Cursor, bad: BadRows) -> JobRows:
    """Return the rows of a table of text."""
    first = next((line for line in text.splitlines() if line.strip()), "")
    between = max(_BETWEEN, key=first.count)
    if first.count(between) == 0 and path.suffix != ".csv" and text.strip():
        raise InputError(
            f"{path}: not a table of jobs; right would be a file that ends in .csv, .parquet or "
            ".yaml, what sacct -P or sacct --json prints, an accounting log of PBS or Cobalt, "
            "the Standard Workload Format, or what darshan-parser --total prints"
        )
    rows = _few(_cells(text, between, at, bad), path)
    return _folded(_BETWEEN[between], rows, path, at, bad)


def _folded(
    read_as: str, rows: Sequence[tuple[int, Row]], path: Path, at: Cursor, bad: BadRows
) -> JobRows:
    """Return rows for jobs, made of rows of their steps or files if that is what they are."""
    head = list(dict.fromkeys(name for _, row in rows for name in row))
    if is_slurm(head):
        return _of_slurm("a table of sacct", rows, at, bad)
    if is_darshan_frame(head):
        return JobRows("a frame of PyDarshan", fold_files(rows, path.stem, at, bad), bad)
    if is_darshan_totals(head):
        return JobRows(f"{read_as} with totals of Darshan", add_totals(rows, at, bad), bad)
    return JobRows(read_as, rows, bad)


def _of_slurm(read_as: str, rows: Sequence[tuple[int, Row]], at: Cursor, bad: BadRows) -> JobRows:
    """Return rows for jobs, made of rows of jobs and steps."""
    folded = fold_steps(rows, at, bad)
    return JobRows(read_as, folded.rows, bad, folded.steps, folded.never_began)


def _cells(text: str, between: str, at: Cursor, bad: BadRows) -> Iterator[tuple[int, Row]]:
    rows = _split(text.splitlines(), between, at, bad)
    _, head = next(rows, (1, []))
    bad.check(len(head))
    known = [name.lower().strip() for name in head if name.strip()]
    at.row(1)
    if len(set(known)) < len(known):
        raise InputError(f"{at}: a column comes twice in {', '.join(head)}")
    for number, cells in rows:
        if not any(cell.strip() for cell in cells):
            continue
        with bad.row(number):
            if len(cells) != len(head):
                raise InputError(
                    f"{at}: has {len(cells)} cells; right would be {len(head)}, as in row 1"
                )
            pairs = zip(head, cells, strict=True)
            yield number, {name: cell for name, cell in pairs if name.strip()}


def _split(
    lines: Sequence[str], between: str, at: Cursor, bad: BadRows
) -> Iterator[tuple[int, list[str]]]:
    """Yield the cells of each row; of one that is none only its first line is left out."""
    begun: int | None = 0  # lines before the row that is read; None: all are read
    while begun is not None:
        following = (lines[number] for number in range(begun, len(lines)))
        reader = csv.reader(
            following,
            delimiter=between,
            quoting=csv.QUOTE_NONE if between == "|" else csv.QUOTE_MINIMAL,  # sacct never quotes
            strict=True,
        )
        first, begun, read = begun, None, 0
        try:
            for cells in reader:
                yield first + reader.line_num, cells
                read = reader.line_num
        except csv.Error as error:
            begun = first + read + 1
            with bad.row(begun):
                raise InputError(f"{at}: is not a row of a CSV file: {error}") from error


def _parquet_rows(path: Path) -> Iterator[Row]:
    need("tables", str(path))
    from xc40io.archive.batches import bounded_batches  # with it comes PyArrow

    with opened(path, JOB_TABLE) as file:
        for batch in bounded_batches(file, str(path), MOST_LINES, JOB_TABLE.most):
            yield from batch.to_pylist()


def _json_rows(text: str, path: Path, at: Cursor, bad: BadRows) -> JobRows:
    document = parse_json(text, str(path))
    if is_slurm_json(document):
        return _of_slurm("a document of sacct --json", rows_of_json(document, at, bad), at, bad)
    return JobRows("JSON", _few(_records(document, path, bad), path), bad)


def _records(document: object, path: Path, bad: BadRows) -> Iterator[tuple[int, Row]]:
    """Yield the jobs of a document: a list, or one under ``jobs``.

    Fields within fields count as if they stood beside the others. For a job with several runs, the
    ranks of the first run count.
    """
    jobs = document.get("jobs") if isinstance(document, dict) else document
    if not isinstance(jobs, list):
        raise InputError(
            f"{path}: holds {shown(jobs)}; right would be a list of jobs, or jobs: [...]"
        )
    for number, job in enumerate(jobs, start=1):
        if isinstance(job, dict) and all(isinstance(name, str) for name in job):
            yield number, _flat(job)
            continue
        with bad.row(number):
            raise InputError(
                f"{path}: row {number} is {shown(job)}; right would be fields with values"
            )


def _flat(job: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a job, with those that are within others; the outermost counts."""
    found: dict[str, Any] = {}
    inner: list[Mapping[str, Any]] = []
    for name, value in job.items():
        first = value[0] if isinstance(value, list) and value else value
        if isinstance(first, dict):
            inner.append({str(key): one for key, one in first.items()})
        else:
            found[name] = value
    known = {own_name(name) for name in found}
    for part in inner:
        found |= {name: one for name, one in _flat(part).items() if own_name(name) not in known}
    return found


def check_head(rows: Sequence[Row], path: Path) -> None:
    """Raise InputError if no column says how large a job is."""
    if not any(own_name(name) in SIZES for row in rows for name in row):
        names = ", ".join(dict.fromkeys(name for row in rows[:5] for name in row))
        raise InputError(
            f"{path}: has no column for the size of a job, but {names or 'none'}; right would be "
            "nodes or ranks, or what the table calls them (docs/streams.md)"
        )
