"""What ran on a machine together, one job or several, and which job did what."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sim.engine.types import Integers
from sim.plane.recorder import Records
from sim.results.server_series import recording_of
from sim.run.jobs import JobsResult
from sim.run.recording import Recording
from sim.run.result import Result

NOBODY = -1
"""In place of a job: a file or a program that is of none."""


@dataclass(frozen=True, eq=False, kw_only=True)
class MachineView:
    """A machine and the jobs on it.

    Attributes
    ----------
    result, recording
        Of any of the jobs: what the machine did, and all records.
    jobs
        The results of all jobs.
    names
        What they are called; of one job alone, nothing.
    job_of_file, job_of_program
        int64: the position of the job in ``jobs``, by the numbers of files and of programs.
    rank, thread, node
        int64 (programs,): the rank in its job, its I/O thread (0: the rank itself), and the compute
        node of the machine.
    file_names
        By the number of a file.
    """

    result: Result
    recording: Recording
    jobs: tuple[Result, ...]
    names: tuple[str, ...]
    job_of_file: Integers
    job_of_program: Integers
    rank: Integers
    thread: Integers
    node: Integers
    file_names: tuple[str, ...]

    def of_jobs(self, records: Records) -> Records:
        """Return those of some calls or spans that ranks of a job have."""
        own: Records = records[self.job_of_program[records["program"]] >= 0]
        return own


def view_of(content: Result | JobsResult, option: str) -> MachineView:
    """Return the view of a machine from what a command leaves.

    Raises
    ------
    InputError
        If nothing was recorded; `option` says what needs it.
    """
    if isinstance(content, JobsResult):
        names = tuple(outcome.job.name for outcome in content.jobs)
        jobs = tuple(outcome.result for outcome in content.jobs)
    else:
        names, jobs = ("",), (content,)
    recordings = [recording_of(job, option) for job in jobs]
    first = recordings[0]
    programs = len(first.ranks)
    columns = {
        name: np.full(programs, NOBODY, np.int64) for name in ("job", "rank", "thread", "node")
    }
    files = [""] * len(first.file_names)
    job_of_file = np.full(len(files), NOBODY, np.int64)
    for number, (job, recording) in enumerate(zip(jobs, recordings, strict=True)):
        own = np.flatnonzero(recording.ranks >= 0)
        rank = recording.ranks[own]
        columns["job"][own] = number
        columns["rank"][own] = rank
        columns["thread"][own] = recording.threads[own]
        columns["node"][own] = job.allocation.nodes[rank // job.scenario.ppn]
        for file, name in enumerate(recording.file_names):
            if name:
                files[file] = f"{names[number]}: {name}" if names[number] else name
                job_of_file[file] = number
    return MachineView(
        result=jobs[0],
        recording=first,
        jobs=jobs,
        names=names,
        job_of_file=job_of_file,
        job_of_program=columns["job"],
        rank=columns["rank"],
        thread=columns["thread"],
        node=columns["node"],
        file_names=tuple(files),
    )
