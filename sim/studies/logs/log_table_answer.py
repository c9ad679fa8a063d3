"""What logs tell as a table of jobs: a row for each, by kinds, above what any table tells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from operator import itemgetter
from typing import Any

from xc40io.results.job_table_answer import TableOfJobs, job_table_answer
from xc40io.studies.logs.each_log import BadLog
from xc40io.studies.logs.log_table import LogTable
from xc40io.telling.answer import Answer, Block, Column, Columns, Points, Section, Table, Values
from xc40io.telling.units import AMOUNT, FLAG, LONG, NUMBER, RATE, ROWS, SHARE, WORDS
from xc40io.topology.text import format_count
from xc40io.workloads.job_records.darshan_log import JobOfLog

_NO_KIND = "no bytes known"
_OTHERS = "other kinds"
_SHOWN = 8


def _io_share(job: JobOfLog) -> float | None:
    runtime = job.record.runtime
    return job.time.slowest / runtime if runtime else None


def _rate(job: JobOfLog) -> float | None:
    moved = job.record.read + job.record.written
    return moved / job.time.slowest if moved and job.time.slowest else None


LOGS: Columns = (
    Column("log", WORDS, lambda job: job.record.name, help="Its name."),
    Column("nodes", NUMBER, lambda job: job.record.nodes, help="Where the log tells."),
    Column("ranks", NUMBER, lambda job: job.record.ranks, help="Of the job."),
    Column("runtime", LONG, lambda job: job.record.runtime, head="it ran", help="Of the job."),
    Column("read", AMOUNT, lambda job: job.record.read, blank=0, help="Bytes of all ranks."),
    Column("written", AMOUNT, lambda job: job.record.written, blank=0, help="Of all ranks."),
    Column(
        "io_seconds",
        LONG,
        lambda job: job.time.slowest,
        head="in I/O",
        help="Seconds of the rank that spent most: of each shared file those of its slowest rank.",
    ),
    Column("io_share", SHARE, _io_share, head="of its time", help="In I/O."),
    Column(
        "rank_seconds",
        LONG,
        lambda job: job.time.all_ranks,
        head="of all ranks",
        help="Seconds in I/O of all ranks together.",
    ),
    Column("rate", RATE, _rate, head="at", help="Of all ranks, while in I/O."),
    Column("damaged", FLAG, lambda job: bool(job.warnings), help="Whether a part is missing."),
)
"""A log as a job."""

BAD: Columns = (
    Column("log", WORDS, lambda one: one.name, help="Its name."),
    Column("reason", WORDS, help="Why nothing came of it."),
)


def log_table_answer(found: LogTable, told: TableOfJobs) -> Answer:
    """Return the answer on logs: a row for each, by kinds; then as on any table of jobs."""
    answer = job_table_answer(told)
    assert answer.values is not None
    groups = list(_groups(found.jobs, told))
    by_kind = Column("logs", ROWS, itemgetter("logs"), inner=LOGS)
    kinds: Columns = (Column("kind", WORDS, itemgetter("kind")), by_kind)
    rows = Table(kinds, lambda: groups, title="Logs by kinds of jobs")
    columns = (
        *answer.values.columns,
        Column("logs", ROWS, lambda _: found.jobs, inner=LOGS, help="Those that were read."),
        Column("bad", ROWS, lambda _: found.bad, inner=BAD, help="Those that were not."),
    )
    head, *others = answer.blocks
    return replace(
        answer,
        blocks=[head, *bad_blocks(found.bad), rows, Section("", "", others)],
        values=Values("log table", columns, told),
        table=Table(LOGS, partial(list, found.jobs)),
    )


def bad_blocks(bad: Sequence[BadLog]) -> list[Block]:
    """Return how many logs nothing came of, and why of the first of them."""
    if not bad:
        return []
    said = [f"Left out: {format_count(len(bad), 'log')}.", *(one.reason for one in bad[:_SHOWN])]
    more = len(bad) - _SHOWN
    return [Points([*said, f"and {more:,} more"] if more > 0 else said, alert=True)]


def _groups(jobs: Sequence[JobOfLog], told: TableOfJobs) -> Iterator[dict[str, Any]]:
    """Yield the logs of each kind, those that were longest in I/O first."""
    kinds = () if told.kinds is None else told.kinds.kinds
    of = {name: kind.record.name for kind in kinds for name in kind.members}
    groups: dict[str, list[JobOfLog]] = {kind.record.name: [] for kind in kinds}
    for job in jobs:
        moves = job.record.read + job.record.written > 0
        kind = of.get(job.record.name, _OTHERS if moves else _NO_KIND)
        groups.setdefault(kind, []).append(job)
    for kind, members in groups.items():
        yield {"kind": kind, "logs": sorted(members, key=lambda job: -job.time.slowest)}
