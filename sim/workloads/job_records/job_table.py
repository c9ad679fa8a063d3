"""Tables of jobs: CSV, Parquet and YAML files, and what ``darshan-parser --total`` prints.

Columns have the names of the tools that write such tables, or those of here.
"""

from __future__ import annotations

import csv
import datetime
import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from xc40io.config.errors import InputError, shown
from xc40io.config.files import check_is_file, check_may_open
from xc40io.config.model import explain
from xc40io.config.text.yaml_text import parse_yaml
from xc40io.workloads.job_records.darshan_text import is_darshan_text, read_darshan_text
from xc40io.workloads.job_records.job_record import JobRecord

ALIASES = {
    "name": ("job", "jobid", "job_id", "id", "job_name"),
    "nodes": ("nodesused", "num_nodes", "nnodes", "nodes_used", "allocated_nodes"),
    "ranks": ("nprocs", "processes", "ntasks", "procs"),
    "start": ("submit", "submitted", "submission_time", "submissiontime", "queued_timestamp"),
    "began": ("started", "start_time", "starttime", "start_timestamp"),
    "walltime": ("walltime_seconds", "walltimeseconds", "requested", "timelimit"),
    "runtime": ("runtime_seconds", "runtimeseconds", "elapsed", "run_time"),
    "read": ("bytes_read", "readbytes", "read_bytes", "total_posix_bytes_read"),
    "written": ("bytes_written", "writtenbytes", "written_bytes", "total_posix_bytes_written"),
    "call": ("call_size", "transfer"),
    "layout": (),
    "read_seconds": ("readtimeseconds", "read_time"),
    "write_seconds": ("writetimeseconds", "write_time"),
    "metadata_seconds": ("metatimeseconds", "meta_time"),
}
"""Other names of columns, without regard to capitals. ``call`` and ``layout`` stand for both ways;
``began`` is when a job began, where ``start`` is when it was submitted."""

BOTH_WAYS = {
    "call": ("read_call", "write_call"),
    "layout": ("read_layout", "write_layout"),
}

DATES = ("start", "began")
"""Columns that may hold a date."""

_LARGE = 1e8
"""Seconds: what is larger counts from 1970."""

_CLOCK = re.compile(r"(?:(\d+)-)?(\d+):(\d\d):(\d\d)")

MOST_ROWS = 100_000

_FIELDS = tuple(JobRecord.model_fields)
_COUNTS = ("nodes", "ranks", "files", "io_ranks", "opens", "stats", "steps", "stripe_count")
_TIMES = ("start", "walltime", "runtime", "read_seconds", "write_seconds", "metadata_seconds")


def own_name(column: str) -> str:
    """Return this project's name of a column."""
    low = column.strip().lower()
    return next((name for name, others in ALIASES.items() if low in others), low)


class Date(NamedTuple):
    """A point in time: seconds, and whether they count from 1970 or from any other time."""

    seconds: float
    of_1970: bool


def date_of(value: object) -> Date | None:
    """Return what a date or a number means; None if it is neither: a time with its unit."""
    if isinstance(value, datetime.datetime):
        return Date(_since_1970(value), of_1970=True)
    text = str(value).strip()
    try:
        return Date(float(text), of_1970=float(text) > _LARGE)
    except ValueError:
        pass
    try:
        return Date(_since_1970(datetime.datetime.fromisoformat(text)), of_1970=True)
    except ValueError:
        return None


def _since_1970(date: datetime.datetime) -> float:
    if date.tzinfo is None:
        date = date.replace(tzinfo=datetime.UTC)
    return date.timestamp()


def clock_time(value: object) -> object:
    """Return seconds for ``[D-]HH:MM:SS`` as batch systems print it; anything else as it is."""
    found = _CLOCK.fullmatch(value.strip()) if isinstance(value, str) else None
    if found is None:
        return value
    days, hours, minutes, seconds = (int(part or 0) for part in found.groups())
    return float(((days * 24 + hours) * 60 + minutes) * 60 + seconds)


def whole(value: object, place: str) -> object:
    """Return a whole number for a text or a float that is one; anything else as it is.

    Raises
    ------
    InputError
        If it is a number, and no whole one.
    """
    if isinstance(value, bool) or not isinstance(value, str | float):
        return value
    try:
        number = float(str(value).replace(",", ""))
    except ValueError:
        return value
    if not number.is_integer():
        raise InputError(f"{place} = {value}; right would be a whole number")
    return int(number)


class JobTable(NamedTuple):
    """Jobs of a file."""

    records: tuple[JobRecord, ...]  # one for each, in the order of the file
    unused: tuple[str, ...]  # columns that nothing is made of


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
    """Let starts that are dates count from the first of the table; refuse if only some are."""
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
