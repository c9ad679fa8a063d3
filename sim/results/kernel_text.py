"""The table of a kernel, as text."""

from __future__ import annotations

from collections.abc import Sequence

from sim.config.units import format_bytes, format_rate, format_seconds
from sim.results.totals import Total, totals
from sim.run.result import Result
from sim.telling.columns import format_columns
from sim.workloads.job_results import Figure, Row


def format_kernel(result: Result) -> str:
    """Print the rows of a kernel: times in simulated seconds, rates in 10^9 bytes/s.

    ``start`` is when the first rank began, ``time`` from then to the end of the last one, and
    ``longest`` what the slowest rank took. Below stand the totals: of each kind of phase if one of
    them has several rows, and of all; ``time`` is then the time in which any rank was at it.
    """
    parts = [f"Kernel {result.workload.name}: {format_options(result)}\n", format_rows(result.rows)]
    if len(result.rows) > 1 and (added := totals(result)):
        parts.append(_totals(added))
    return "\n".join(parts)


def format_options(result: Result) -> str:
    """Return the options of a kernel that are set, as ``NAME=VALUE``; defaults are left out."""
    options = result.workload.given
    return ", ".join(f"{name}={value}" for name, value in options.items()) or "all defaults"


def format_rows(rows: Sequence[Row]) -> str:
    """Return the table of some rows, with a column for each figure that one of the rows has."""
    figures = list(dict.fromkeys(name for row in rows for name in row.figures))
    head = ["step", "phase", "start (s)", "time (s)", "longest (s)", "data", "rate", *figures]
    return format_columns([head, *(_cells(row, figures) for row in rows)], left=(0, 1))


def _totals(added: Sequence[Total]) -> str:
    """Return the table of the totals."""
    several = any(total.rows > 1 for total in added[:-1])
    shown = added if several else added[-1:]
    cells = [
        [
            total.phase,
            f"{total.rows:,}",
            f"{total.seconds:.4f}",
            format_bytes(total.bytes, 3) if total.bytes else "",
            "" if total.bandwidth is None else format_rate(total.bandwidth, 4),
        ]
        for total in shown
    ]
    return format_columns([["total", "rows", "time (s)", "data", "rate"], *cells], left=(0,))


def _cells(row: Row, figures: Sequence[str]) -> list[str]:
    bandwidth = row.bandwidth
    return [
        row.step,
        row.phase,
        f"{row.start:.4f}",
        f"{row.seconds:.4f}",
        f"{row.longest:.4f}",
        format_bytes(row.bytes, 3) if row.bytes else "",
        "" if bandwidth is None else format_rate(bandwidth, 4),
        *(_figure(row.figures.get(name)) for name in figures),
    ]


def _figure(figure: Figure | None) -> str:
    if figure is None:
        return ""
    value, unit = figure
    if unit == "bytes":
        return format_bytes(int(value), 3)
    if unit == "seconds":
        return format_seconds(value, 3)
    return format_rate(value, 3) if unit == "bytes/s" else f"{value:,.6g}"
