"""Let jobs run on one machine, at one time, on one Lustre."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sim.config.errors import InputError
from sim.config.machine import Machine
from sim.config.scenario import Background
from sim.run.act import Act, Waiting
from sim.run.result import Result
from sim.run.stage import JobStage, Order, Progress, Spot, set_stage


class Part(NamedTuple):
    """One of the jobs that are to run.

    Attributes
    ----------
    act
        What it does.
    name
        What it is called where there are several.
    start
        When it begins, in simulated seconds.
    spot
        Where it runs, as in an earlier run; chosen as its scenario says unless given.
    """

    act: Act
    name: str = ""
    start: float = 0.0
    spot: Spot | None = None


class Performance(NamedTuple):
    """What has come of a job.

    Attributes
    ----------
    result
        Its result. What the machine did, as its stations, its locks and its page caches tell, is
        that of all jobs.
    spot
        Where it has run.
    """

    result: Result
    spot: Spot


def perform(
    machine: Machine,
    parts: Sequence[Part],
    *,
    background: Background,
    seed: int,
    progress: Progress | None,
) -> list[Performance]:
    """Run jobs to their ends.

    Parameters
    ----------
    machine
        With all changes made.
    parts
        The jobs, in the order in which they get their nodes.
    background, seed, progress
        As :func:`~sim.run.stage.set_stage` takes them.

    Returns
    -------
    list
        One performance for each job, in their order.

    Raises
    ------
    InputError
        If they do not fit the machine, or one of them turns out to be impossible.
    """
    stage = set_stage(
        machine,
        [
            Order(part.act.scenario, part.act.helpers, part.act.stagers, part.name, part.spot)
            for part in parts
        ],
        background=background,
        seed=seed,
        bytes_to_move=sum(part.act.bytes_to_move for part in parts),
        progress=progress,
    )
    environment = stage.environment
    times: dict[int, tuple[float, float]] = {}
    processes = [
        environment.process(_in_time(part, job, times, number))
        for number, (part, job) in enumerate(zip(parts, stage.jobs, strict=True))
    ]
    environment.run(until=environment.all_of(processes))
    return [
        Performance(part.act.result(job.outcome(*times[number])), job.spot)
        for number, (part, job) in enumerate(zip(parts, stage.jobs, strict=True))
    ]


def _in_time(
    part: Part, job: JobStage, times: dict[int, tuple[float, float]], number: int
) -> Waiting:
    """Play a part at its time: a SimPy process; note when it began and ended."""
    clock = job.filesystem.environment
    if part.start > 0.0:
        yield clock.timeout(part.start)
    started = float(clock.now)
    try:
        yield from part.act.play(job)
    except InputError as error:
        raise in_job(part.name, error) from error
    times[number] = started, float(clock.now)


def in_job(name: str, error: InputError) -> InputError:
    """Return an error with the name of the job that it concerns, if it has one."""
    return InputError(f"job {name}: {error}") if name else error
