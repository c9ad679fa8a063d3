"""The Standard Workload Format (2.2) of the Parallel Workloads Archive: a line of numbers a job.

It counts processors, not nodes, and knows nothing of I/O.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from xc40io.config.errors import InputError
from xc40io.config.reading import Cursor
from xc40io.config.units import MOST_COUNT
from xc40io.workloads.job_records.bad_rows import BadRows

_FIELDS = (
    *("number", "submit", "wait", "runtime", "allocated", "processor_time", "memory"),
    *("asked", "walltime", "asked_memory", "status", "user", "group", "program", "queue"),
    *("partition", "preceding", "think_time"),
)
_LINE = re.compile(rf"[ \t]*(?:-?[\d.]+[ \t]+){{{len(_FIELDS) - 1}}}-?[\d.]+[ \t]*$", re.MULTILINE)
_COMMENT = re.compile(r"(?:[ \t]*(?:;[^\n]*)?\n)*")
_HEAD = re.compile(r"^;[ \t]*(MaxNodes|MaxProcs):[ \t]*(\d{1,9})", re.MULTILINE)

_ENDED = {0: "failed", 1: "completed", 5: "cancelled"}
_PARTS = (2, 3, 4)
"""Statuses of lines that are a part of a job, between two checkpoints: another tells the whole."""


def is_standard_workload(text: str) -> bool:
    """Tell whether the first line of a text that is no comment has the format's 18 numbers."""
    head = _COMMENT.match(text)
    return _LINE.match(text, head.end() if head else 0) is not None


def processors_per_node(text: str) -> int | None:
    """Return how many processors a node of the machine has, if the head of a text tells it."""
    head = {name: int(number) for name, number in _HEAD.findall(text)}
    nodes, processors = head.get("MaxNodes", 0), head.get("MaxProcs", 0)
    return max(round(processors / nodes), 1) if nodes and processors else None


def standard_rows(text: str, at: Cursor, bad: BadRows) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the jobs of a text, with the numbers of their lines.

    ``at`` is told where the reader is, ``bad`` what is left out.
    """
    for number, line in enumerate(text.splitlines(), start=1):
        cells = line.split()
        if not cells or cells[0].startswith(";"):
            continue
        with bad.row(number):
            if len(cells) != len(_FIELDS):
                raise InputError(f"{at}: has {len(cells)} numbers; right would be {len(_FIELDS)}")
            told = {
                name: value
                for name, cell in zip(_FIELDS, cells, strict=True)
                if (value := at.number(name, cell)) >= 0
            }
            if told.get("status") not in _PARTS:
                yield number, _job(told, at)


def _job(told: dict[str, float], at: Cursor) -> dict[str, Any]:
    """Return the row of a job; what is -1 is not known."""
    row: dict[str, Any] = {
        "id": at.count("number", told.get("number", -1)),
        "state": _ENDED.get(round(told.get("status", -1))),
        **{name: told.get(name) for name in ("submit", "runtime", "walltime")},
    }
    if {"submit", "wait"} <= told.keys():
        row["began"] = told["submit"] + told["wait"]
    processors = at.count("processors", told.get("allocated") or told.get("asked") or 0, MOST_COUNT)
    if processors:
        row["processors"] = processors
    if "program" in told:
        row["application"] = f"app{told['program']:.0f}"
    return row


def never_ran(row: dict[str, Any]) -> bool:
    """Tell whether a job was cancelled before it began."""
    return row["state"] == "cancelled" and not row["runtime"]
