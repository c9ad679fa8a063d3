"""Kinds of jobs: the jobs of a table, put together by size and by what they do with files."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from math import exp, log
from statistics import median
from typing import Any, NamedTuple

from xc40io.config.errors import InputError
from xc40io.workloads.job_records.habits import Habits, typical
from xc40io.workloads.job_records.job_record import JobRecord, Layout

MOST_KINDS = 6
"""Kinds that a plan runs unless more are asked for: each costs a run on each machine."""

_MOSTLY = 3.0
"""A job that moves so many times more one way than the other is of that way alone."""

_SMALL_CALL = 256 << 10
"""Bytes: what a client sends of shorter calls hangs on its cache, of longer ones on the servers."""

_SIZES = (1, 4, 16, 64, 256, 1024)
"""Nodes: the least of each class of sizes, each four times the one before."""


class JobKind(NamedTuple):
    """Some jobs that are alike."""

    record: JobRecord  # a job that stands for each of them, in which nothing is missing
    jobs: int
    nodes: tuple[int, int]  # of the smallest and the largest job
    bytes: int  # of all its jobs
    node_seconds: float  # of all its jobs; 0 where no runtime is known
    members: tuple[str, ...] = ()  # their names
    # the job with files shared the other way, where of most of its jobs it is not known who shares
    otherwise: JobRecord | None = None
    are_stripes_known: bool = True  # else those of shared files are a habit


class JobKinds(NamedTuple):
    """The kinds of a table that move most bytes, and what is left out."""

    kinds: tuple[JobKind, ...]  # the one that moves most bytes first
    jobs: int  # of the table
    bytes: int
    node_seconds: float
    silent: int  # jobs of which no bytes are known


def kinds_of(records: Sequence[JobRecord], habits: Habits, most: int = MOST_KINDS) -> JobKinds:
    """Put jobs together that are alike.

    Alike are jobs whose nodes differ by less than four times, which move bytes the same way
    (reading, writing, or both within a factor of three), into files of the same layout, by short
    calls or long ones. The job that stands for a kind has the mean bytes of its jobs, so that
    all together move what the kind moves, and the median of everything else.

    Parameters
    ----------
    records
        The jobs.
    habits
        What is taken for what no record tells: the medians.
    most
        Kinds that are returned.

    Raises
    ------
    InputError
        If of no job it is known how many bytes it moves.
    """
    full = [typical(record, habits) for record in records]
    moving = [(known, job) for known, job in zip(records, full, strict=True) if _moved(job)]
    if not moving:
        raise InputError(
            "of no job the bytes are known; right would be a table with read and written, as "
            "Darshan and sacct's TRESUsageInTot and TRESUsageOutTot have them"
        )
    alike: dict[tuple[str, ...], list[tuple[JobRecord, JobRecord]]] = {}
    for known, job in moving:
        alike.setdefault(_class(job), []).append((known, job))
    groups = sorted(alike.values(), key=lambda group: -sum(_moved(job) for _, job in group))
    chosen = groups[:most]
    names = _names([[job for _, job in group] for group in chosen])
    return JobKinds(
        tuple(_kind(name, group, habits) for name, group in zip(names, chosen, strict=True)),
        len(records),
        sum(map(_moved, full)),
        sum(map(_node_seconds, full)),
        len(records) - len(moving),
    )


def _moved(job: JobRecord) -> int:
    return job.read + job.written


def _node_seconds(job: JobRecord) -> float:
    return (job.nodes or 1) * (job.runtime or 0.0)


def _way(job: JobRecord) -> str:
    """Return what a job does with its files."""
    if job.read > _MOSTLY * job.written:
        return "read"
    return "write" if job.written > _MOSTLY * job.read else "both"


def _class(job: JobRecord) -> tuple[str, ...]:
    """Return what jobs of one kind have in common."""
    way = _way(job)
    size = max(least for least in _SIZES if least <= (job.nodes or 1))
    reads = () if way == "write" else ("read", job.read_layout or "", _length(job.read_call))
    writes = () if way == "read" else ("write", job.write_layout or "", _length(job.write_call))
    return str(size), *reads, *writes


def _length(call: int | None) -> str:
    return "short" if (call or 0) < _SMALL_CALL else "long"


def _kind(name: str, group: Sequence[tuple[JobRecord, JobRecord]], habits: Habits) -> JobKind:
    """Return a kind: its jobs as they are known and as they are complete."""
    known, jobs = [one for one, _ in group], [one for _, one in group]
    nodes = _usual_nodes(jobs)
    per_node = _middle((job.ranks or 1) / (job.nodes or 1) for job in jobs)
    ranks = max(round(nodes * per_node), 1)
    io_ranks = _middle((job.io_ranks or 1) / (job.ranks or 1) for job in jobs) * ranks
    usual: dict[str, Any] = {
        what: round(_middle(getattr(job, what) for job in jobs))
        for what in ("read_call", "write_call", "files", "opens", "stats", "steps")
    }
    record = JobRecord(
        name=name,
        nodes=nodes,
        ranks=ranks,
        io_ranks=min(max(round(io_ranks), 1), ranks),
        read=round(sum(job.read for job in jobs) / len(jobs)),
        written=round(sum(job.written for job in jobs) / len(jobs)),
        read_layout=_commonest(jobs, "read_layout"),
        write_layout=_commonest(jobs, "write_layout"),
        stripe_count=_commonest(known, "stripe_count"),
        stripe_size=_commonest(known, "stripe_size"),
        **usual,
    )
    return JobKind(
        typical(record, habits),
        len(jobs),
        (min(job.nodes or 1 for job in jobs), max(job.nodes or 1 for job in jobs)),
        sum(map(_moved, jobs)),
        sum(map(_node_seconds, jobs)),
        tuple(job.name for job in jobs),
        _otherwise(record, known, habits),
        record.stripe_count is not None,
    )


def _otherwise(record: JobRecord, known: Sequence[JobRecord], habits: Habits) -> JobRecord | None:
    """Return a job with the other layout each way of which most of some jobs tell none."""
    turned: dict[str, Layout] = {}
    for way, moved in (("read_layout", record.read), ("write_layout", record.written)):
        silent = sum(getattr(job, way) is None for job in known)
        if moved and 2 * silent > len(known):
            turned[way] = "rank" if getattr(record, way) == "job" else "job"
    return typical(record.model_copy(update=turned), habits) if turned else None


def _usual_nodes(jobs: Sequence[JobRecord]) -> int:
    """Return the geometric mean of nodes: jobs of a kind differ by factors."""
    return round(exp(sum(log(job.nodes or 1) for job in jobs) / len(jobs)))


def _middle(values: Iterable[float]) -> float:
    return median(list(values))


def _commonest(jobs: Iterable[JobRecord], field: str) -> Any:
    """Return the value that jobs have most often, the first of those; None only if none has one."""
    values = (getattr(job, field) for job in jobs)
    counts = Counter(value for value in values if value is not None)
    return counts.most_common(1)[0][0] if counts else None


def _names(groups: Sequence[Sequence[JobRecord]]) -> list[str]:
    """Return short names, unlike each other: ``climate-128`` or ``write-128``.

    What most jobs of a kind are called is its name, else what they do, and their nodes.
    """
    names: list[str] = []
    for jobs in groups:
        name = f"{_application(jobs) or _way(jobs[0])}-{_usual_nodes(jobs)}"
        same = sum(other == name or other.startswith(f"{name}-") for other in names)
        names.append(f"{name}-{same + 1}" if same else name)
    return names


_SCRIPT = re.compile(r"\.(?:sh|csh|bash|sbatch|slurm|pbs|cobalt|job|py)$", re.IGNORECASE)
_NUMBERS = re.compile(r"(?:[-_.]+\d+)+$")
_SAYS_NOTHING = re.compile(
    r"\d*|batch|bash|csh|interactive|job|run|salloc|sbatch|script|sh|stdin|submit|test|wrap",
    re.IGNORECASE,
)
"""What jobs are called of which nobody has said what they are."""


def _application(jobs: Sequence[JobRecord]) -> str:
    """Return what more than half of some jobs are called, but for its numbers; else nothing."""
    names = Counter(_plain(job.application or "") for job in jobs)
    name, count = names.most_common(1)[0]
    return name if 2 * count > len(jobs) else ""


def _plain(name: str) -> str:
    """Return the name of an application as names of kinds may be; nothing if it says nothing."""
    bare = re.sub(r"[^A-Za-z0-9_.]+", "-", _SCRIPT.sub("", name.strip()))
    bare = _NUMBERS.sub("", bare).strip("-_.")[:_LONGEST]
    return "" if _SAYS_NOTHING.fullmatch(bare) else bare


_LONGEST = 24
"""Letters of an application in the name of a kind."""
