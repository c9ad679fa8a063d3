"""What ran on a machine together, one job or several, and which job did what; records by a key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from xc40io.engine.types import Integers
from xc40io.findings.servers import named, recording_of
from xc40io.plane.recorder import Records
from xc40io.run.jobs import JobsResult
from xc40io.run.recording import Recording
from xc40io.run.result import Result

NOBODY = -1
"""In place of a job: a file or a program that is of none."""


@dataclass(frozen=True, eq=False, kw_only=True)
class MachineView:
    """A machine and the jobs on it."""

    result: Result  # of any of the jobs: what the machine did
    recording: Recording  # all records
    jobs: tuple[Result, ...]  # the results of all jobs
    names: tuple[str, ...]  # what they are called; of one job alone, nothing
    job_of_file: Integers  # int64: the position of the job in ``jobs``, by the number of the file
    job_of_program: Integers  # int64: likewise, by that of the program
    rank: Integers  # int64 (programs,): in its job
    thread: Integers  # int64 (programs,): its I/O thread; 0: the rank itself
    node: Integers  # int64 (programs,): the compute node of the machine
    file_names: tuple[str, ...]  # by the number of a file

    def of_jobs(self, records: Records) -> Records:
        """Return the calls or spans that belong to ranks of a job."""
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
    for number, (job, recording) in enumerate(zip(jobs, recordings, strict=True)):
        own = np.flatnonzero(recording.ranks >= 0)
        rank = recording.ranks[own]
        columns["job"][own] = number
        columns["rank"][own] = rank
        columns["thread"][own] = recording.threads[own]
        columns["node"][own] = job.allocation.nodes[rank // job.scenario.ppn]
    job_of_file = _job_of_files(recordings, columns["job"])
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
        file_names=tuple(
            _file_name(number, job, names, recordings)
            for number, job in enumerate(job_of_file.tolist())
        ),
    )


def _job_of_files(recordings: Sequence[Recording], job_of_program: Integers) -> Integers:
    """Return the job of each file: of one without a name, that whose ranks call on it."""
    files = len(recordings[0].file_names)
    if len(recordings) == 1:
        return np.zeros(files, np.int64)
    calls = recordings[0].calls
    calls = calls[calls["file"] >= 0]
    found = np.full(files, NOBODY, np.int64)
    np.maximum.at(found, calls["file"], job_of_program[calls["program"]])
    for job, recording in enumerate(recordings):
        found[np.array([bool(name) for name in recording.file_names], bool)] = job
    return found


def _file_name(number: int, job: int, names: Sequence[str], recordings: Sequence[Recording]) -> str:
    """Return the name of a file, behind that of its job where there are several."""
    name = named(recordings[max(job, 0)], number)
    return f"{names[job]}: {name}" if job >= 0 and names[job] else name


def parts_by(records: Records, key: Integers) -> Mapping[int, Records]:
    """Return records by a key of each, every part in the order in which it was, keys ascending."""
    order = np.argsort(key, kind="stable")
    keys, first = np.unique(key[order], return_index=True)
    parts = np.split(records[order], first[1:]) if len(keys) else []
    return dict(zip(keys.tolist(), parts, strict=True))
