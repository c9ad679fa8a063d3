"""What a table of jobs tells before anything runs: what was understood, and what is assumed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median
from typing import Any, NamedTuple

from xc40io.config.units import format_bytes, format_seconds
from xc40io.telling.answer import (
    Answer,
    Block,
    Column,
    Columns,
    Points,
    Section,
    Table,
    Text,
    Values,
)
from xc40io.telling.units import BYTES, CELL, NUMBER, ROWS, SHARE, TWO_DECIMALS, WORDS
from xc40io.topology.text import format_count
from xc40io.workloads.job_records.drawn import DrawnValue
from xc40io.workloads.job_records.habits import Habits, typical
from xc40io.workloads.job_records.job_kinds import JobKinds
from xc40io.workloads.job_records.job_record import JobRecord
from xc40io.workloads.job_records.job_table import JobTable


class TableOfJobs(NamedTuple):
    """A table that was read, and what is made of it."""

    path: str
    table: JobTable
    habits: Habits
    kinds: JobKinds | None  # None where of no job the bytes are known


class _Quantity(NamedTuple):
    """What is known of all jobs of one field."""

    field: str
    known: int
    least: str
    median: str
    most: str
    otherwise: str  # what is taken where it is not known


class _Kind(NamedTuple):
    """A kind of jobs, with its shares of all."""

    name: str
    jobs: int
    nodes: int
    ranks: int
    read: int
    written: int
    files: str
    bytes_share: float
    node_hours_share: float


class _Ending(NamedTuple):
    """The jobs of a table that ended alike."""

    ended: str
    jobs: int
    read: int
    written: int
    bytes_share: float
    node_hours: float


_SIZES: frozenset[str] = frozenset({"read", "written", "read_call", "write_call", "stripe_size"})
_TIMES: frozenset[str] = frozenset({"start", "walltime", "runtime"})
_DRAWN = ("io_ranks", "read_call", "write_call", "files", "opens", "stats", "steps")
_FIELDS = (
    *("nodes", "ranks", "start", "walltime", "runtime", "read", "written"),
    *(*_DRAWN, "read_layout", "write_layout", "stripe_count", "stripe_size"),
)

QUANTITIES: Columns = (
    Column("field", WORDS, head="of a job", help="The name of the column here."),
    Column("known", NUMBER, head="known of", help="Jobs of which the table tells it."),
    Column("least", CELL, help="Of these jobs."),
    Column("median", CELL, help="Of these jobs; of words the commonest."),
    Column("most", CELL, help="Of these jobs."),
    Column("otherwise", WORDS, head="where it is not known", help="What is taken for it."),
)

KINDS: Columns = (
    Column("name", WORDS, head="kind", help="What most of its jobs are called, or do; nodes."),
    Column("jobs", NUMBER, help="In the table."),
    Column("nodes", NUMBER, help="Of the job that stands for them: the geometric mean."),
    Column("ranks", NUMBER, help="Of it, on all its nodes."),
    Column("read", BYTES, help="By it: the mean of the jobs."),
    Column("written", BYTES, help="By it: the mean of the jobs."),
    Column("files", WORDS, help="Whether its ranks share files; assumed where nothing is known."),
    Column("bytes_share", SHARE, head="of all bytes", help="All its jobs together."),
    Column("node_hours_share", SHARE, head="of node-hours", help="All its jobs together."),
)

ENDINGS: Columns = (
    Column("ended", WORDS, head="ended", help="How they ended, as the table says."),
    Column("jobs", NUMBER, help="In the table."),
    Column("read", BYTES, help="By all of them."),
    Column("written", BYTES, help="By all of them."),
    Column("bytes_share", SHARE, head="of all bytes", help="All of them together."),
    Column("node_hours", TWO_DECIMALS, head="node-hours", help="Of those whose runtime is known."),
)

JOB_TABLE: Columns = (
    Column("file", WORDS, lambda of: of.path, help="The table."),
    Column("read_as", WORDS, lambda of: of.table.read_as, help="What it was taken for."),
    Column("jobs", NUMBER, lambda of: len(of.table.records), help="In it."),
    Column("steps", NUMBER, lambda of: of.table.steps, help="That were folded into their jobs."),
    Column("never_began", NUMBER, lambda of: of.table.never_began, help="Jobs left out."),
    Column("nodes_from", WORDS, lambda of: of.table.nodes_from, help="If not from nodes."),
    Column("left_out", WORDS, lambda of: of.table.left_out, help="Rows that cannot be read."),
    Column("endings", ROWS, lambda of: _endings(of), inner=ENDINGS, help="Of the jobs."),
    Column("quantities", ROWS, lambda of: _quantities(of), inner=QUANTITIES, help="Of the jobs."),
    Column("kinds", ROWS, lambda of: kind_rows(of.kinds), inner=KINDS, help="Of jobs."),
    Column("unused", WORDS, lambda of: ", ".join(of.table.unused), help="Columns."),
)


def job_table_answer(found: TableOfJobs) -> Answer:
    """Return the answer on a table of jobs: its columns, what is assumed, and its kinds of jobs."""
    table = found.table
    jobs = format_count(len(table.records), "job")
    notes = []
    if table.steps:
        notes.append(f"Folded into their jobs: {format_count(table.steps, 'step')}.")
    if table.never_began:
        notes.append(f"Left out: {format_count(table.never_began, 'job')} that never began.")
    if table.nodes_from:
        notes.append(table.nodes_from)
    if table.left_out:
        notes.append(f"Left out: {table.left_out}.")
    if table.unused:
        notes.append(f"Columns that are not used: {', '.join(table.unused)}.")
    kinds: list[Block] = [] if found.kinds is None else list(kinds_blocks(found.kinds))
    if found.kinds is None:
        notes.append("Of no job the bytes are known, so nothing can be simulated of them.")
    title = f"{jobs} of {found.path}, read as {table.read_as}"
    return Answer(
        title=title,
        setup="Before anything runs: what was understood, and what is assumed.",
        blocks=[
            Section("", "", [Text(title)], on="text"),
            Table(QUANTITIES, lambda: _quantities(found), most=len(_FIELDS)),
            *([Points(notes)] if notes else []),
            *_endings_blocks(found),
            *kinds,
        ],
        values=Values("job table", JOB_TABLE, found),
        table=Table(KINDS, lambda: kind_rows(found.kinds)),
    )


def _endings_blocks(found: TableOfJobs) -> list[Block]:
    """Return the jobs apart by how they ended, if some did not complete."""
    if not found.table.unlike:
        return []
    rows = _endings(found)
    words = (
        "The kinds of jobs are made of all of these, for what a job moved that failed the file "
        "system moved, too; --completed leaves out what is known not to have completed."
    )
    return [Table(ENDINGS, lambda: rows, title="How jobs ended", most=len(rows)), Text(words)]


def _endings(found: TableOfJobs) -> list[_Ending]:
    jobs: dict[str, list[JobRecord]] = {}
    for record in found.table.records:
        jobs.setdefault(record.ended or "end unknown", []).append(record)
    moved = sum(record.read + record.written for record in found.table.records)
    return [
        _Ending(
            ended,
            len(alike),
            sum(job.read for job in alike),
            sum(job.written for job in alike),
            sum(job.read + job.written for job in alike) / moved if moved else 0.0,
            sum(_node_hours(job, found.habits) for job in alike),
        )
        for ended, alike in sorted(jobs.items(), key=lambda item: -len(item[1]))
    ]


def _node_hours(job: JobRecord, habits: Habits) -> float:
    full = typical(job, habits)
    return (full.nodes or 1) * (full.runtime or 0.0) / 3600.0


def kinds_blocks(kinds: JobKinds) -> Sequence[Block]:
    """Return the kinds of jobs of a table as blocks: a table, and what it stands for."""
    rows = kind_rows(kinds)
    jobs = sum(row.jobs for row in rows)
    share = sum(row.bytes_share for row in rows)
    hours = sum(row.node_hours_share for row in rows)
    words = (
        f"{format_count(len(rows), 'kind')} of jobs: {jobs:,} of {kinds.jobs:,} jobs, "
        f"{100 * share:.1f} % of the bytes"
    )
    words += f" and {100 * hours:.1f} % of the node-hours." if kinds.node_seconds else "."
    if kinds.silent:
        words += f" Of {format_count(kinds.silent, 'job')} no bytes are known."
    return [Table(KINDS, lambda: rows, title="Kinds of jobs", most=len(rows)), Text(words)]


def kind_rows(kinds: JobKinds | None) -> list[_Kind]:
    """Return a row for each kind."""
    if kinds is None:
        return []
    return [
        _Kind(
            kind.record.name,
            kind.jobs,
            kind.record.nodes or 1,
            kind.record.ranks or 1,
            kind.record.read,
            kind.record.written,
            "shared" if kind.record.shares else "one a rank",
            kind.bytes / kinds.bytes,
            kind.node_seconds / kinds.node_seconds if kinds.node_seconds else 0.0,
        )
        for kind in kinds.kinds
    ]


def _quantities(found: TableOfJobs) -> list[_Quantity]:
    return [_quantity(name, found) for name in _FIELDS]


def _quantity(name: str, found: TableOfJobs) -> _Quantity:
    values = [getattr(job, name) for job in found.table.records if name in job.model_fields_set]
    values = [value for value in values if value is not None]
    otherwise = "" if len(values) == len(found.table.records) else _otherwise(name, found.habits)
    if not values:
        return _Quantity(name, 0, "", "", "", otherwise)
    if isinstance(values[0], str):
        common = max(sorted(set(values)), key=values.count)
        return _Quantity(name, len(values), "", common, "", otherwise)
    write = _writer(name)
    return _Quantity(
        name, len(values), write(min(values)), write(median(values)), write(max(values)), otherwise
    )


def _writer(name: str) -> Callable[[Any], str]:
    if name in _SIZES:
        return lambda value: format_bytes(int(value), 3)
    if name in _TIMES:
        return lambda value: format_seconds(value, 3)
    return lambda value: f"{value:,.4g}"


def _otherwise(name: str, habits: Habits) -> str:
    """Say what is taken where a field is not known."""
    fixed = {
        "nodes": "as many as its ranks fill",
        "start": "at 0 s",
        "walltime": "1 h",
        "runtime": "nothing but I/O",
        "read": "nothing",
        "written": "nothing",
        "stripe_size": "the machine's default",
        "read_layout": "drawn by ranks, as on Intrepid",
        "write_layout": "drawn by ranks, as on Intrepid",
    }
    if name in fixed:
        return fixed[name]
    called = {"ranks": "ranks_per_node", "io_ranks": "io_ranks_per_node"}
    habit: DrawnValue = getattr(
        habits, {"stripe_count": "shared_stripes"}.get(name, called.get(name, name))
    )
    words = _habit_words(habit, _writer(name))
    if name == "stripe_count":
        return f"of shared files {words}"
    return f"{words} of a node" if name in called else words


def _habit_words(habit: DrawnValue, write: Callable[[Any], str]) -> str:
    if habit.median is not None:
        return f"drawn, {write(habit.median)} in the middle"
    values = list(dict.fromkeys(map(write, sorted(habit.values))))
    if len(values) == 1:
        return values[0]
    return f"one of {', '.join(values)}"
