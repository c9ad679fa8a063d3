"""A summary of a trace, as text and as JSON."""

from __future__ import annotations

import json
import math
from typing import Any

from xc40io.config.units import format_bytes, format_seconds
from xc40io.topology.text import format_count
from xc40io.workloads.replay.summary import SIZE_BINS, TraceSummary
from xc40io.workloads.trace import TraceOp

_FILES = 10
_WAYS = ("POSIX", "MPI-IO", "collective")


def format_summary(summary: TraceSummary, place: str) -> str:
    """Return a summary as text; sizes with units, shares in percent."""
    lines = [
        f"Trace {place}: {format_count(summary.rows, 'row')}, {format_count(summary.ranks, 'rank')}"
        f"{_nodes(summary)}, {format_count(len(summary.files), 'file')}",
        *_times(summary),
        "",
        *_operations(summary),
        "",
        *_sizes(summary),
        *_files(summary),
    ]
    return "\n".join(lines) + "\n"


def _nodes(summary: TraceSummary) -> str:
    nodes = "" if summary.nodes is None else f" on {format_count(summary.nodes, 'node')}"
    return nodes if summary.ppn is None else f"{nodes}, {summary.ppn} on each"


def _times(summary: TraceSummary) -> list[str]:
    lines = []
    first, last = summary.span
    if not math.isnan(first):
        lines.append(
            f"Calls start from {format_seconds(first, 4)} to {format_seconds(last, 4)} "
            "after the job began"
        )
    if summary.think:
        lines.append(f"Computing between calls: {format_seconds(summary.think, 4)} of all ranks")
    if summary.collective_calls or summary.barriers:
        lines.append(
            f"{format_count(summary.collective_calls, 'collective call')}, "
            f"{format_count(summary.barriers, 'barrier')}"
        )
    return lines


def _operations(summary: TraceSummary) -> list[str]:
    """Return a line for each operation and way in which it is done."""
    calls, moved = summary.totals.calls.sum(axis=0), summary.totals.bytes.sum(axis=0)
    rows: list[tuple[str, ...]] = [("operation", "through", "calls", "data")]
    for op in TraceOp:
        for way, name in enumerate(_WAYS):
            if calls[op, way]:
                data = format_bytes(int(moved[op, way]), 4) if op <= TraceOp.WRITE else ""
                rows.append((op.name.lower(), name, f"{calls[op, way]:,}", data))
    return _table(rows)


def _sizes(summary: TraceSummary) -> list[str]:
    """Return how large reads and writes are, and in which order they come."""
    rows: list[tuple[str, ...]] = [("size up to", "reads", "writes")]
    labels = [*(format_bytes_decimal(bound) for bound in SIZE_BINS), "more"]
    for index, label in enumerate(labels):
        reads, writes = summary.sizes[:, index].tolist()
        if reads or writes:
            rows.append((label, f"{reads:,}", f"{writes:,}"))
    total = summary.sizes.sum(axis=1)
    for label, counts in (
        ("consecutive", summary.consecutive),
        ("sequential", summary.sequential),
    ):
        shares = [f"{100 * counts[op] / total[op]:.1f} %" if total[op] else "" for op in range(2)]
        rows.append((label, *shares))
    return _table(rows)


def format_bytes_decimal(size: int) -> str:
    """Return a power of ten as Darshan names its bins: ``100 B``, ``4 MB``."""
    for unit, name in ((10**9, "GB"), (10**6, "MB"), (10**3, "kB")):
        if size >= unit:
            return f"{size // unit} {name}"
    return f"{size} B"


def _files(summary: TraceSummary) -> list[str]:
    """Return a line for each of the files that move most."""
    moved = summary.totals.bytes.sum(axis=2)
    order = sorted(range(len(summary.files)), key=lambda file: -int(moved[file].sum()))
    if not order:
        return []
    rows: list[tuple[str, ...]] = [("file", "read", "written", "through")]
    for file in order[:_FILES]:
        read, written = (int(moved[file, op]) for op in (TraceOp.READ, TraceOp.WRITE))
        about = summary.files[file]
        rows.append((about.name, format_bytes(read, 3), format_bytes(written, 3), about.library))
    lines = ["", *_table(rows)]
    if len(order) > _FILES:
        lines.append(f"and {len(order) - _FILES:,} files more")
    return lines


def _table(rows: list[tuple[str, ...]]) -> list[str]:
    """Return rows in columns: the first one to the left, numbers to the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        "  ".join(
            cell.rjust(width) if column and cell[:1].isdigit() else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def format_summary_json(summary: TraceSummary) -> str:
    """Return a summary as JSON: bytes and seconds."""
    calls, moved = summary.totals.calls, summary.totals.bytes
    first, last = summary.span
    found: dict[str, Any] = {
        "rows": summary.rows,
        "ranks": summary.ranks,
        "nodes": summary.nodes,
        "ppn": summary.ppn,
        "collective_calls": summary.collective_calls,
        "barriers": summary.barriers,
        "think_seconds": summary.think,
        "first_start_seconds": None if math.isnan(first) else first,
        "last_start_seconds": None if math.isnan(last) else last,
        "calls": {
            op.name.lower(): dict(zip(_WAYS, calls[:, op].sum(axis=0).tolist(), strict=True))
            for op in TraceOp
            if calls[:, op].any()
        },
        "bytes": {op.name.lower(): int(moved[:, op].sum()) for op in (TraceOp.READ, TraceOp.WRITE)},
        "size_bins": [*SIZE_BINS, None],
        "reads_by_size": summary.sizes[TraceOp.READ].tolist(),
        "writes_by_size": summary.sizes[TraceOp.WRITE].tolist(),
        "consecutive": dict(zip(("read", "write"), summary.consecutive.tolist(), strict=True)),
        "sequential": dict(zip(("read", "write"), summary.sequential.tolist(), strict=True)),
        "files": [
            {
                "name": file.name,
                "library": file.library,
                "read_bytes": int(moved[number, TraceOp.READ].sum()),
                "written_bytes": int(moved[number, TraceOp.WRITE].sum()),
            }
            for number, file in enumerate(summary.files)
        ],
    }
    return json.dumps(found, indent=2) + "\n"
