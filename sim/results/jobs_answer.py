"""What several jobs on one machine tell: what each took, and what the others cost it."""

from __future__ import annotations

import textwrap
from dataclasses import replace
from functools import partial
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from xc40io.engine.types import Indices
from xc40io.findings.lustre_counts import lustre_table
from xc40io.results.machine_text import machine_parts
from xc40io.results.pictures.album import album_of_jobs
from xc40io.results.programs.forms import output_of
from xc40io.results.run_page import binding_parts, jobs_scenario_parts, phase_parts
from xc40io.results.run_told import (
    files_table,
    findings_in_brief,
    path_tables,
    rpcs_card,
    stations_table,
    waits_table,
)
from xc40io.results.run_values import simulator_document
from xc40io.run.jobs import JobOutcome, JobPhase, JobsResult
from xc40io.run.result import Result
from xc40io.telling.answer import (
    Answer,
    Block,
    Card,
    Column,
    Columns,
    Fold,
    Listing,
    Section,
    Table,
    To,
    Unit,
    Values,
    changed,
)
from xc40io.telling.units import (
    ANY,
    BYTES,
    CELL,
    CLOCK,
    FACTOR,
    FLAG,
    NUMBER,
    RATE,
    RECORD,
    ROWS,
    TIME,
    WORDS,
)
from xc40io.topology.text import format_count
from xc40io.trust.how_sure import NINE_OF_TEN, Interval
from xc40io.trust.sureness import Sureness, rate, simulated, span

_WORDS_SHOWN = 40
_RANGES_SHOWN = 4
_TOLD = 40
"""Jobs that are told of by themselves at most; the tables have all."""

_ALONE = "Of the same job on the same nodes and OSTs without the others."
_SLOWER = "How many times as long it took as alone; per byte if it then moved other bytes."
_OF_THE_MACHINE = ("version", "busiest", "stations", "lustre", "counts", "wall_seconds")


class PhasePair(NamedTuple):
    """A phase of a job, beside the same phase of the job by itself."""

    job: str
    phase: JobPhase
    alone: JobPhase | None  # None if the job did not run alone
    sureness: Sureness | None = None  # of the job's rates, unless they are to be exact

    @property
    def by_itself(self) -> PhasePair | None:
        """The phase of the job by itself."""
        return None if self.alone is None else PhasePair(self.job, self.alone, None)

    @property
    def alone_seconds(self) -> float | None:
        """How long it took without the other jobs."""
        return None if self.alone is None else self.alone.seconds

    @property
    def alone_bandwidth(self) -> float | None:
        """Bytes/s without the other jobs."""
        return None if self.alone is None else self.alone.bandwidth

    @property
    def slowdown(self) -> float | None:
        """How many times as long it took as alone."""
        return self.phase.slowdown(self.alone)

    @property
    def real(self) -> Interval | None:
        """Where nine of ten real rates lie."""
        if self.sureness is None:
            return None
        return self.sureness.interval(self.phase.name, self.phase.bandwidth)

    def told(self, bandwidth: float | None) -> str | None:
        """Return its rate, or that of the job by itself, as people read it."""
        return simulated(bandwidth, self.real, rate) if bandwidth else None


def beside(outcome: JobOutcome, *, exact: bool = True) -> list[PhasePair]:
    """Return the phases of a job, each beside the same phase of the job by itself.

    ``exact``: without how sure their rates are.
    """
    sureness = None if exact else Sureness(outcome.result.scenario, outcome.result.traits)
    return [PhasePair(outcome.job.name, *pair, sureness) for pair in outcome.phase_pairs()]


def _alone_seconds(outcome: JobOutcome) -> float | None:
    return None if outcome.alone is None else outcome.alone.seconds


def _result(outcome: JobOutcome, *, exact: bool = False) -> dict[str, Any]:
    document = output_of(outcome.result).document(exact=exact)
    ours = document["xc40io"]
    return document | {"xc40io": {name: ours[name] for name in ours if name not in _OF_THE_MACHINE}}


