"""A stream of jobs as text: how the machine was used, what jobs waited for, how fast they were."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence

import numpy as np

from sim.config.units import format_bytes, format_rate, format_seconds
from sim.run.streaming.outcome import StreamOutcome, StreamResult
from sim.studies.stream.stream_draws import Agreement, Draws
from sim.telling.columns import format_columns
from topology.text import format_count

_MOST_ROWS = 40
_WIDTH = 100

_POLICIES = {
    "easy": "first come, first served, with EASY backfilling",
    "fcfs": "first come, first served",
    "recorded": "each at its recorded time",
}

_JOBS = ("job", "nodes", "submitted (s)", "waited (s)", "time (s)", "in I/O (s)", "read", "written")
_ALONE = ("slow-down", "of I/O")
_DRAWN = ("in I/O, all draws (s)",)


def format_stream(draws: Draws) -> str:
    """Print what came of a stream.

    Times are in simulated seconds, rates in 10^9 bytes/s, sizes in powers of 1024. *In I/O* are the
    seconds that a rank spent neither computing nor waiting for other ranks, on average.
    """
    result = draws.first
    queue = result.scenario.queue
    head = (
        f"{format_count(len(result.jobs), 'job')} on {format_count(result.nodes, 'node')} of "
        f"{result.machine.name} (simulated): {_POLICIES[queue.policy]}, seed "
        f"{result.scenario.seed}"
        + (f", {len(draws.results)} draws of what is not known" if len(draws.results) > 1 else "")
    )
    parts = [_wrapped(head), format_columns(_summary(result)), _use(result)]
    parts += [_jobs(draws), _notes(draws)]
    agreement = draws.agreement()
    if agreement is not None:
        parts.append(_wrapped(_agreement(agreement, len(draws.results))))
    parts.append(_totals(result))
    return "\n".join(part for part in parts if part)


def _summary(result: StreamResult) -> list[tuple[str, ...]]:
    """Return the table of how the jobs fared."""
    jobs = result.jobs
    rows: dict[str, list[float]] = {
        "in the queue (s)": [job.waited for job in jobs],
        "time (s)": [job.seconds for job in jobs],
        "in I/O (s)": [job.in_io for job in jobs],
    }
    if jobs[0].alone is not None:
        rows["slow-down"] = [job.slowdown or 1.0 for job in jobs]
        rows["slow-down of I/O"] = [job.io_slowdown or 1.0 for job in jobs]
    table: list[tuple[str, ...]] = [("of the jobs", "mean", "median", "90 %", "most")]
    for name, values in rows.items():
        digits = 3 if name.startswith("slow") else 1
        figures = np.mean(values), np.median(values), np.quantile(values, 0.9), np.max(values)
        table.append((name, *(f"{figure:,.{digits}f}" for figure in figures)))
    return table


def _use(result: StreamResult) -> str:
    """Say how the machine and its file system were used."""
    moved, width = result.bandwidth.bytes, result.bandwidth.width
    span = result.end - min(job.submitted for job in result.jobs)
    busiest = int(np.argmax(moved))
    text = (
        f"Jobs had {100.0 * result.utilisation:.1f} % of the time of all nodes, over "
        f"{span:,.0f} s ({_long(span)}). They read "
        f"{format_bytes(sum(job.bytes_read for job in result.jobs), 3)} and wrote "
        f"{format_bytes(sum(job.bytes_written for job in result.jobs), 3)}. The OSTs moved "
        f"{format_rate(float(moved.sum()) / span if span else 0.0, 3)} on average, and most from "
        f"{format_seconds(busiest * width, 4)} to {format_seconds((busiest + 1) * width, 4)}: "
        f"{format_rate(float(moved[busiest]) / width, 3)}."
    )
    late = sum(job.seconds > job.walltime for job in result.jobs)
    if late:
        text += (
            f" {format_count(late, 'job')} took longer than asked for; nothing ended "
            f"{'it' if late == 1 else 'them'}."
        )
    return _wrapped(text)


def _jobs(draws: Draws) -> str:
    """Return the rows of the jobs: of all, or of those that were in I/O for longest."""
    result = draws.first
    shown: Sequence[StreamOutcome] = result.jobs
    above = ""
    if len(shown) > _MOST_ROWS:
        longest = sorted(shown, key=lambda job: (-job.in_io, job.name))[:_MOST_ROWS]
        shown = sorted(longest, key=lambda job: (job.started, job.name))
        above = f"The {_MOST_ROWS} jobs that were in I/O for longest (--csv FILE has all):\n"
    several, alone = len(draws.results) > 1, shown[0].alone is not None
    head = (*_JOBS, *(_ALONE if alone else ()), *(_DRAWN if several else ()))
    rows: list[tuple[str, ...]] = [head]
    for job in shown:
        row: tuple[str, ...] = (
            *(job.name, f"{len(job.nodes):,}", f"{job.submitted:,.1f}", f"{job.waited:,.1f}"),
            *(f"{job.seconds:,.1f}", f"{job.in_io:,.3f}"),
            *(format_bytes(job.bytes_read, 3), format_bytes(job.bytes_written, 3)),
        )
        row += (_ratio(job.slowdown), _ratio(job.io_slowdown)) if alone else ()
        if several:
            interval = draws.in_io(job.name)
            row += (f"{interval.low:,.3f} to {interval.high:,.3f}",)
        rows.append(row)
    return above + format_columns(rows)


def _notes(draws: Draws) -> str:
    return "".join(_wrapped(f"# {note}.") for note in (*draws.notes, *draws.first.notes))


def _agreement(found: Agreement, draws: int) -> str:
    """Say how far what was measured agrees."""
    text = (
        f"Measured seconds in I/O, all ranks of a job together, are known of {found.jobs:,} jobs. "
        f"Simulated ones are {found.ratio:.3g} times as long (geometric mean)"
    )
    if draws > 1:
        text += f", {found.low:.3g} to {found.high:.3g} in single draws"
    if not math.isnan(found.r):
        text += f"; r = {found.r:.2f}, of the logarithms {found.log_r:.2f}"
    if draws > 1:
        text += f". {100.0 * found.within:.0f} % of the measured ones are within the draws"
    return text + "."


def _totals(result: StreamResult) -> str:
    return (
        f"# In all: {result.end:,.1f} simulated s, {result.rpcs:,} bulk RPCs with "
        f"{result.bulk_bytes / 1e9:,.6g} GB, {result.events:,} events; digest {result.digest}\n"
    )


def _long(seconds: float) -> str:
    """Return a time in days, hours or minutes."""
    for unit, name in ((86400.0, "days"), (3600.0, "h")):
        if seconds >= 2.0 * unit:
            return f"{seconds / unit:.3g} {name}"
    return f"{seconds / 60.0:.3g} min"


def _ratio(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _wrapped(text: str) -> str:
    later = "#   " if text.startswith("# ") else ""
    return textwrap.fill(text, _WIDTH, subsequent_indent=later) + "\n"
