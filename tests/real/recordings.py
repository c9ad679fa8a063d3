"""Recordings of real programs: per rank, in order, operation, file, offset and bytes."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import NamedTuple, TypeAlias

FOLDER = Path(__file__).parent / "recorded"


UNTOLD = "profiling.json"
"""What ADIOS 2 writes to a file of this name has numbers in it that take more or fewer digits each
time: that it is made and closed is told, what is written is not."""


class Row(NamedTuple):
    """A call. What an operation has no use for is 0."""

    op: str
    file: str
    offset: int
    bytes: int


Calls: TypeAlias = dict[int, list[Row]]


def without_chance(rows: list[Row]) -> list[Row]:
    """Return a rank's calls without what is chance in a program with threads.

    Reads and writes that follow each other stand in the order of their places, cuts and looks in
    that of files. A configuration file is as long as the names of folders in it make it.
    """
    found: list[Row] = []
    rows = [row._replace(bytes=1) if _is_configuration(row) else row for row in rows]
    for kind, run in groupby(rows, _kind):
        together = list(run)
        found += sorted(together, key=_by_place) if kind in _OF_THREADS else together
    return found


_OF_THREADS = ("data", "truncate", "stat")


def _kind(row: Row) -> str:
    return "data" if row.op in ("read", "write") else row.op


def _by_place(row: Row) -> tuple[str, int, int, list[str]]:
    numbers = [part.zfill(12) for part in re.split(r"(\d+)", row.file)]
    return row.op, row.offset, row.bytes, numbers


def _is_configuration(row: Row) -> bool:
    return row.bytes > 0 and row.file.endswith(".config")


class Refused(NamedTuple):
    """Who was asked says that it cannot be done."""

    sentence: str


@dataclass(frozen=True)
class Recorded:
    """A group as it was recorded: the versions that made it, and its cases by their names."""

    versions: Mapping[str, str]
    cases: Mapping[str, Calls | Refused]


def load(group: str) -> Recorded:
    """Return the recording of a group."""
    with gzip.open(FOLDER / f"{group}.json.gz", "rt", encoding="utf-8") as file:
        kept = json.load(file)
    return Recorded(kept["versions"], {name: _read(case) for name, case in kept["cases"].items()})


def keep(group: str, recorded: Recorded) -> None:
    """Write the recording of a group: the same bytes for the same calls."""
    kept = {
        "versions": dict(recorded.versions),
        "cases": {name: _write(case) for name, case in recorded.cases.items()},
    }
    text = json.dumps(kept, separators=(",", ":"))
    path = FOLDER / f"{group}.json.gz"
    path.write_bytes(gzip.compress(text.encode(), compresslevel=9, mtime=0))


def _read(case: Mapping[str, list[list[str | int]]] | str) -> Calls | Refused:
    if isinstance(case, str):
        return Refused(case)
    return {int(rank): [Row(*row) for row in rows] for rank, rows in case.items()}  # type: ignore[arg-type]


def _write(case: Calls | Refused) -> object:
    return case.sentence if isinstance(case, Refused) else case
