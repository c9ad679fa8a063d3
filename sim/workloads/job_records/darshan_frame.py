"""PyDarshan's frames as tables: counters of each file and rank, or of each job, added up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from xc40io.config.errors import InputError
from xc40io.config.reading import Cursor
from xc40io.workloads.job_records.bad_rows import BadRows
from xc40io.workloads.job_records.cells import is_empty
from xc40io.workloads.job_records.darshan_text import COUNTERS, MODULES, MOST_RANKS, of_totals

Row = Mapping[str, Any]

_JOB = ("jobid", "job_id", "job", "log")


def is_darshan_frame(head: Sequence[str]) -> bool:
    """Tell whether columns are counters of Darshan by file and rank."""
    return "rank" in head and any(
        name.startswith(tuple(f"{module}_" for module in MODULES)) for name in head
    )


def is_darshan_totals(head: Sequence[str]) -> bool:
    """Tell whether columns are totals of Darshan by job, as ``total_POSIX_BYTES_READ``."""
    return any(name in _TOTALS for name in head) and "nprocs" in head


_TOTALS = {
    f"total_{module}_{counter}": (module, counter) for module in MODULES for counter in COUNTERS
}


def add_totals(
    rows: Sequence[tuple[int, Row]], at: Cursor, bad: BadRows
) -> list[tuple[int, dict[str, Any]]]:
    """Return rows of totals of Darshan by the columns of a table, POSIX and STDIO added up.

    Each program that a job ran has a log of its own: the second of job 7 is called ``7_2``. ``at``
    is told where the reader is, ``bad`` what is left out.
    """
    found: list[tuple[int, dict[str, Any]]] = []
    programs: Counter[str] = Counter()
    for number, row in rows:
        with bad.row(number):
            ranks = max(_count(row, "nprocs", at), 1)
            totals = {
                _TOTALS[name]: at.number(name, value)
                for name, value in row.items()
                if name in _TOTALS and not is_empty(value)
            }
            rest = {name: value for name, value in row.items() if name not in _TOTALS}
            job = next((name for name in _JOB if not is_empty(rest.get(name))), None)
            if job is not None:
                called = str(rest[job])
                programs[called] += 1
                rest[job] = called if programs[called] == 1 else f"{called}_{programs[called]}"
            told = {counter for _, counter in totals}
            added = of_totals(totals, ranks)
            found.append(
                (number, rest | {what: added[what] for what in added if _OF[what] in told})
            )
    return found


_OF = {
    **{"read": "BYTES_READ", "written": "BYTES_WRITTEN", "read_call": "READS"},
    **{"write_call": "WRITES", "opens": "OPENS", "stats": "STATS", "ranks": ""},
    **{"read_seconds": "F_READ_TIME", "write_seconds": "F_WRITE_TIME"},
    "metadata_seconds": "F_META_TIME",
}
"""Of which counter each quantity is made."""


def fold_files(
    rows: Sequence[tuple[int, Row]], name: str, at: Cursor, bad: BadRows
) -> list[tuple[int, dict[str, Any]]]:
    """Return one row for each job of a frame with a row for each file and rank.

    Parameters
    ----------
    rows
        With their numbers. A column ``jobid`` or ``log`` tells the jobs apart.
    name
        Of the job, where there is no such column.
    at
        Is told where the reader is.
    bad
        Is told which jobs are left out: a counter is no number, or how many ranks a job had is not
        to be told, for all rows are of shared files, and no column ``nprocs`` is there.
    """
    jobs: dict[str, list[tuple[int, Row]]] = {}
    for number, row in rows:
        called = next((row[column] for column in _JOB if not is_empty(row.get(column))), name)
        jobs.setdefault(str(called), []).append((number, row))
    found: list[tuple[int, dict[str, Any]]] = []
    for job, lines in jobs.items():
        with bad.row(lines[0][0]):
            found.append(_one_job(job, lines, at))
    return found


def _one_job(name: str, lines: Sequence[tuple[int, Row]], at: Cursor) -> tuple[int, dict[str, Any]]:
    """Add up the rows of a job; rank -1 is all ranks together."""
    totals: dict[tuple[str, str], float] = {}
    moved = {"shared": 0.0, "unique": 0.0}
    ranks = 0
    for line, row in lines:
        at.row(line)
        for column, value in row.items():
            module, _, counter = column.partition("_")
            if module in MODULES and counter in COUNTERS and not is_empty(value):
                before = totals.get((module, counter), 0.0)
                totals[module, counter] = before + at.number(column, value)
        rank = _count(row, "rank", at)
        moved["shared" if rank < 0 else "unique"] += sum(
            at.number(column, row[column])
            for module in MODULES
            for way in ("READ", "WRITTEN")
            if not is_empty(row.get(column := f"{module}_BYTES_{way}"))
        )
        ranks = max(ranks, _count(row, "nprocs", at), rank + 1)
    number, first = lines[0]
    at.row(number)
    if ranks < 1:
        raise InputError(
            f"{at}: job {name}: rank = -1 in all rows, all ranks together; right would be a "
            "column nprocs beside it"
        )
    rest = {column: value for column, value in first.items() if column in ("nodes", "runtime")}
    found = of_totals(totals, ranks)
    layout = "job" if moved["shared"] > moved["unique"] else "rank"
    return number, {"name": name, **rest, **found, "layout": layout}


def _count(row: Row, column: str, at: Cursor) -> int:
    value = row.get(column)
    return 0 if is_empty(value) else at.count(column, value, MOST_RANKS)
