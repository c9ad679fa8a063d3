"""How long ranks compute between their calls: longer than usual, or not at all."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from sim.config.errors import InputError
from sim.machine.plane import Plane
from sim.run.placement import PlacedJob

COMPUTING = "computing"
"""What ranks do between calls, by the name that a scenario gives it where it is slow."""

_NAME = re.compile(rf"{COMPUTING}(?: of rank (?P<rank>[0-9]{{1,9}}))?(?: of job (?P<job>\S+))?")


def is_computing(name: str) -> bool:
    """Tell whether a name of a part that is slow is that of computing, and no station's."""
    return name.split(" ")[0] == COMPUTING


def job_of(name: str) -> str | None:
    """Return the job whose computing a name is about; None if it is of all jobs, or no such name.

    Raises
    ------
    InputError
        If it is no name of computing that there can be.
    """
    return _who(name)[1] if is_computing(name) else None


def set_pace(plane: Plane, placed: Sequence[PlacedJob], slow: Mapping[str, float]) -> None:
    """Have ranks compute for longer from now on, or for less long.

    Parameters
    ----------
    plane
        At rest.
    placed
        The jobs on their nodes.
    slow
        How many times as long, by who computes: ``computing`` (all ranks of all jobs), ``computing
        of rank 7``, ``computing of job NAME``, ``computing of rank 7 of job NAME``. Other names are
        passed over.

    Raises
    ------
    InputError
        If there is no such rank, or no such job.
    """
    named = {name: factor for name, factor in slow.items() if is_computing(name)}
    if not named:
        return
    pace = np.ones(len(plane.tables.programs.rows))
    for name, factor in named.items():
        rank, job = _who(name)
        for one in _jobs(name, job, placed):
            own, each = one.programs, one.submission.programs
            count = one.submission.ranks
            if rank is not None and rank >= count:
                raise InputError(
                    f"slow: {name}: the job has {count:,} ranks; right would be 0 to {count - 1:,}"
                )
            chosen = range(count) if rank is None else range(rank, rank + 1)
            pace[own[chosen.start * each : chosen.stop * each]] *= factor
    plane.pace = pace


def _who(name: str) -> tuple[int | None, str | None]:
    """Return the rank and the job that a name is about; None: all."""
    found = _NAME.fullmatch(name)
    if found is None:
        raise InputError(
            f"slow: {name}: right would be {COMPUTING}, {COMPUTING} of rank 7, or {COMPUTING} of "
            "rank 7 of job NAME"
        )
    rank = found["rank"]
    return None if rank is None else int(rank), found["job"]


def _jobs(name: str, job: str | None, placed: Sequence[PlacedJob]) -> list[PlacedJob]:
    if job is None:
        return list(placed)
    chosen = [one for one in placed if one.submission.name == job]
    if not chosen:
        jobs = ", ".join(one.submission.name for one in placed)
        raise InputError(f"slow: {name}: there is no job {job}; right would be one of {jobs}")
    return chosen
