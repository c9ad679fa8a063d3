"""The page of several jobs on one machine."""

from __future__ import annotations

from sim.config.units import format_bytes, format_rate, format_seconds
from sim.results.jobs_text import node_text
from sim.results.page.machine_tables import machine_parts
from sim.results.page.run_page import binding_parts, phase_parts
from sim.results.page.run_tables import (
    counts_table,
    files_table,
    path_tables,
    stations_table,
    waits_table,
)
from sim.results.page.scenario_parts import jobs_scenario_parts
from sim.results.pictures.album import pictures_of_jobs
from sim.run.jobs import JobOutcome, JobPhase, JobsResult
from sim.telling.answer import Answer, Block, Card, Fold, Section, Table, plain_table
from topology.text import format_count

_TOLD = 40
"""Jobs that are told of by themselves at most; the tables have all."""


def jobs_page(result: JobsResult) -> Answer:
    """Return the page of several jobs: what each took, what the machine did, each by itself."""
    scenario, whole = result.scenario, result.whole
    count = format_count(len(result.jobs), "job")
    alone = any(outcome.alone is not None for outcome in result.jobs)
    machine: list[Block] = [counts_table(whole)]
    busiest = stations_table(whole)
    if busiest is not None:
        machine.insert(0, busiest)
    return Answer(
        title=scenario.title or f"{count} on {result.machine.name}",
        setup=f"Simulated on {result.machine.name}: {count}, seed {scenario.seed}",
        description=" ".join(scenario.description.split()),
        cards=_cards(result),
        blocks=[
            Section("jobs", "Jobs", [_jobs_table(result), _phases_table(result)]),
            Section("pictures", "Pictures", list(pictures_of_jobs(result))),
            Section("each-job", "Each job", _each(result)),
            Section("stations", "What the machine did", machine),
            Section(
                "machine",
                "Machine",
                machine_parts(whole.machine, scenario.changes, {}, scenario.faults),
            ),
            Section(
                "scenario",
                "Scenario, to run it again",
                jobs_scenario_parts(scenario, result.machine, alone=alone),
            ),
        ],
        version=whole.version,
    )


def _cards(result: JobsResult) -> list[Card]:
    whole = result.whole
    cards = [
        Card("jobs", f"{len(result.jobs):,}"),
        Card(
            "time of all", format_seconds(result.simulated, 4), "simulated, to the last job's end"
        ),
        Card("bulk RPCs", f"{whole.rpcs:,}", f"{whole.bulk_bytes / 1e9:,.4g} GB moved"),
    ]
    slowed = [
        (outcome.slowdown, outcome.job.name)
        for outcome in result.jobs
        if outcome.slowdown is not None
    ]
    if len(slowed) > 1:
        most, name = max(slowed)
        cards.append(Card("largest slow-down", f"{most:.3f} times", f"job {name}"))
    return cards


def _jobs_table(result: JobsResult) -> Table:
    heads = ("job", "workload", "nodes", "ranks", "start", "end", "time", "alone", "slow-down")
    rows = [
        [
            outcome.job.name,
            outcome.result.workload.title,
            f"{outcome.job.nodes:,}",
            f"{outcome.job.nodes * outcome.job.ppn:,}",
            f"{outcome.start:.4f} s",
            f"{outcome.end:.4f} s",
            format_seconds(outcome.result.simulated, 4),
            "" if outcome.alone is None else format_seconds(outcome.alone.seconds, 4),
            _times(outcome.slowdown),
        ]
        for outcome in result.jobs
    ]
    note = (
        "Alone: the same job on the same nodes and OSTs without the others. The slow-down is how "
        "many times as long it took among them."
    )
    return plain_table("What each job took", heads, rows, (0, 1), note=note)


def _phases_table(result: JobsResult) -> Table:
    heads = ("job", "phase", "data", "time", "alone", "rate", "rate alone", "slow-down")
    rows = [
        [outcome.job.name, *_phase_cells(phase, alone)]
        for outcome in result.jobs
        for phase, alone in outcome.phase_pairs()
    ]
    return plain_table("Their phases", heads, rows, (0, 1))


def _phase_cells(phase: JobPhase, alone: JobPhase | None) -> list[str]:
    return [
        phase.name,
        format_bytes(phase.bytes, 4) if phase.bytes else "",
        format_seconds(phase.seconds, 4),
        "" if alone is None else format_seconds(alone.seconds, 4),
        _rate(phase),
        "" if alone is None else _rate(alone),
        _times(phase.slowdown(alone)),
    ]


def _rate(phase: JobPhase) -> str:
    return "" if phase.bandwidth is None else format_rate(phase.bandwidth, 4)


def _times(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _each(result: JobsResult) -> list[Block]:
    """Return a part for each job that is listed: of those that were drawn there may be hundreds."""
    listed = [outcome for outcome in result.jobs if not outcome.drawn]
    return [Fold(_head(outcome), _job(outcome)) for outcome in listed[:_TOLD]]


def _head(outcome: JobOutcome) -> str:
    job = outcome.job
    return (
        f"Job {job.name}: {format_count(job.nodes, 'node')} ({node_text(outcome.nodes)}) x "
        f"{format_count(job.ppn, 'rank')}, from {outcome.start:.4f} s to {outcome.end:.4f} s"
    )


def _job(outcome: JobOutcome) -> list[Block]:
    result = outcome.result
    files = files_table(result)
    return [
        *binding_parts(result),
        *phase_parts(result),
        waits_table(result),
        *path_tables(result),
        *([] if files is None else [files]),
    ]
