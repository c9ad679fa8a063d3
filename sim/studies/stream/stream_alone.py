"""What the others cost each job of a stream: the same jobs again, one after the other.

The jobs of a part run on one machine, each when the nodes of the one before are clean: on the same
nodes and OSTs and with the same seeds, so that only the other jobs are missing. The parts are the
same whatever the number of processes, and so is what comes of them.
"""

from __future__ import annotations

import dataclasses
from functools import partial

from sim.config.errors import FailureError
from sim.run.streaming.outcome import StreamOutcome, StreamResult
from sim.run.streaming.stream import Stream
from sim.run.submission import Allocation
from sim.studies.processes import Failure, each

_JOBS_OF_A_PART = 64


def with_alone(stream: Stream, result: StreamResult, processes: int) -> StreamResult:
    """Return the result of a stream with what its jobs came to by themselves.

    Parameters
    ----------
    stream
        What was run.
    result
        What came of it.
    processes
        How many are at work.

    Raises
    ------
    FailureError
        If one of the runs did not end well.
    """
    parts = {
        f"jobs {first} to {first + len(part) - 1}": part
        for first in range(0, len(result.jobs), _JOBS_OF_A_PART)
        if (part := [(job.name, job.allocation) for job in result.jobs[first:][:_JOBS_OF_A_PART]])
    }
    found: dict[str, StreamOutcome] = {}
    for name, ended in each(partial(_run_part, stream), parts, processes, size=len):
        if isinstance(ended, Failure):
            raise FailureError(f"the {name} by themselves: {ended.reason}")
        found |= {job.name: job for job in ended}
    jobs = tuple(
        dataclasses.replace(job, alone=found[job.name].seconds, alone_in_io=found[job.name].in_io)
        for job in result.jobs
    )
    return dataclasses.replace(result, jobs=jobs)


def _run_part(stream: Stream, part: list[tuple[str, Allocation]]) -> list[StreamOutcome]:
    """Run some jobs one after the other."""
    return stream.run_in_turn(dict(part))
