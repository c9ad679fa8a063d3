"""Several jobs on one machine, as text: what each took, and what the others cost it."""

from __future__ import annotations

import textwrap

import numpy as np

from sim.config.units import format_bytes, format_rate
from sim.engine.types import Indices
from sim.run.jobs import JobOutcome, JobPhase, JobsResult
from sim.telling.columns import format_columns
from topology.text import format_count

_WORDS_SHOWN = 40
_RANGES_SHOWN = 4

_JOBS = ("job", "nodes", "ranks", "start (s)", "end (s)", "time (s)", "alone (s)", "slow-down")
_PHASES = ("job", "phase", "data", "time (s)", "alone (s)", "rate", "alone", "slow-down")


def format_jobs(result: JobsResult) -> str:
    """Print one row for each job, and one for each phase of each job.

    Times are in simulated seconds since the simulation began or of one job, rates in 10^9 bytes/s.
    *Alone* is the same job on the same nodes and OSTs without the others; the slow-down of a job is
    how many times as long it took among them. Where a phase moved other bytes than alone, as under
    a deadline, its slow-down compares the rates.
    """
    outcomes = result.jobs
    drawn = sum(outcome.drawn for outcome in outcomes)
    nodes = sum(len(outcome.nodes) for outcome in outcomes)
    mix = f" ({drawn} drawn from the mix)" if drawn else ""
    head = (
        f"{format_count(len(outcomes), 'job')}{mix} on {format_count(nodes, 'node')} of "
        f"{result.machine.name} (simulated), seed {result.scenario.seed}\n"
    )
    jobs = [(*_JOBS, "workload"), *(_job_row(outcome) for outcome in outcomes)]
    phases = [row for outcome in outcomes for row in _phase_rows(outcome)]
    tables = (
        format_columns(jobs, left=(0, len(_JOBS))),
        format_columns([_PHASES, *phases], left=(0, 1)),
    )
    return "\n".join([head, *tables])


def format_job_head(outcome: JobOutcome) -> str:
    """Return the line above what one job has to tell: its name, and where it ran."""
    job = outcome.job
    return (
        f"==== Job {job.name}: {format_count(job.nodes, 'node')} ({job.placement.policy}: "
        f"{node_text(outcome.nodes)}) x {format_count(job.ppn, 'rank')}, from "
        f"{outcome.start:.4f} s to {outcome.end:.4f} s ===="
    )


def node_text(nodes: Indices) -> str:
    """Write compute nodes as ranges, ``0-15,32``; the first few."""
    breaks = np.flatnonzero(np.diff(nodes) != 1) + 1
    ranges = [
        str(part[0]) if len(part) == 1 else f"{part[0]}-{part[-1]}"
        for part in np.split(nodes, breaks)
    ]
    more = len(ranges) - _RANGES_SHOWN
    return ",".join(ranges[:_RANGES_SHOWN]) + (f" and {more:,} more" if more > 0 else "")


def _job_row(outcome: JobOutcome) -> tuple[str, ...]:
    job = outcome.job
    return (
        job.name,
        f"{job.nodes:,}",
        f"{job.nodes * job.ppn:,}",
        f"{outcome.start:.4f}",
        f"{outcome.end:.4f}",
        f"{outcome.result.simulated:.4f}",
        "-" if outcome.alone is None else f"{outcome.alone.seconds:.4f}",
        _ratio(outcome.slowdown),
        textwrap.shorten(outcome.result.workload.title, _WORDS_SHOWN, placeholder=" ..."),
    )


def _phase_rows(outcome: JobOutcome) -> list[tuple[str, ...]]:
    return [
        (
            outcome.job.name,
            phase.name,
            format_bytes(phase.bytes, 3) if phase.bytes else "",
            f"{phase.seconds:.4f}",
            "-" if alone is None else f"{alone.seconds:.4f}",
            _rate(phase),
            "" if alone is None else _rate(alone),
            _ratio(phase.slowdown(alone)),
        )
        for phase, alone in outcome.phase_pairs()
    ]


def _rate(phase: JobPhase) -> str:
    return "" if phase.bandwidth is None else format_rate(phase.bandwidth, 4)


def _ratio(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
