"""What ``darshan-parser --total`` prints of a job, with ``--file`` or not, as a row of a table."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from xc40io.config.errors import InputError
from xc40io.config.reading import Cursor

_HEAD = re.compile(r"#\s*(nprocs|run time|start_time(?: asci[i]*)?|exe|jobid):\s*(.*)")
_TOTAL = re.compile(r"total_([A-Z]+(?:-IO)?)_(\w+):\s*(-?[\d.]+(?:e[+-]?\d+)?)")
_FILES = re.compile(r"#\s*(total|unique|shared):\s+(\d+)\s+(\d+)")
MOST_RANKS = 100_000_000
"""Processes of a job: far more than any machine has."""

MODULES = ("POSIX", "STDIO")
"""What moves bytes by calls of the operating system; what is above them moves the same bytes."""

COUNTERS = (
    *("BYTES_READ", "BYTES_WRITTEN", "READS", "WRITES", "OPENS", "STATS"),
    *("F_READ_TIME", "F_WRITE_TIME", "F_META_TIME"),
)
"""What jobs are made of; others are no amounts, as RENAMED_FROM is the number of a file."""


def is_darshan_text(text: str) -> bool:
    """Tell whether a text is that of darshan-parser."""
    return "darshan" in text[:200].lower() and "nprocs" in text


def read_darshan_text(text: str, at: Cursor) -> dict[str, Any]:
    """Return what the totals of a job say, by the columns of a table.

    POSIX and STDIO are added up. The length of a call is the mean one; files are shared if more
    bytes are in files that ranks share (``--file``). On how many nodes the job was Darshan does not
    tell.

    Raises
    ------
    InputError
        If the text has no total of either, or a number is none.
    """
    head = {match[1]: match[2].strip() for match in _HEAD.finditer(text)}
    totals = {
        (module, counter): at.number(f"total_{module}_{counter}", value)
        for module, counter, value in _TOTAL.findall(text)
        if module in MODULES and counter in COUNTERS
    }
    if not totals:
        raise InputError(
            f"{at}: has no total of POSIX or STDIO; right would be what darshan-parser --total "
            "prints"
        )

    ranks = at.count("nprocs", head.get("nprocs", ""), MOST_RANKS)
    if ranks < 1:
        raise at.wrong("nprocs", ranks, "the number of the job's processes, 1 or more")
    known = {"runtime": head.get("run time"), "application": head.get("exe", "").partition(" ")[0]}
    return known | of_totals(totals, ranks) | _sharing(text, at)


def of_totals(totals: Mapping[tuple[str, str], float], ranks: int) -> dict[str, Any]:
    """Return what totals of POSIX and STDIO amount to, by the columns of a table.

    Parameters
    ----------
    totals
        By module and counter: ``("POSIX", "BYTES_READ")``.
    ranks
        Of the job.
    """

    def total(counter: str) -> float:
        return sum(max(totals.get((module, counter), 0.0), 0.0) for module in MODULES)

    found: dict[str, Any] = {"ranks": ranks}
    for way, moved, calls in (
        ("read", "BYTES_READ", "READS"),
        ("write", "BYTES_WRITTEN", "WRITES"),
    ):
        size, count = total(moved), total(calls)
        found["read" if way == "read" else "written"] = int(size)
        found[f"{way}_call"] = max(int(size / count), 1) if size and count else None
        found[f"{way}_seconds"] = total(f"F_{way.upper()}_TIME")
    found["metadata_seconds"] = total("F_META_TIME")
    found["opens"] = max(round(total("OPENS") / ranks), 1)
    found["stats"] = round(total("STATS") / ranks)
    return found


def _sharing(text: str, at: Cursor) -> dict[str, Any]:
    """Return who shares files, if the text tells (``--file``)."""
    files = {
        kind: (at.count(kind, count), at.count(kind, size))
        for kind, count, size in _FILES.findall(text)
    }
    if not {"unique", "shared"} <= files.keys():
        return {}
    shared = files["shared"][1] > files["unique"][1]
    return {
        "layout": "job" if shared else "rank",
        **({"files": files["shared"][0]} if shared else {}),
    }
