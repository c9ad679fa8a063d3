"""How long ranks compute between their calls: longer than usual, or not at all."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from xc40io.engine.types import Floats, Integers, Table
from xc40io.plane.fault_course import Course, PlacedPrograms, Process, fault
from xc40io.plane.operations import Op
from xc40io.plane.programs import Programs

COMPUTING = "computing"
"""What ranks do between calls, by the name that a scenario gives it where it is slow."""

_NAME = re.compile(rf"{COMPUTING}(?: of rank (?P<rank>[0-9]{{1,9}}))?(?: of job (?P<job>\S+))?")
_COMPUTING = (int(Op.THINK), int(Op.UNTIL), int(Op.COMPUTE))


class Pace:
    """How many times as long as usual programs compute between their calls."""

    def __init__(self, programs: Programs) -> None:
        self._programs = programs
        self._factor: Floats | None = None  # of each program; None: all as usual

    def multiply(self, programs: Integers, factor: float) -> None:
        """Let programs, int64 (n,), compute so many times as long from now on."""
        if self._factor is None:
            self._factor = np.ones(len(self._programs.rows))
        self._factor[programs] *= factor

    def of(self, programs: Integers) -> Floats:
        """Return the factor on the computing time of programs, int64 (n,): float64 (n,)."""
        return np.ones(len(programs)) if self._factor is None else self._factor[programs]

    def apply(self, operations: Table, programs: Integers, each: Integers) -> None:
        """Set how long operations take that are about to begin: so many of each program."""
        if self._factor is None:
            return
        computes = np.isin(operations.kind, _COMPUTING)
        operations.seconds[computes] *= np.repeat(self.of(programs), each)[computes]


@fault(COMPUTING, "slow")
def compute_longer(pace: Pace, course: Course) -> Process:
    """Let ranks compute so many times as long: ``computing of rank 7 of job NAME``, or of all."""
    name, factor = course.fault.part, course.fault.factor
    if course.said.told:
        raise course.refusal(
            f"ranks compute longer for the whole run or not; right would be slow: {{{name}: "
            f"{factor:g}}}"
        )
    found = _NAME.fullmatch(name)
    if found is None:
        raise course.refusal(
            f"right would be {COMPUTING}, {COMPUTING} of rank 7, or {COMPUTING} of rank 7 of job "
            "NAME"
        )
    for job in _jobs(course, found["job"]):
        count = len(job.programs) // job.each
        rank = None if found["rank"] is None else int(found["rank"])
        if rank is not None and rank >= count:
            raise course.refusal(f"the job has {count:,} ranks; right would be 0 to {count - 1:,}")
        chosen = slice(None) if rank is None else slice(rank * job.each, (rank + 1) * job.each)
        pace.multiply(job.programs[chosen], factor)
    yield course.begins()


def _jobs(course: Course, name: str | None) -> Sequence[PlacedPrograms]:
    """Return the jobs of a name; all if there is none."""
    chosen = [job for job in course.jobs if name is None or name == job.name]
    if name is not None and not chosen:
        jobs = ", ".join(job.name for job in course.jobs)
        raise course.refusal(f"there is no job {name}; right would be one of {jobs}")
    return chosen
