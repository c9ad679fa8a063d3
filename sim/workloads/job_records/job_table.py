"""Tables of jobs: what batch systems, Darshan and people write of jobs, one record for each."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from xc40io.config.errors import InputError
from xc40io.config.files import check_is_file, check_may_open
from xc40io.config.model import explain
from xc40io.workloads.job_records.cells import clock_time, date_of, whole
from xc40io.workloads.job_records.columns import in_own_names, unused_columns
from xc40io.workloads.job_records.job_record import JobRecord
from xc40io.workloads.job_records.job_rows import check_head, read_rows

MOST_ROWS = 100_000

_COUNTS = ("nodes", "ranks", "files", "io_ranks", "opens", "stats", "steps", "stripe_count")
_TIMES = ("start", "walltime", "runtime", "read_seconds", "write_seconds", "metadata_seconds")


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
    check_may_open(path, "a table of jobs")
    check_is_file(path)
    found = read_rows(path)
    if not found.rows:
        none = f"has {found.never_began:,} jobs, none of which began" if found.never_began else ""
        raise InputError(f"{path}: {none or 'has no rows'}; right would be one row for each job")
    if len(found.rows) > MOST_ROWS:
        raise InputError(
            f"{path}: has {len(found.rows):,} rows; right would be at most {MOST_ROWS:,}"
        )
    rows = [row for _, row in found.rows]
    check_head(rows, path)
    places = [f"{path}: row {number}" for number, _ in found.rows]
    ours = [_own(row, place, recorded=recorded) for row, place in zip(rows, places, strict=True)]
    _count_from_first(ours, places)
    records = [
        _record(row, place, number)
        for number, (row, place) in enumerate(zip(ours, places, strict=True), start=1)
    ]
    _check_names(records, places)
    return JobTable(
        tuple(records), unused_columns(rows), found.read_as, found.steps, found.never_began
    )


def _own(row: Mapping[str, Any], place: str, *, recorded: bool) -> dict[str, Any]:
    """Return a row by our names, without what is empty."""
    values = in_own_names(row)
    began = values.pop("began", None)
    if began is not None and (recorded or "start" not in values):
        values["start"] = began
    for name, value in values.items():
        if name in _COUNTS:
            values[name] = whole(value, f"{place}: {name}")
        elif name in _TIMES:
            values[name] = clock_time(value)
        elif name == "name":
            values[name] = str(value).strip()
    return values


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
