"""Tables of jobs: what batch systems, Darshan and people write of jobs, one record for each."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from xc40io.config.errors import InputError
from xc40io.config.model import explain
from xc40io.config.reading import Cursor, reading
from xc40io.config.units import MOST_COUNT
from xc40io.topology.text import format_count
from xc40io.workloads.job_records.bad_rows import BadRows
from xc40io.workloads.job_records.cells import clock_time, date_of, program_of, whole
from xc40io.workloads.job_records.columns import in_own_names, unused_columns
from xc40io.workloads.job_records.endings import Ended, ended_by
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
    left_out: str = ""  # rows that cannot be read, and why the first of them
    nodes_from: str = ""  # what nodes were counted from, if not from nodes: a sentence

    @property
    def unlike(self) -> str:
        """How many jobs did not complete; nothing if none is known that did not."""
        counts = Counter(record.ended for record in self.records)
        told = [f"{counts[ended]:,} {words}" for ended, words in _UNLIKE.items() if counts[ended]]
        return f"{', '.join(told)} of {format_count(len(self.records), 'job')}" if told else ""

    @property
    def completed(self) -> JobTable:
        """The table without the jobs that are known not to have completed.

        Raises
        ------
        InputError
            If none is left.
        """
        kept = tuple(record for record in self.records if record.ended not in _UNLIKE)
        if not kept:
            raise InputError(f"--completed: {self.unlike}; right would be a job that completed")
        return self._replace(records=kept)


_UNLIKE: dict[Ended, str] = {
    "failed": "failed",
    "timed out": "timed out",
    "cancelled": "cancelled",
    "running": "not at their end",
}


def read_job_table(
    path: str | Path, *, recorded: bool = False, cores: int | None = None
) -> JobTable:
    """Read a table of jobs.

    Parameters
    ----------
    path
        Parquet (``.parquet``), YAML (``.yaml``, ``.yml``), or text: a table with commas,
        semicolons, tabs or bars, JSON, what ``sacct`` prints with ``--parsable`` or ``--json``, an
        accounting log of PBS, TORQUE or Cobalt, the Standard Workload Format, what
        ``darshan-parser --total`` prints of one job, or a frame of PyDarshan.
    recorded
        Whether ``start`` is to be when jobs began, where the table has that, too.
    cores
        Of a node, where the table tells processors alone, and not how many a node has.

    Raises
    ------
    InputError
        If it cannot be read, or none of its rows can: the message names file, row, column and value
        of the first. Where others can, such rows are left out, which the table tells.
    """
    path = Path(path)
    with reading(path, _RIGHT) as at:
        return _table(path, at, recorded=recorded, cores=cores)


_RIGHT = "a table of jobs, as docs/streams.md describes them"


def _table(path: Path, at: Cursor, *, recorded: bool, cores: int | None) -> JobTable:
    found = read_rows(path, at)
    bad = found.bad
    bad.check(len(found.rows))
    if not found.rows:
        none = f"has {found.never_began:,} jobs, none of which began" if found.never_began else ""
        raise InputError(f"{path}: {none or 'has no rows'}; right would be one row for each job")
    if len(found.rows) > MOST_ROWS:
        raise InputError(
            f"{path}: has {len(found.rows):,} rows; right would be at most {MOST_ROWS:,}"
        )
    rows = [row for _, row in found.rows]
    check_head(rows, path)
    ours: dict[int, dict[str, Any]] = {}
    by_processors = False
    for number, row in found.rows:
        with bad.row(number):
            own = _own(row, at, recorded=recorded)
            by_processors |= _counts_nodes(own, found.cores or cores, at)
            ours[number] = own
    _count_from_first(ours, at, bad)
    records: dict[str, tuple[int, JobRecord]] = {}
    for place, (number, row) in enumerate(ours.items(), start=1):
        with bad.row(number):
            record = _record(row, str(at), place)
            _check_name(record, records, at)
            records[record.name] = number, record
    bad.check(len(records))
    return JobTable(
        tuple(record for _, record in records.values()),
        unused_columns(rows),
        found.read_as,
        found.steps,
        found.never_began,
        bad.words,
        _nodes_words(found.cores, cores) if by_processors else "",
    )


_INDEX = re.compile(r"\[(\d+)\]")
"""Of a job in an array, as PBS writes it: no name has such brackets here."""


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
            values[name] = _INDEX.sub(r"_\1", str(value).strip())
        elif name == "application":
            values[name] = program_of(str(value))
    told = values.pop("ended", None), values.pop("exit_status", None)
    ended = ended_by(*told, over_time=_is_over_time(values))
    return values if ended is None else values | {"ended": ended}


def _is_over_time(values: Mapping[str, Any]) -> bool:
    """Tell whether a job ran as long as it had asked for."""
    ran, asked = (date_of(values.get(name)) for name in ("runtime", "walltime"))
    return ran is not None and asked is not None and ran.seconds >= asked.seconds


def _counts_nodes(row: dict[str, Any], cores: int | None, at: Cursor) -> bool:
    """Count the nodes of a row from its processors; tell whether it tells no nodes itself."""
    told = row.pop("processors", None)
    if told is None or "nodes" in row:
        return False
    processors = at.count("processors", told, MOST_COUNT)
    if cores is not None:
        row["nodes"] = -(-processors // cores)
    row.setdefault("ranks", processors)
    return True


def _nodes_words(told: int | None, asked: int | None) -> str:
    """Say what nodes were counted from."""
    if told is None and asked is None:
        return "Of nodes nothing is told: processors are taken for ranks."
    whose = "of the machine" if told is None else "by the head of the file"
    return (
        f"Nodes are counted from processors, {told or asked:,} a node {whose}, and each has a rank."
    )


def _count_from_first(rows: dict[int, dict[str, Any]], at: Cursor, bad: BadRows) -> None:
    """Let starts that are dates count from the first of the table; other rows are left out."""
    found = {
        number: date
        for number, row in rows.items()
        if "start" in row and (date := date_of(row["start"])) is not None
    }
    dates = [date.seconds for date in found.values() if date.of_1970]
    if not dates:
        return
    first = min(dates)
    for number, date in found.items():
        if date.of_1970:
            rows[number]["start"] = date.seconds - first
            continue
        row = rows.pop(number)
        with bad.row(number):
            raise InputError(
                f"{at}: start = {row['start']}, but a date in other rows; right would be dates "
                "in all rows, or numbers"
            )


def _record(row: Mapping[str, Any], place: str, number: int) -> JobRecord:
    """Return the record of a row."""
    try:
        return JobRecord.model_validate({"name": f"job-{number}", **row})
    except ValidationError as error:
        raise explain(error, place, JobRecord) from error


def _check_name(record: JobRecord, others: Mapping[str, tuple[int, JobRecord]], at: Cursor) -> None:
    """Raise InputError if another row is about a job of the same name."""
    if record.name in others:
        raise InputError(
            f"{at}: name = {record.name} is the name of row {others[record.name][0]}, too; right "
            "would be a name of its own for each job"
        )
