"""What is kept of a simulated run: plain numbers, from which all metrics are computed.

A record is small and can be written to a file, so that a claim with a new metric needs no new run.
"""

from __future__ import annotations

import json
from dataclasses import asdict, astuple, dataclass, field, replace
from typing import TYPE_CHECKING

from pydantic import TypeAdapter

from xc40io.findings.lustre_counts import lustre_counts
from xc40io.mpi.stats import MpiRecord, Timer
from xc40io.workloads.traits import COPIES, access_of

if TYPE_CHECKING:
    from xc40io.run.jobs import JobsResult
    from xc40io.run.result import Result
    from xc40io.workloads.job_results import Row


@dataclass(frozen=True)
class Phase:
    """One phase of a run: a row of IOR's table, or of a kernel's."""

    name: str  # ``write``, ``read``; what a kernel calls it: ``H5Dwrite``
    step: str  # IOR's repetition, from ``0``; what a kernel calls the step
    seconds: float  # from the first rank's begin to the last one's end
    bytes: int  # what all ranks moved together
    bandwidth: float  # bytes/s, as IOR reports them, or over ``seconds``; 0 where nothing was moved
    operations: float  # of IOR: calls/s of the transfers
    # other numbers of the row by their names: of IOR the seconds of ``open``, ``io`` and ``close``;
    # of a kernel what it tells, in seconds, bytes or bytes/s
    parts: dict[str, float]


@dataclass(frozen=True)
class Library:
    """What MPI-IO had to tell of a file that was open to be written, or to be read."""

    access: str  # ``write`` or ``read``
    step: str  # as in :class:`Phase`
    # bytes/s of the aggregators' own calls to the file system, as Cray's library prints it: the
    # bytes of all over the mean time of those that made such calls; 0 without any
    raw_rate: float
    # bytes/s, as Darshan tells them (``agg_perf_by_slowest``): the bytes over the time of the rank
    # that spent most of it in its own calls to the file system. What ranks wait for each other, and
    # send each other, is not in it; 0 without such calls
    slowest_rate: float
    aggregators: int  # ranks that wrote or read for others in collective calls
    # seconds that a rank spent on average in each part of its I/O, by the names of
    # :class:`~xc40io.mpi.stats.Timer` in lower case; those that are not 0
    timers: dict[str, float]
    # collective, independent: calls of all ranks that moved the bytes together, and those that each
    # made by itself
    collective: int = 0
    independent: int = 0


@dataclass(frozen=True)
class Waited:
    """What the ranks waited for in a phase: as :class:`~xc40io.findings.waits.Wait`."""

    # cause, words: in lower case, and for a person
    cause: str
    words: str
    seconds: float  # of a rank, on average
    share: float  # of the time of the phase, 0 to 1


@dataclass(frozen=True)
class Bound:
    """What bound a phase: a sentence that begins with its name, and the same as numbers."""

    phase: str  # of which all repetitions are looked at together
    sentence: str  # for a person
    # station, busy: the station that bound it, or the busiest, and the share of the time in which
    # it was busy
    station: str
    busy: float
    # wait, share: what the ranks waited for longest, and the share of the time
    wait: str
    share: float
    binds: bool = False  # whether the station, or its peers in turn, bound it
    kind: str = ""  # what such stations are called, in the plural: ``OSTs``
    # for each kind of station the share of the time in which the busiest one of them was busy
    kinds: dict[str, float] = field(default_factory=dict)
    # how long the phase took, all its repetitions together: from the first open to the last close
    seconds: float = 0.0
    waits: tuple[Waited, ...] = ()  # what the ranks waited for, longest first


@dataclass(frozen=True)
class RunRecord:
    """What is kept of a run."""

    phases: tuple[Phase, ...]  # the rows of its table, in order
    library: tuple[Library, ...]  # what MPI-IO had to tell, in order
    bounds: tuple[Bound, ...]  # what bound its phases
    stats: dict[str, int]  # what the locks and page caches did, counted, by name; sizes in bytes
    waits: dict[str, float]  # seconds that a rank waited on average, by cause, in lower case
    notes: tuple[str, ...]  # what the user should know: a sentence each
    simulated: float  # seconds of the whole run
    osts: int = 0  # OSTs that hold any file
    # what went wrong, a sentence each: bytes that found no room, or that were lost
    troubles: tuple[str, ...] = ()

    @property
    def written(self) -> int:
        """Bytes that it wrote: without rows that add up others, checks of data, and copies."""
        return sum(
            row.bytes
            for row in self.phases
            if row.step != "all"
            and (name := row.name.rpartition(", ")[2]) not in ("all", "write check", *COPIES)
            and access_of(name) == "write"
        )

    def to_json(self) -> str:
        """Write it as JSON on one line; :func:`read_record` reads the same numbers back."""
        return json.dumps(asdict(self), separators=(",", ":"))


_ADAPTER = TypeAdapter(RunRecord)


