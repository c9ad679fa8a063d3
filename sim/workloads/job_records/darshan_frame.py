"""PyDarshan's frames as tables: counters of each file and rank, or of each job, added up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from xc40io.config.errors import InputError
from xc40io.workloads.job_records.cells import is_empty
from xc40io.workloads.job_records.darshan_text import MODULES, of_totals

Row = Mapping[str, Any]

_JOB = ("jobid", "job_id", "job", "log")


def is_darshan_frame(head: Sequence[str]) -> bool:
    """Tell whether columns are counters of Darshan by file and rank."""
    return "rank" in head and any(
        name.startswith(tuple(f"{module}_" for module in MODULES)) for name in head
    )


def fold_files(
    rows: Sequence[tuple[int, Row]], name: str, place: str
) -> list[tuple[int, dict[str, Any]]]:
    """Return one row for each job of a frame with a row for each file and rank.

    Parameters
    ----------
    rows
        With their numbers. A column ``jobid`` or ``log`` tells the jobs apart.
    name
        Of the job, where there is no such column.
    place
        For the messages.

    Raises
    ------
    InputError
        If how many ranks a job had is not to be told: all rows are of shared files, and no column
        ``nprocs`` is there.
    """
    jobs: dict[str, list[tuple[int, Row]]] = {}
    for number, row in rows:
        called = next((row[column] for column in _JOB if not is_empty(row.get(column))), name)
        jobs.setdefault(str(called), []).append((number, row))
    return [_one_job(job, lines, place) for job, lines in jobs.items()]


def _one_job(name: str, lines: Sequence[tuple[int, Row]], place: str) -> tuple[int, dict[str, Any]]:
    """Add up the rows of a job; rank -1 is all ranks together."""
    totals: dict[tuple[str, str], float] = {}
    moved = {"shared": 0.0, "unique": 0.0}
    for _, row in lines:
        for column, value in row.items():
            module, _, counter = column.partition("_")
            if module in MODULES and not is_empty(value):
                totals[module, counter] = totals.get((module, counter), 0.0) + _number(value)
        shared = _number(row.get("rank", 0)) < 0
        moved["shared" if shared else "unique"] += sum(
            _number(row.get(f"{module}_BYTES_{way}", 0))
            for module in MODULES
            for way in ("READ", "WRITTEN")
        )
    number, first = lines[0]
    told = [int(_number(row.get("nprocs", 0))) for _, row in lines]
    ranks = max(*told, *(int(_number(row.get("rank", 0))) + 1 for _, row in lines), 0)
    if ranks < 1:
        raise InputError(
            f"{place}: job {name}: rank = -1 in all rows, all ranks together; right would be a "
            "column nprocs beside it"
        )
    rest = {column: value for column, value in first.items() if column in ("nodes", "runtime")}
    found = of_totals(totals, ranks)
    layout = "job" if moved["shared"] > moved["unique"] else "rank"
    return number, {"name": name, **rest, **found, "layout": layout}


def _number(value: object) -> float:
    try:
        return float(str(value))
    except ValueError:
        return 0.0
