"""Which row of a CSV table is wrong, looked for row by row once it is known that one is."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

from sim.workloads.trace.schema import COLUMNS


def bad_row(path: str, names: Sequence[str]) -> str | None:
    """Return a sentence on the first row that is wrong; None if none can be found.

    Parameters
    ----------
    path
        The table.
    names
        Its columns.
    """
    try:
        with Path(path).open(encoding="utf-8", errors="surrogateescape", newline="") as file:
            rows = csv.reader(file)
            next(rows, None)
            for number, cells in enumerate(filter(None, rows), start=1):
                fault = _fault(names, cells)
                if fault is not None:
                    return f"{path}: row {number}: {fault}"
    except (OSError, csv.Error):
        return None
    return None


def _fault(names: Sequence[str], cells: Sequence[str]) -> str | None:
    """Return what is wrong with a row."""
    if len(cells) != len(names):
        return f"has {len(cells)} values; right would be {len(names)}, one for each column"
    for name, cell in zip(names, cells, strict=True):
        shown = cell[:80].encode("utf-8", "replace").decode()
        if not _fits(COLUMNS[name].kind, cell):
            return f"{name} = {shown!r}; right would be {COLUMNS[name].right}"
    return None


def _fits(kind: str, cell: str) -> bool:
    """Tell whether a cell can be read as an integer, as seconds or as text in UTF-8."""
    try:
        if kind == "word":
            cell.encode("utf-8")
        elif cell and kind == "integer":
            return cell.strip() == cell and -(1 << 63) <= int(cell) < 1 << 63 and "_" not in cell
        elif cell:
            float(cell)
    except ValueError:
        return False
    return True
