"""From records to jobs that a stream runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from xc40io.config.asked_workload import Workload
from xc40io.config.machine import Machine
from xc40io.config.scenario import changed_machine
from xc40io.config.stream import StreamJob, StreamScenario
from xc40io.config.striping import StripeRequest
from xc40io.workloads.job_records.coarseness import (
    MOST_CALLS,
    Coarseness,
    coarse_words,
    coarseness_of,
    is_coarse,
    ranks_at_work,
)
from xc40io.workloads.job_records.habits import completed, fewer_notes, load_habits
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
        cores = _machine(scenario).nodes.cores
        table = read_job_table(scenario.records.table, recorded=recorded, cores=cores)
        records += _complete(table.records, scenario.records.habits, scenario)
        if table.unlike:
            notes.append(f"{table.unlike}: they run as the others")
        if table.nodes_from:
            notes.append(table.nodes_from.rstrip("."))
        if not any(record.read or record.written for record in table.records):
            notes.append("of no job the bytes are known, so none reads or writes")
        if table.left_out:
            notes.append(f"left out: {table.left_out}")
        usual = load_habits(scenario.records.habits)
        fewer = fewer_notes(table.records, usual, _machine(scenario))
        notes += [note.rstrip(".") for note in fewer]
        if table.unused:
            notes.append(f"columns that are not used: {', '.join(table.unused)}")
    if scenario.population is not None:
        drawn = draw_population(scenario.population, scenario.seed)
        records += _complete(drawn, scenario.population.habits, scenario)
    limits = [_coarseness(full, scenario, len(records)) for _, full in records]
    pairs = zip(records, limits, strict=True)
    coarse = sum(is_coarse(full, limit) for (_, full), limit in pairs)
    if coarse:
        notes.append(coarse_words(limits, coarse))
    return RecordedJobs(
        tuple(_job(full, limit) for (_, full), limit in zip(records, limits, strict=True)),
        tuple(known for known, _ in records),
        tuple(notes),
    )


def _complete(
    known: Sequence[JobRecord], habits: str, scenario: StreamScenario
) -> list[tuple[JobRecord, JobRecord]]:
    """Return each record as it is known, and with what is drawn."""
    machine = _machine(scenario)
    found = load_habits(habits).on(machine)
    return [
        (record, completed(record, found, scenario.seed, scenario.draw, machine))
        for record in known
    ]


def _machine(scenario: StreamScenario) -> Machine:
    return changed_machine(scenario.machine, scenario.changes, scenario.rpcs_as_one)


def _coarseness(record: JobRecord, scenario: StreamScenario, jobs: int) -> Coarseness:
    """Return how coarsely one of so many jobs is simulated: as is said, or so that all are fast."""
    fast = coarseness_of(record, MOST_CALLS / jobs)
    ranks, calls = scenario.most_ranks_per_node, scenario.most_calls
    return Coarseness(
        fast.ranks if ranks is None else ranks, fast.calls if calls is None else calls
    )


def _job(record: JobRecord, coarse: Coarseness) -> StreamJob:
    """Return the job of a record in which nothing is missing."""
    return StreamJob(start=record.start, walltime=record.walltime, **job_fields(record, coarse))


def job_fields(record: JobRecord, coarse: Coarseness) -> dict[str, Any]:
    """Return the fields of a job, as scenarios have them.

    Parameters
    ----------
    record
        In which nothing is missing.
    coarse
        What is simulated of it at most.
    """
    nodes, io_ranks = record.nodes or 1, record.io_ranks or 1
    at_work = ranks_at_work(record, coarse.ranks)
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
        "most_calls": coarse.calls,
    }
    return {
        "name": record.name,
        "nodes": nodes,
        "ppn": -(-at_work // nodes),
        "striping": StripeRequest(count=record.stripe_count, size=record.stripe_size),
        "workload": Workload(kernel=options),
    }
