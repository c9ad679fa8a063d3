"""What a stream of jobs tells: how the machine was used, what jobs waited for, how fast they were.

Times are in simulated seconds, rates in 10^9 bytes/s, sizes in powers of 1024. *In I/O* are the
seconds that a rank spent neither computing nor waiting for other ranks, on average.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from xc40io.config.units import format_bytes, format_rate, format_seconds
from xc40io.run.streaming.stream_outcome import StreamOutcome, StreamResult
from xc40io.studies.stream.stream_draws import Agreement, Draws, Interval
from xc40io.studies.stream.stream_plot import stream_figure
from xc40io.telling.answer import (
    Answer,
    Block,
    Column,
    Listing,
    Picture,
    Section,
    Table,
    Text,
    To,
    Unit,
    Values,
    plain_table,
)
from xc40io.telling.units import ANY, BYTES, NUMBER, ROWS, SECONDS, WORDS
from xc40io.topology.text import format_count

_MOST_ROWS = 40

_POLICIES = {
    "easy": "first come, first served, with EASY backfilling",
    "fcfs": "first come, first served",
    "recorded": "each at its recorded time",
}

_TENTHS = Unit("s", float, lambda seconds: f"{seconds:,.1f}", above=" (s)")
_IN_IO = Unit("s", float, lambda seconds: f"{seconds:,.3f}", above=" (s)")
_TIMES = Unit("", float, lambda ratio: f"{ratio:.3f}")


class _Job(NamedTuple):
    """A job among all draws; while they run, it is not known what others say of it."""

    draws: Draws | None
    job: StreamOutcome


def _of(name: str) -> Callable[[_Job], Any]:
    return lambda row: getattr(row.job, name)


def _in_io(row: _Job) -> Interval:
    return Interval.of([row.job.in_io]) if row.draws is None else row.draws.in_io(row.job.name)


def _drawn(row: _Job) -> str:
    interval = _in_io(row)
    return f"{interval.low:,.3f} to {interval.high:,.3f}"


def _measured(row: _Job) -> float | None:
    record = None if row.draws is None else row.draws.records.get(row.job.name)
    return None if record is None else record.measured


JOBS = (
    Column("job", WORDS, _of("name")),
    Column("nodes", NUMBER, lambda row: len(row.job.nodes)),
    Column("ranks", NUMBER, _of("ranks"), to=To.DATA),
    Column("submitted", _TENTHS, _of("submitted")),
    Column("waited", _TENTHS, _of("waited"), help="In the queue."),
    Column("seconds", _TENTHS, _of("seconds"), head="time", to=To.PEOPLE),
    Column("in_io", _IN_IO, _of("in_io"), head="in I/O", to=To.PEOPLE),
    Column("started", _TENTHS, _of("started"), to=To.DATA),
    Column("ended", _TENTHS, _of("ended"), to=To.DATA),
    Column("given_back", _TENTHS, _of("given_back"), to=To.DATA, help="When its nodes were clean."),
    Column("walltime", _TENTHS, _of("walltime"), to=To.DATA, help="What it asked for."),
    Column("bytes_read", BYTES, _of("bytes_read"), head="read"),
    Column("bytes_written", BYTES, _of("bytes_written"), head="written"),
    Column("in_io", _IN_IO, _of("in_io"), to=To.DATA, help="Of a rank, on average."),
    Column("in_io_low", _IN_IO, lambda row: _in_io(row).low, to=To.DATA),
    Column("in_io_high", _IN_IO, lambda row: _in_io(row).high, to=To.DATA),
    Column(
        "cumulated",
        SECONDS,
        lambda row: None if row.job.cumulated is None else sum(row.job.cumulated),
        to=To.DATA,
        help="In I/O, all ranks together.",
    ),
    Column("measured", SECONDS, _measured, to=To.DATA, help="The same, as recorded."),
    Column("alone", SECONDS, _of("alone"), to=To.DATA, help="Its time without the others."),
    Column("slowdown", _TIMES, _of("slowdown"), to=To.DATA, help="Times as long as alone."),
    Column("io_slowdown", _TIMES, _of("io_slowdown"), to=To.DATA),
    Column("node_list", ANY, lambda row: row.job.nodes.tolist(), to=To.JSON),
)

_ALONE = (
    Column("slowdown", _TIMES, _of("slowdown"), head="slow-down", to=To.PEOPLE),
    Column("io_slowdown", _TIMES, _of("io_slowdown"), head="of I/O", to=To.PEOPLE),
)
_DRAWN = Column("drawn", Unit("", str), _drawn, head="in I/O, all draws (s)", to=To.PEOPLE)

STREAM = (
    Column("jobs", ROWS, lambda draws: _rows(draws, draws.first.jobs), inner=JOBS),
    Column("queue", WORDS, lambda draws: draws.first.scenario.queue.policy),
    Column("nodes", NUMBER, lambda draws: draws.first.nodes),
    Column("utilisation", ANY, lambda draws: draws.first.utilisation, help="A share."),
    Column("end", SECONDS, lambda draws: draws.first.end),
    Column("bandwidth", ANY, lambda draws: _bandwidth(draws.first), help="Bytes in each bin."),
    Column("events", NUMBER, lambda draws: draws.first.events),
    Column("rpcs", NUMBER, lambda draws: draws.first.rpcs),
    Column("bulk_bytes", BYTES, lambda draws: draws.first.bulk_bytes),
    Column("digest", WORDS, lambda draws: draws.first.digest),
    Column("digests", ANY, lambda draws: [one.digest for one in draws.results]),
    Column("agreement", ANY, lambda draws: _finite(draws.agreement())),
    Column("notes", ANY, lambda draws: [*draws.notes, *draws.first.notes]),
    Column("scenario", ANY, lambda draws: _scenario(draws.first)),
    Column("wall_seconds", SECONDS, lambda draws: draws.first.wall),
)


def stream_answer(draws: Draws, command: str) -> Answer:
    """Return the answer on a stream; ``command`` as it was typed."""
    result = draws.first
    again = Listing("Command", command, typed=True)
    return Answer(
        title=f"{format_count(len(result.jobs), 'job')} on {result.machine.name}",
        setup=_setup(draws),
        blocks=[*_blocks(draws), Section("again", "To run it again", [again], on="page")],
        values=Values("stream", STREAM, draws),
        table=Table(JOBS, lambda: _rows(draws, draws.first.jobs)),
    )


def job_row(job: StreamOutcome) -> Table:
    """Return the table of one job that has just ended."""
    return Table(JOBS, lambda: [_Job(None, job)])


def _blocks(draws: Draws) -> Iterator[Block]:
    result = draws.first
    yield Text(_setup(draws))
    yield _summary(result)
    yield Text(_use(result))
    yield Text(_node_hours(draws))
    yield _jobs(draws)
    notes = [f"# {note}." for note in (*draws.notes, *result.notes)]
    if notes:
        yield Text("\n".join(notes))
    agreement = draws.agreement()
    if agreement is not None:
        yield Text(_agreement(agreement, len(draws.results)))
    yield Picture("stream", partial(stream_figure, result))
    yield Listing(
        "",
        f"# In all: {result.end:,.1f} simulated s, {result.rpcs:,} bulk RPCs with "
        f"{result.bulk_bytes / 1e9:,.6g} GB, {result.events:,} events; digest {result.digest}",
    )


def _setup(draws: Draws) -> str:
    result = draws.first
    several = len(draws.results) > 1
    return (
        f"{format_count(len(result.jobs), 'job')} on {format_count(result.nodes, 'node')} of "
        f"{result.machine.name} (simulated): {_POLICIES[result.scenario.queue.policy]}, seed "
        f"{result.scenario.seed}"
        + (f", {len(draws.results)} draws of what is not known" if several else "")
    )


def _rows(draws: Draws, jobs: Sequence[StreamOutcome]) -> list[_Job]:
    return [_Job(draws, job) for job in jobs]


def _summary(result: StreamResult) -> Table:
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
    table = []
    for name, values in rows.items():
        digits = 3 if name.startswith("slow") else 1
        figures = np.mean(values), np.median(values), np.quantile(values, 0.9), np.max(values)
        table.append((name, *(f"{figure:,.{digits}f}" for figure in figures)))
    return plain_table("", ("of the jobs", "mean", "median", "90 %", "most"), table)


def _use(result: StreamResult) -> str:
    """Say how the machine and its file system were used."""
    moved, width = result.bandwidth.bytes, result.bandwidth.width
    span = result.end - min(job.submitted for job in result.jobs)
    busiest = int(np.argmax(moved))
    text = (
        f"Jobs used {100.0 * result.utilisation:.1f} % of the time of all nodes, over "
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
            f" {format_count(late, 'job')} took longer than the time asked for, and "
            f"{'was' if late == 1 else 'were'} not ended."
        )
    return text


def _node_hours(draws: Draws) -> str:
    """Say how long all jobs were in I/O, how much of that is one job's, and what draws make of it.

    A sum may be that of a single job of which little is known: then it is worth little.
    """
    hours, longest = draws.node_hours, draws.longest
    if len(draws.results) == 1:
        return (
            f"All jobs together spent {hours.middle:,.3g} node-hours in I/O, "
            f"{100.0 * longest.middle:.0f} % of them in one job."
        )
    return (
        f"All jobs together spent {hours.middle:,.3g} node-hours in I/O (median of the draws; "
        f"{hours.low:,.3g} to {hours.high:,.3g}), {100.0 * longest.low:.0f} to "
        f"{100.0 * longest.high:.0f} % of them in one job."
    )


def _jobs(draws: Draws) -> Table:
    """Return the rows of the jobs: of all, or of those that were in I/O for longest."""
    shown: Sequence[StreamOutcome] = draws.first.jobs
    above = ""
    if len(shown) > _MOST_ROWS:
        longest = sorted(shown, key=lambda job: (-job.in_io, job.name))[:_MOST_ROWS]
        shown = sorted(longest, key=lambda job: (job.started, job.name))
        above = f"The {_MOST_ROWS} jobs that were in I/O for longest (--csv FILE has all):"
    more = _ALONE if shown[0].alone is not None else ()
    drawn = (_DRAWN,) if len(draws.results) > 1 else ()
    return Table((*JOBS, *more, *drawn), partial(_rows, draws, shown), title=above)


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


def _bandwidth(result: StreamResult) -> dict[str, Any]:
    return {"seconds": result.bandwidth.width, "bytes": result.bandwidth.bytes.tolist()}


def _finite(found: Agreement | None) -> dict[str, Any] | None:
    """Return values with null for what is not a number."""
    if found is None:
        return None
    return {
        name: None if isinstance(value, float) and math.isnan(value) else value
        for name, value in found._asdict().items()
    }


def _scenario(result: StreamResult) -> dict[str, Any]:
    return result.scenario.model_dump(mode="json", exclude_none=True)


def _long(seconds: float) -> str:
    """Return a time in days, hours or minutes."""
    for unit, name in ((86400.0, "days"), (3600.0, "h")):
        if seconds >= 2.0 * unit:
            return f"{seconds / unit:.3g} {name}"
    return f"{seconds / 60.0:.3g} min"