def read_record(text: bytes | str) -> RunRecord:
    """Read what :meth:`RunRecord.to_json` wrote; pydantic's ValidationError if it is not that."""
    return _ADAPTER.validate_json(text)


def record_of(result: Result) -> RunRecord:
    """Return the record of a finished run, as the store keeps it."""
    return RunRecord(
        phases=tuple(_phase(row) for row in result.rows),
        library=tuple(_library(told, step) for step, told in result.mpi_records),
        bounds=_bounds(result),
        stats=lustre_counts(result.stats),
        waits={cause.name.lower(): seconds for cause, seconds in result.waiting().items()},
        notes=result.notes,
        simulated=result.simulated,
        osts=len(result.allocation.all_osts),
        troubles=tuple(trouble.text for trouble in result.troubles),
    )


def record_of_jobs(result: JobsResult) -> RunRecord:
    """Return one record of jobs that ran together: its phases begin with their jobs' names."""
    records = [(outcome.job.name, record_of(outcome.result)) for outcome in result.jobs]
    ranks = [len(outcome.result.waits) for outcome in result.jobs]
    causes = dict.fromkeys(cause for _, record in records for cause in record.waits)
    return RunRecord(
        phases=tuple(
            replace(phase, name=_named(job, phase.name))
            for job, record in records
            for phase in record.phases
        ),
        library=tuple(told for _, record in records for told in record.library),
        bounds=tuple(
            replace(bound, phase=_named(job, bound.phase))
            for job, record in records
            for bound in record.bounds
        ),
        stats=records[0][1].stats,  # of the whole machine, the same in all of them
        waits={
            cause: sum(
                count * record.waits.get(cause, 0.0)
                for count, (_, record) in zip(ranks, records, strict=True)
            )
            / sum(ranks)
            for cause in causes
        },
        notes=tuple(f"job {job}: {note}" for job, record in records for note in record.notes),
        simulated=result.simulated,
        osts=len({ost for outcome in result.jobs for ost in outcome.result.allocation.all_osts}),
        troubles=tuple(
            f"job {job}: {trouble}" for job, record in records for trouble in record.troubles
        ),
    )


def of_job(record: RunRecord, job: str) -> RunRecord:
    """Return a record of jobs that ran together with the phases of one of them alone."""
    begin = _named(job, "")
    phases, bounds = (
        [each for each in record.phases if each.name.startswith(begin)],
        [each for each in record.bounds if each.phase.startswith(begin)],
    )
    return replace(
        record,
        phases=tuple(replace(one, name=one.name.removeprefix(begin)) for one in phases),
        bounds=tuple(replace(one, phase=one.phase.removeprefix(begin)) for one in bounds),
    )


def _named(job: str, phase: str) -> str:
    return f"job {job}, {phase}"


def _bounds(result: Result) -> tuple[Bound, ...]:
    """Return which station was busiest in each kind of phase, and what its ranks waited for."""
    from xc40io.findings.bottlenecks import loads, plurals_of

    plurals = plurals_of(result.machine)
    return tuple(
        Bound(
            phase=load.access,
            sentence=load.sentence(),
            station=load.name,
            busy=load.busy,
            wait=load.waits[0].words if load.waits else "",
            share=load.waits[0].share if load.waits else 0.0,
            binds=load.binds,
            kind=load.plural,
            kinds={plurals[kind]: busy for kind, busy in load.kinds.items()},
            seconds=load.seconds,
            waits=tuple(Waited(*astuple(wait)) for wait in load.waits),
        )
        for load in loads(result)
    )


def _phase(row: Row) -> Phase:
    """Return a row of the table of a run."""
    return Phase(
        name=row.phase,
        step=row.step,
        seconds=row.seconds,
        bytes=row.bytes,
        bandwidth=row.bandwidth or 0.0,
        operations=row.operations,
        parts={name: figure.value for name, figure in row.figures.items()},
    )


def _library(told: MpiRecord, step: str) -> Library:
    """Return what MPI-IO counted and timed for a file: calls, bytes, seconds of a rank, bytes/s."""
    own_calls = [Timer.MODIFY_READ, Timer.INDEPENDENT, Timer.SYNC]
    counted = told.counts.writes if told.writing else told.counts.reads
    raw = told.timers[:, Timer.RAW_WRITE if told.writing else Timer.RAW_READ]
    own = raw + told.timers[:, own_calls].sum(axis=1)
    means = told.timers.mean(axis=0)
    return Library(
        access="write" if told.writing else "read",
        step=step,
        raw_rate=counted.system_bytes / float(raw[raw > 0].mean()) if raw.any() else 0.0,
        slowest_rate=counted.bytes / float(own.max()) if own.any() else 0.0,
        aggregators=len(told.aggregators),
        timers={
            timer.name.lower(): float(means[timer])
            for timer in Timer
            if timer is not Timer.NONE and means[timer] > 0.0
        },
        collective=int(counted.collective),
        independent=int(counted.independent),
    )
