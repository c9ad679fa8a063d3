"""Tables of jobs: CSV, Parquet and YAML files, and what ``darshan-parser --total`` prints."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from sim.config.errors import InputError, shown
from sim.config.files import check_is_file, explain
from sim.config.sealed import check_may_open
from sim.config.yaml_text import parse_yaml
from sim.workloads.job_records.columns import (
    BOTH_WAYS,
    DATES,
    clock_time,
    date_of,
    own_name,
    whole,
)
from sim.workloads.job_records.darshan_text import is_darshan_text, read_darshan_text
from sim.workloads.job_records.record import JobRecord

MOST_ROWS = 100_000

_FIELDS = tuple(JobRecord.model_fields)
_COUNTS = ("nodes", "ranks", "files", "io_ranks", "opens", "stats", "steps", "stripe_count")
_TIMES = ("start", "walltime", "runtime", "read_seconds", "write_seconds", "metadata_seconds")


class JobTable(NamedTuple):
    """Jobs of a file.

    Attributes
    ----------
    records
        One for each, in the order of the file.
    unused
        Columns that nothing is made of.
    """

    records: tuple[JobRecord, ...]
    unused: tuple[str, ...]


def read_job_table(path: str | Path, *, recorded: bool = False) -> JobTable:
    """Read a table of jobs.

    Parameters
    ----------
    path
        A file that ends in ``.csv``, ``.parquet``, ``.yaml`` or ``.yml``; any other is the text of
        ``darshan-parser --total``, of one job.
    recorded
        Whether ``start`` is to be when jobs began, where the table has that, too.

    Raises
    ------
    InputError
        If it cannot be read, or a value is wrong: the message names file, row, column and value.
    """
    path = Path(path)
    check_may_open(path, "a table of jobs")
    check_is_file(path)
    rows = list(_rows(path))
    if not rows:
        raise InputError(f"{path}: has no rows; right would be one row for each job")
    if len(rows) > MOST_ROWS:
        raise InputError(f"{path}: has {len(rows):,} rows; right would be at most {MOST_ROWS:,}")
    unused = sorted({name for _, row in rows for name in row if not _is_known(name)})
    places = [f"{path}: row {number}" for number, _ in rows]
    ours = [
        _own(row, place, recorded=recorded) for (_, row), place in zip(rows, places, strict=True)
    ]
    _count_from_first(ours, places)
    records = [
        _record(row, place, number)
        for number, (row, place) in enumerate(zip(ours, places, strict=True), start=1)
    ]
    _check_names(records, places)
    return JobTable(tuple(records), tuple(unused))


def _rows(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the rows of a file with their numbers: a CSV file's first row of values is row 2."""
    if path.suffix == ".csv":
        yield from _csv_rows(path)
    elif path.suffix == ".parquet":
        yield from enumerate(_parquet_rows(path), start=1)
    elif path.suffix in (".yaml", ".yml"):
        yield from enumerate(_yaml_rows(path), start=1)
    else:
        text = _text(path)
        if not is_darshan_text(text):
            raise InputError(
                f"{path}: not a table of jobs; right would be a file that ends in .csv, .parquet "
                "or .yaml, or what darshan-parser --total prints"
            )
        yield 1, {"name": path.stem, **read_darshan_text(text, str(path))}


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: is not text in UTF-8") from error


