"""Tables of jobs: what batch systems, Darshan and people write of jobs, one record for each."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from xc40io.config.errors import InputError
from xc40io.config.model import explain
from xc40io.config.reading import Cursor, reading
from xc40io.workloads.job_records.cells import clock_time, date_of, whole
from xc40io.workloads.job_records.columns import in_own_names, unused_columns
from xc40io.workloads.job_records.job_record import JobRecord
from xc40io.workloads.job_records.job_rows import check_head, read_rows

_COUNTS = ("nodes", "ranks", "files", "io_ranks", "opens", "stats", "steps", "stripe_count")
_TIMES = ("start", "walltime", "runtime", "read_seconds", "write_seconds", "metadata_seconds")


MOST_ROWS = 100_000


class JobTable(NamedTuple):
    """Jobs of a file."""

    records: tuple[JobRecord, ...]  # one for each, in the order of the file
    unused: tuple[str, ...]  # columns that nothing is made of
    read_as: str  # what the file is, in a few words
    steps: int  # of batch scripts, folded into their jobs
    never_began: int  # jobs that were left out


def read_job_table(path: str | Path, *, recorded: bool = False) -> JobTable:
    """Read a table of jobs.

    Parameters
    ----------
    path
        Parquet (``.parquet``), YAML (``.yaml``, ``.yml``), or text: a table with commas,
        semicolons, tabs or bars, JSON, what ``sacct`` prints with ``--parsable`` or ``--json``, an
        accounting log of PBS, TORQUE or Cobalt, what ``darshan-parser --total`` prints of one job,
        or a frame of PyDarshan.
    recorded
        Whether ``start`` is to be when jobs began, where the table has that, too.

    Raises
    ------
    InputError
        If it cannot be read, or a value is wrong: the message names file, row, column and value.
    """
    path = Path(path)
    with reading(path, _RIGHT) as at:
        return _table(path, at, recorded=recorded)


_RIGHT = "a table of jobs, as docs/streams.md describes them"


def _table(path: Path, at: Cursor, *, recorded: bool) -> JobTable:
    found = read_rows(path, at)
    if not found.rows:
        none = f"has {found.never_began:,} jobs, none of which began" if found.never_began else ""
        raise InputError(f"{path}: {none or 'has no rows'}; right would be one row for each job")
    if len(found.rows) > MOST_ROWS:
        raise InputError(
            f"{path}: has {len(found.rows):,} rows; right would be at most {MOST_ROWS:,}"
        )
    rows = [row for _, row in found.rows]
    check_head(rows, path)
    numbers = [number for number, _ in found.rows]
    ours = []
    for number, row in zip(numbers, rows, strict=True):
        at.row(number)
        ours.append(_own(row, at, recorded=recorded))
    _count_from_first(ours, numbers, at)
    records: list[JobRecord] = []
    for number, row in zip(numbers, ours, strict=True):
        at.row(number)
        records.append(_record(row, str(at), len(records) + 1))
    _check_names(records, numbers, at)
    return JobTable(
        tuple(records), unused_columns(rows), found.read_as, found.steps, found.never_began
    )


def _own(row: Mapping[str, Any], at: Cursor, *, recorded: bool) -> dict[str, Any]:
    """Return a row by our names, without what is empty."""
    values = in_own_names(row)
    began = values.pop("began", None)
    if began is not None and (recorded or "start" not in values):
        values["start"] = began
    for name, value in values.items():
        if name in _COUNTS:
            values[name] = whole(value, name, at)
        elif name in _TIMES:
            values[name] = clock_time(value, name, at)
        elif name == "name":
            values[name] = str(value).strip()
    return values


def _count_from_first(rows: list[dict[str, Any]], numbers: list[int], at: Cursor) -> None:
    """Let starts that are dates count from the first of the table; refuse if only some are."""
    found = [
        (row, number, date)
        for row, number in zip(rows, numbers, strict=True)
        if "start" in row and (date := date_of(row["start"])) is not None
    ]
    dates = [date.seconds for _, _, date in found if date.of_1970]
    if not dates:
        return
    first = min(dates)
    for row, number, date in found:
        if not date.of_1970:
            at.row(number)
            raise InputError(
                f"{at}: start = {row['start']}, but a date in other rows; right would be dates "
                "in all rows, or numbers"
            )
        row["start"] = date.seconds - first


def _record(row: Mapping[str, Any], place: str, number: int) -> JobRecord:
    """Return the record of a row."""
    try:
        return JobRecord.model_validate({"name": f"job-{number}", **row})
    except ValidationError as error:
        raise explain(error, place, JobRecord) from error


def _check_names(records: list[JobRecord], numbers: list[int], at: Cursor) -> None:
    """Raise InputError if two rows are about a job of the same name."""
    seen: dict[str, int] = {}
    for record, number in zip(records, numbers, strict=True):
        if record.name in seen:
            at.row(number)
            raise InputError(
                f"{at}: name = {record.name} is the name of row {seen[record.name]}, too; right "
                "would be a name of its own for each job"
            )
        seen[record.name] = number