def _simulator(result: JobsResult) -> dict[str, Any]:
    """Return a document of what no real program tells of all jobs together, and the scenario."""
    machine = simulator_document(result.whole)
    ours = {name: machine[name] for name in _OF_THE_MACHINE}
    ours["counts"]["simulated_seconds"] = result.simulated
    ours["wall_seconds"] = result.wall
    return ours | {"scenario": result.scenario.model_dump(mode="json", exclude_none=True)}


_SPAN = Unit("bytes/s", object, lambda real: span(real, rate))

PHASE = (
    Column("name", WORDS, attrgetter("phase.name"), head="phase", help="What was done."),
    Column("bytes", BYTES, attrgetter("phase.bytes"), head="data", blank=0, help="Of all ranks."),
    Column("seconds", CLOCK, attrgetter("phase.seconds"), head="time", help="How long it took."),
    Column("alone_seconds", CLOCK, head="alone", to=To.PEOPLE, empty="-", help=_ALONE),
    Column("real", _SPAN, head=NINE_OF_TEN, to=To.PEOPLE, optional=True, help="Of their rates."),
    Column("bandwidth", RATE, attrgetter("phase.bandwidth"), to=To.DATA, help="While it took."),
    Column(
        "rate", CELL, lambda of: of.told(of.phase.bandwidth), to=To.PEOPLE, help="While it took."
    ),
    Column(
        "alone_bandwidth",
        CELL,
        lambda of: of.told(of.alone_bandwidth),
        head="alone",
        to=To.PEOPLE,
        help=_ALONE,
    ),
)

PHASES_BESIDE: Columns = (
    Column("job", WORDS, to=To.PEOPLE, help="Its name."),
    *PHASE,
    Column("alone", RECORD, attrgetter("by_itself"), to=To.JSON, inner=PHASE, help=_ALONE),
    Column("slowdown", FACTOR, head="slow-down", empty="-", help=_SLOWER),
)

JOBS: Columns = (
    Column("name", WORDS, attrgetter("job.name"), head="job", help="Of the job."),
    Column("drawn", FLAG, to=To.JSON, help="Whether it was drawn from the mix."),
    Column("nodes", ANY, to=To.JSON, help="The compute nodes that it had."),
    Column("count", NUMBER, attrgetter("job.nodes"), head="nodes", to=To.PEOPLE, help="In all."),
    Column("ppn", NUMBER, attrgetter("job.ppn"), to=To.JSON, help="Ranks of a node."),
    Column("ranks", NUMBER, lambda of: of.job.nodes * of.job.ppn, to=To.PEOPLE, help="In all."),
    Column("seed", NUMBER, attrgetter("result.scenario.seed"), to=To.JSON, help="Of the job."),
    Column("start", CLOCK, help="When it began, from the start of the simulation."),
    Column("end", CLOCK, help="When it ended."),
    Column("seconds", CLOCK, attrgetter("result.simulated"), head="time", help="How long it took."),
    Column("alone_seconds", CLOCK, _alone_seconds, head="alone", empty="-", help=_ALONE),
    Column("slowdown", FACTOR, head="slow-down", empty="-", help=_SLOWER),
    Column("workload", WORDS, attrgetter("result.workload.title"), to=To.PEOPLE, help="As typed."),
    Column("phases", ROWS, beside, to=To.JSON, inner=PHASES_BESIDE, help="All steps together."),
    Column("result", ANY, _result, to=To.JSON, help="As a run of this job alone prints it."),
)

RUN_OF_JOBS: Columns = (
    Column("jobs", ROWS, inner=JOBS, help="As listed and drawn."),
    Column("xc40io", ANY, _simulator, help="What only a simulator knows of all jobs together."),
)

_FEW_WORDS = Unit(
    "", str, lambda words: textwrap.shorten(words, _WORDS_SHOWN, placeholder=" ..."), left=True
)