def _csv_rows(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    reader = csv.reader(_text(path).splitlines(), strict=True)
    try:
        head = next(reader, [])
        if len(set(map(own_name, head))) < len(head):
            raise InputError(f"{path}: row 1: a column comes twice in {', '.join(head)}")
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            if len(cells) != len(head):
                raise InputError(
                    f"{path}: row {reader.line_num}: has {len(cells)} cells; right would be "
                    f"{len(head)}, as in row 1"
                )
            yield reader.line_num, dict(zip(head, cells, strict=True))
    except csv.Error as error:
        raise InputError(
            f"{path}: row {reader.line_num}: is not a row of a CSV file: {error}"
        ) from error


def _parquet_rows(path: Path) -> list[dict[str, Any]]:
    import pyarrow as pa
    import pyarrow.parquet

    try:
        rows: list[dict[str, Any]] = pa.parquet.read_table(path).to_pylist()
    except (pa.ArrowException, OSError, ValueError) as error:
        raise InputError(f"{path}: is not a Parquet file that can be read: {error}") from error
    return rows


def _yaml_rows(path: Path) -> Iterator[Mapping[str, Any]]:
    """Yield the jobs of a YAML file: a list, or one under ``jobs``.

    For a job with several runs, the ranks of the first run count.
    """
    document = parse_yaml(_text(path), str(path))
    jobs = document.get("jobs") if isinstance(document, dict) else document
    if not isinstance(jobs, list):
        raise InputError(
            f"{path}: holds {shown(jobs)}; right would be a list of jobs, or jobs: [...]"
        )
    for number, job in enumerate(jobs, start=1):
        if not isinstance(job, dict) or not all(isinstance(name, str) for name in job):
            raise InputError(
                f"{path}: row {number} is {shown(job)}; right would be fields with values"
            )
        runs = job.get("runs")
        inner = runs[0] if isinstance(runs, list) and runs and isinstance(runs[0], dict) else {}
        known = {own_name(name) for name in job}
        yield job | {
            name: inner[name] for name in ("nprocs",) if name in inner and "ranks" not in known
        }


def _is_known(column: str) -> bool:
    name = own_name(column)
    return name in _FIELDS or name in BOTH_WAYS or name in DATES


def _own(row: Mapping[str, Any], place: str, *, recorded: bool) -> dict[str, Any]:
    """Return a row by our names, without what is empty."""
    values = {own_name(name): value for name, value in row.items() if _is_known(name)}
    values = {name: value for name, value in values.items() if not _is_empty(value)}
    began = values.pop("began", None)
    if began is not None and (recorded or "start" not in values):
        values["start"] = began
    for name, both in BOTH_WAYS.items():
        if name in values:
            value = values.pop(name)
            values = dict.fromkeys(both, value) | values
    for name, value in values.items():
        if name in _COUNTS:
            values[name] = whole(value, f"{place}: {name}")
        elif name in _TIMES:
            values[name] = clock_time(value)
        elif name == "name":
            values[name] = str(value).strip()
    return values


def _is_empty(value: object) -> bool:
    if isinstance(value, float) and math.isnan(value):
        return True
    return value is None or (isinstance(value, str) and value.strip().lower() in ("", "nan", "na"))


def _count_from_first(rows: list[dict[str, Any]], places: list[str]) -> None:
    """Let starts count from the first of the table, where they are dates.

    Raises
    ------
    InputError
        If some are dates and others are not.
    """
    found = [
        (row, place, date)
        for row, place in zip(rows, places, strict=True)
        if "start" in row and (date := date_of(row["start"])) is not None
    ]
    dates = [date.seconds for _, _, date in found if date.of_1970]
    if not dates:
        return
    first = min(dates)
    for row, place, date in found:
        if not date.of_1970:
            raise InputError(
                f"{place}: start = {row['start']}, but a date in other rows; right would be dates "
                "in all rows, or numbers"
            )
        row["start"] = date.seconds - first


def _record(row: Mapping[str, Any], place: str, number: int) -> JobRecord:
    """Return the record of a row."""
    try:
        return JobRecord.model_validate({"name": f"job-{number}", **row})
    except ValidationError as error:
        raise explain(error, place, JobRecord) from error


def _check_names(records: list[JobRecord], places: list[str]) -> None:
    """Raise InputError if two rows are about a job of the same name."""
    seen: dict[str, str] = {}
    for record, place in zip(records, places, strict=True):
        if record.name in seen:
            raise InputError(
                f"{place}: name = {record.name} is the name of {seen[record.name]}, too; right "
                "would be a name of its own for each job"
            )
        seen[record.name] = place.rsplit(": ", 1)[-1]
