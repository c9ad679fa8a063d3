"""From records to jobs that a stream runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from xc40io.config.asked_workload import Workload
from xc40io.config.stream import StreamJob, StreamScenario
from xc40io.config.striping import StripeRequest
from xc40io.topology.text import format_count
from xc40io.workloads.job_records.habits import completed, load_habits
from xc40io.workloads.job_records.job_record import JobRecord
from xc40io.workloads.job_records.job_table import read_job_table
from xc40io.workloads.job_records.population import draw_population


class RecordedJobs(NamedTuple):
    """The jobs of a stream that come from records."""

    jobs: tuple[StreamJob, ...]  # as the stream runs them
    records: tuple[JobRecord, ...]  # what was known of each
    notes: tuple[str, ...]  # what the user should know: a sentence each


def recorded_jobs(scenario: StreamScenario) -> RecordedJobs:
    """Return the jobs of the table and of the population of a stream.

    Raises
    ------
    InputError
        If the table, the population or the habits cannot be read, or hold a wrong value.
    """
    records: list[tuple[JobRecord, JobRecord]] = []
    notes = []
    if scenario.records is not None:
        recorded = scenario.queue.policy == "recorded"
        table = read_job_table(scenario.records.table, recorded=recorded)
        records += _complete(table.records, scenario.records.habits, scenario)
        if table.unused:
            notes.append(f"columns that are not used: {', '.join(table.unused)}")
    if scenario.population is not None:
        drawn = draw_population(scenario.population, scenario.seed)
        records += _complete(drawn, scenario.population.habits, scenario)
    coarse = [_is_coarse(full, scenario) for _, full in records]
    if any(coarse):
        notes.append(_words(scenario, sum(coarse), len(coarse)))
    return RecordedJobs(
        tuple(_job(full, scenario) for _, full in records),
        tuple(known for known, _ in records),
        tuple(notes),
    )


def _complete(
    known: Sequence[JobRecord], habits: str, scenario: StreamScenario
) -> list[tuple[JobRecord, JobRecord]]:
    """Return each record as it is known, and with what is drawn."""
    found = load_habits(habits)
    return [(record, completed(record, found, scenario.seed, scenario.draw)) for record in known]


def _job(record: JobRecord, scenario: StreamScenario) -> StreamJob:
    """Return the job of a record in which nothing is missing."""
    fields = job_fields(record, scenario.most_ranks_per_node, scenario.most_calls)
    return StreamJob(start=record.start, walltime=record.walltime, **fields)


def job_fields(record: JobRecord, most_ranks: int, most_calls: int) -> dict[str, Any]:
    """Return the fields of a job, as scenarios have them.

    Parameters
    ----------
    record
        In which nothing is missing.
    most_ranks
        Of a node that are simulated; 0: all.
    most_calls
        Of a rank on a file and step; 0: all.
    """
    nodes, io_ranks = record.nodes or 1, record.io_ranks or 1
    at_work = _at_work(record, most_ranks)
    steps = (record.steps or 1) if record.written else 1
    each = io_ranks / at_work  # ranks that one stands for: it does what the MDS is asked by all
    options = {
        "name": "production",
        "read": record.read,
        "written": record.written,
        "read_call": record.read_call,
        "write_call": record.write_call,
        "read_layout": record.read_layout,
        "write_layout": record.write_layout,
        "io_ranks": at_work,
        "files": record.files,
        "opens": max(round((record.opens or 1) * each / steps), 1),
        "stats": round((record.stats or 0) * each),
        "steps": steps,
        "compute": max((record.runtime or 0.0) - (record.measured or 0.0) / io_ranks, 0.0),
        "most_calls": most_calls,
    }
    return {
        "name": record.name,
        "nodes": nodes,
        "ppn": -(-at_work // nodes),
        "striping": StripeRequest(count=record.stripe_count, size=record.stripe_size),
        "workload": Workload(kernel=options),
    }


def _at_work(record: JobRecord, most_ranks: int) -> int:
    """Return how many ranks of a job are simulated."""
    io_ranks = record.io_ranks or 1
    return io_ranks if most_ranks == 0 else min(io_ranks, most_ranks * (record.nodes or 1))


def _is_coarse(record: JobRecord, scenario: StreamScenario) -> bool:
    """Tell whether ranks or calls of a job stand for several."""
    if _at_work(record, scenario.most_ranks_per_node) < (record.io_ranks or 1):
        return True
    ranks, most = record.io_ranks or 1, scenario.most_calls
    ways = (
        (record.read, record.read_call or 1, 1),
        (record.written, record.write_call or 1, record.steps or 1),
    )
    if most == 0:
        return False
    return max(record.opens or 0, record.stats or 0) > most or any(
        moved > most * call * ranks * steps * (record.files or 1) for moved, call, steps in ways
    )


def _words(scenario: StreamScenario, coarse: int, jobs: int) -> str:
    """Say that the fidelity is scaled down."""
    limits = []
    if scenario.most_ranks_per_node:
        limits.append(f"at most {format_count(scenario.most_ranks_per_node, 'rank')} of a node")
    if scenario.most_calls:
        limits.append(
            f"at most {scenario.most_calls:,} reads, writes, opens or stats of a rank on a file "
            "and step"
        )
    return (
        f"{coarse:,} of {jobs:,} jobs are simulated more coarsely, with {' and '.join(limits)}: "
        "each stands for several and moves the bytes of all, so what depends on their number is "
        "underestimated"
    )
