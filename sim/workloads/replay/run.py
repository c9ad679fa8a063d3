"""A replay from its beginning to its end."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import numpy as np
import simpy

from xc40io.engine.types import Floats
from xc40io.mpi.stats import MpiRecord
from xc40io.plane.operations import TIMERS
from xc40io.workloads.job import Job
from xc40io.workloads.job_results import Figure, Row, stretch_of
from xc40io.workloads.replay.feeder import Feeder
from xc40io.workloads.replay.intake import INDEPENDENT, Intake, Timing
from xc40io.workloads.replay.outcome import MPI_CALLS, Call, ReplayOutcome, counted
from xc40io.workloads.replay.windows import OpenFile, ReplayFiles
from xc40io.workloads.trace import TraceOp

_RECORDS = 32
"""Files of which MPI-IO's own report is kept, those that move most."""


def replay(job: Job, intake: Intake, timing: Timing) -> Generator[simpy.Event, Any, ReplayOutcome]:
    """Replay a trace on the ranks of a job; add rows, and what MPI-IO has to tell."""
    files = ReplayFiles(job, intake)
    feeder = Feeder(job, intake, files, timing)
    started = float(job.filesystem.environment.now)
    programs = job.programs[: intake.trace.ranks]
    before = job.filesystem.plane.waited(programs)
    yield from feeder.run()
    waited = job.filesystem.plane.waited(programs).since(before)
    ended = np.maximum(feeder.end, started)
    job.add_stretch("replay", stretch_of(started, ended, waited))
    intake.close()
    _count_independent(intake, files)
    outcome = ReplayOutcome(
        files=intake.trace.files,
        totals=intake.totals,
        spent=feeder.times.spent(),
        mpi={position: opened.file.counts for position, opened in files.together.items()},
        start=started,
        end=feeder.end,
    )
    _record(job, outcome)
    _tell_of_mpi(job, files, outcome)
    return outcome


def _count_independent(intake: Intake, files: ReplayFiles) -> None:
    """Count the independent calls to files that are accessed collectively too."""
    totals = intake.totals
    for position, opened in files.together.items():
        counts = opened.file.counts
        for op, direction in ((TraceOp.READ, counts.reads), (TraceOp.WRITE, counts.writes)):
            calls = int(totals.calls[position, op, INDEPENDENT])
            moved = int(totals.bytes[position, op, INDEPENDENT])
            direction.independent += calls
            direction.system += calls
            direction.bytes += moved
            direction.system_bytes += moved


def _record(job: Job, outcome: ReplayOutcome) -> None:
    """Add the rows: all that the ranks did, then the part of each kind of call."""
    took = outcome.end - outcome.start
    job.rows.append(
        Row(
            step="job",
            phase="all",
            start=outcome.start,
            end=outcome.start + outcome.seconds,
            longest=float(took.max(initial=0.0)),
            bytes=int(outcome.totals.by_rank.sum()),
            figures={"all ranks": Figure(float(took.sum()), "seconds")},
        )
    )
    for call in Call:
        spent = outcome.seconds_in(call)
        total, slowest = float(spent.sum()), float(spent.max(initial=0.0))
        calls, moved = counted(outcome, call)
        if not (total or calls):
            continue
        figures = {"all ranks": Figure(total, "seconds"), "calls": Figure(calls, "")}
        job.rows.append(
            Row(
                step="job",
                phase=call.name.lower().replace("_", " "),
                start=outcome.start,
                end=outcome.start + slowest,
                longest=slowest,
                bytes=moved,
                figures=figures,
            )
        )


def _tell_of_mpi(job: Job, files: ReplayFiles, outcome: ReplayOutcome) -> None:
    """Add what MPI-IO has to tell of the files that were accessed together, the largest ones."""
    moved = outcome.totals.bytes.sum(axis=(1, 2))
    positions = sorted(files.together, key=lambda position: -int(moved[position]))
    for position in positions[:_RECORDS]:
        opened = files.together[position]
        writing = bool(outcome.totals.bytes[position, TraceOp.WRITE].any())
        record = MpiRecord(
            file_name=outcome.files[position].name,
            files=1,
            writing=writing,
            given={},
            in_force=opened.in_force,
            communicator=opened.file.communicator,
            aggregators=opened.file.aggregators if writing else opened.file.read_aggregators,
            counts=opened.file.counts,
            timers=_timers(outcome, position, opened),
        )
        job.mpi_records.append(("job", record))
    if len(positions) > _RECORDS:
        job.notes.append(
            f"MPI-IO tells of the {_RECORDS} files that move most; "
            f"{len(positions) - _RECORDS:,} others were accessed collectively too."
        )


def _timers(outcome: ReplayOutcome, position: int, opened: OpenFile) -> Floats:
    """Return what the ranks of a file spent in each part of their calls: (members, timers)."""
    spent = outcome.spent
    which = (spent.file == position) & np.isin(spent.call, MPI_CALLS)
    key = spent.rank[which] * TIMERS + spent.part[which]
    ranks = len(outcome.end)
    sums = np.bincount(key, weights=spent.seconds[which], minlength=ranks * TIMERS)
    timers = sums.astype(np.float64).reshape(ranks, TIMERS)
    return timers if opened.ranks is None else timers[opened.ranks]