def jobs_answer(result: JobsResult, *, exact: bool = False) -> Answer:
    """Return one row for each job, and one for each phase of each job.

    Times are in simulated seconds since the simulation began or of one job. *Alone* is the same job
    on the same nodes and OSTs without the others; the slow-down of a job is how many times as long
    it took among them. Where a phase moved other bytes than alone, as under a deadline, its
    slow-down compares the rates. ``exact``: without how sure the rates of the jobs are.
    """
    jobs, phases = _tables(result, exact=exact)
    told = changed(JOBS, "result", of=partial(_result, exact=exact))
    count = format_count(len(result.jobs), "job")
    drawn = sum(outcome.drawn for outcome in result.jobs)
    nodes = format_count(sum(len(outcome.nodes) for outcome in result.jobs), "node")
    mix = f" ({drawn} drawn from the mix)" if drawn else ""
    where = f"{result.machine.name} (simulated), seed {result.scenario.seed}"
    return Answer(
        title=result.scenario.title or f"{count} on {result.machine.name}",
        setup=f"Simulated on {result.machine.name}: {count}, seed {result.scenario.seed}",
        description=" ".join(result.scenario.description.split()),
        blocks=[
            Listing("", f"{count}{mix} on {nodes} of {where}"),
            replace(jobs, columns=changed(JOBS, "workload", unit=_FEW_WORDS)),
            phases,
        ],
        values=Values("jobs", changed(RUN_OF_JOBS, "jobs", inner=told), result),
        version=result.whole.version,
    )


def jobs_page(result: JobsResult, *, exact: bool = False) -> Answer:
    """Return the page of several jobs: what each took, what the machine did, each by itself.

    ``exact``: as of :func:`jobs_answer`.
    """
    scenario, whole = result.scenario, result.whole
    alone = any(outcome.alone is not None for outcome in result.jobs)
    machine: list[Block] = [lustre_table(whole.stats)]
    busiest = stations_table(whole)
    if busiest is not None:
        machine.insert(0, busiest)
    jobs, phases = _tables(result, exact=exact)
    note = (
        "Alone: the same job on the same nodes and OSTs without the others. The slow-down is how "
        "many times as long it took among them."
    )
    sections = [
        Section(
            "jobs",
            "Jobs",
            [
                replace(jobs, title="What each job took", note=note),
                replace(phases, title="Their phases"),
            ],
        ),
        Section("pictures", "Pictures", album_of_jobs(result).blocks),
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
    ]
    return replace(jobs_answer(result, exact=exact), cards=_cards(result), blocks=sections)


def _tables(result: JobsResult, *, exact: bool) -> tuple[Table, Table]:
    """Return the jobs, and their phases, as people read them."""
    rows = [row for outcome in result.jobs for row in beside(outcome, exact=exact)]
    return (
        Table(JOBS, lambda: result.jobs, most=len(result.jobs)),
        Table(PHASES_BESIDE, lambda: rows, most=len(rows)),
    )


def job_head(outcome: JobOutcome) -> str:
    """Return the line above what one job has to tell: its name, and where it ran."""
    job = outcome.job
    return (
        f"Job {job.name}: {format_count(job.nodes, 'node')} ({job.placement.policy}: "
        f"{node_text(outcome.nodes)}) x {format_count(job.ppn, 'rank')}, from "
        f"{CLOCK.write(outcome.start)} s to {CLOCK.write(outcome.end)} s"
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


def _cards(result: JobsResult) -> list[Card]:
    whole = result.whole
    cards = [
        Card("jobs", NUMBER.write(len(result.jobs))),
        Card("time of all", TIME.write(result.simulated), "simulated, to the last job's end"),
        rpcs_card(whole),
    ]
    slowed = [
        (outcome.slowdown, outcome.job.name)
        for outcome in result.jobs
        if outcome.slowdown is not None
    ]
    if len(slowed) > 1:
        most, name = max(slowed)
        cards.append(Card("largest slow-down", f"{FACTOR.write(most)} times", f"job {name}"))
    return cards


def _each(result: JobsResult) -> list[Block]:
    """Return a part for each listed job; drawn jobs have none, for there may be hundreds."""
    listed = [outcome for outcome in result.jobs if not outcome.drawn]
    return [Fold(job_head(outcome), _job(outcome.result)) for outcome in listed[:_TOLD]]


def _job(result: Result) -> list[Block]:
    files = files_table(result)
    return [
        *findings_in_brief(result),
        *binding_parts(result),
        *phase_parts(result),
        waits_table(result),
        *path_tables(result),
        *([] if files is None else [files]),
    ]
