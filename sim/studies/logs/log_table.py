"""Logs as a table of jobs: from their counters, without a run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from xc40io.studies.logs.each_log import BadLog, NamedLog, of_each_log
from xc40io.studies.simulations import Progress
from xc40io.workloads.job_records.darshan_log import JobOfLog, job_of_log
from xc40io.workloads.job_records.job_table import JobTable


class LogTable(NamedTuple):
    """Logs as a table of jobs."""

    jobs: tuple[JobOfLog, ...]
    bad: tuple[BadLog, ...]
    finished: bool  # whether nobody interrupted it

    def table(self) -> JobTable:
        """Return it as any table of jobs; their starts count from the first."""
        first = min((job.began for job in self.jobs if job.began), default=0)
        records = tuple(
            job.record.model_copy(update={"start": float(max(0, job.began - first))})
            for job in self.jobs
        )
        return JobTable(records, unused=(), read_as="Darshan logs", steps=0, never_began=0)


def log_table(logs: Mapping[str, Path], jobs: int, progress: Progress | None = None) -> LogTable:
    """Read logs in several processes; a bad one is told, and no reason to read no other.

    Raises InputError if none of them can be read.
    """
    found = of_each_log(_job, logs, jobs, progress)
    return LogTable(found.ended, found.bad, found.finished)


def _job(log: NamedLog) -> JobOfLog:
    return job_of_log(log.name, log.path)
