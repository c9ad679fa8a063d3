"""Run a scenario, or jobs together on one machine."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import simpy

from xc40io.compiler.core import ElsewhereError, core_of
from xc40io.config.asked_workload import Workload as AskedWorkload
from xc40io.config.errors import InputError
from xc40io.config.faults import FieldFault, said_faults
from xc40io.config.machine import Machine
from xc40io.config.scenario import Background, Scenario, asked_scenario, machine_of
from xc40io.config.units import MOST_SECONDS
from xc40io.engine.compiled import is_compiling
from xc40io.machine.loop import run
from xc40io.run.built_machine import BuiltMachine, Progress, build_machine
from xc40io.run.deadlock import deadlock
from xc40io.run.foreseen import Foretold, foreseen
from xc40io.run.recording import recorded_by
from xc40io.run.result import Result
from xc40io.run.station_table import station_table
from xc40io.run.submission import Submission, work_of
from xc40io.workloads.catalogue import workload_of
from xc40io.workloads.workload import Workload


class OvertimeError(Exception):
    """A run has taken as many simulated seconds as it may, and was given up."""


def simulate(
    scenario: Scenario | str | Path,
    *,
    progress: Progress | None = None,
    workload: Workload | None = None,
    record: bool = False,
    until: float | None = None,
) -> Result:
    """Run a scenario of one job to its end.

    Parameters
    ----------
    scenario
        What to run: a scenario, the name of one that ships, or the path of its file.
    progress
        Told from time to time how far it has come; before, what it will be, if it takes that
        (:class:`~xc40io.run.foreseen.Foretold`).
    workload
        In place of the one that the scenario describes: one that was made already, and has not run
        yet.
    record
        Whether to record every call, RPC, request, lock and wait: ``Result.recording``.
    until
        Simulated seconds after which it is given up; never unless given.

    Returns
    -------
    Result
        The same, bit for bit, for the same scenario.

    Raises
    ------
    InputError
        If the scenario asks for what the machine or the simulator does not have.
    OvertimeError
        If it is given up.

    Examples
    --------
    >>> from xc40io import Scenario, simulate
    >>> scenario = Scenario(
    ...     machine="theta", nodes=1, ppn=2, workload={"ior": "-F -w -e -b 1m -t 1m"}
    ... )
    >>> result = simulate(scenario)
    >>> phases = result.to_pandas()["phases"]
    >>> list(phases.phase), int(phases.bytes.sum())
    (['write'], 2097152)
    """
    scenario = asked_scenario(scenario)
    machine = machine_of(scenario)
    workload = workload or workload_of(scenario.workload)
    job = Submission.to(machine, scenario, workload)
    job.check(machine)
    (result,) = run_jobs(
        machine,
        [job],
        background=scenario.background,
        seed=scenario.seed,
        faults=said_faults(scenario.faults, scenario.slow),
        record=record or workload.needs_recording,
        progress=progress,
        until=until,
    )
    return result


def run_jobs(
    machine: Machine,
    submissions: Sequence[Submission],
    *,
    background: Background,
    seed: int,
    faults: Sequence[FieldFault] = (),
    record: bool = False,
    progress: Progress | None = None,
    until: float | None = None,
) -> list[Result]:
    """Run jobs to their ends.

    Parameters
    ----------
    machine
        With all changes made.
    submissions
        The jobs, checked, in the order in which they get their nodes.
    background, seed, faults, record, progress
        As :func:`~xc40io.run.built_machine.build_machine` takes them.
    until
        As :func:`simulate` takes it.

    Returns
    -------
    list
        One result for each job, in their order. What the machine did, as its stations, its locks
        and its page caches tell, is that of all jobs.

    Raises
    ------
    InputError
        If they do not fit the machine, or one of them turns out to be impossible.
    """
    began = time.perf_counter()
    if isinstance(progress, Foretold):
        progress.foretell(foreseen(submissions, machine, record=record))
    built = build_machine(
        machine,
        submissions,
        background=background,
        seed=seed,
        faults=faults,
        record=record,
        progress=progress,
    )
    environment = built.environment
    processes = [environment.process(run.process()) for run in built.runs]
    _run(built, environment.all_of(processes), until)
    if progress is not None:
        everything = work_of(submissions)
        progress(everything, everything)
    built.faults.settle()
    stations = station_table(built.plane, built.book)
    recorded = recorded_by(built.plane, built.nodes)
    results = [
        run.result(stations, recorded, began, built.faults, built.conditions) for run in built.runs
    ]
    environment.close()
    return results


def _run(built: BuiltMachine, done: simpy.Event, until: float | None) -> None:
    """Run everything until all is done.

    Raises
    ------
    OvertimeError
        If it is not done at ``until`` (s).
    InputError
        If nothing is left that could happen before, or it takes longer than the clock can tell.
    FailureError
        If nothing is left that could happen, by a mistake of the simulator.
    """
    environment = built.environment
    try:
        environment.run(until=done if until is None else done | environment.timeout(until))
    except RuntimeError as error:
        if done.triggered or environment.peek() < np.inf:
            raise
        raise deadlock(built.plane, built.runs, float(environment.now)) from error
    if not done.processed and until is not None:
        raise OvertimeError
    if environment.now > MOST_SECONDS:
        raise InputError(
            f"the run takes {environment.now:.3g} s, and the clock tells nanoseconds apart up to "
            f"{MOST_SECONDS:.0f} s (97 days); right would be shorter delays, or faster parts of "
            "the machine"
        )


def compiled_core() -> Path:
    """Return the file of the compiled core; make it first if there is none for these sources.

    Raises
    ------
    NoCoreError
        If it could not be made.
    InputError
        If nothing is to be compiled.
    """
    if not is_compiling():
        raise InputError("NUMBA_DISABLE_JIT is set: nothing is compiled; right would be without it")
    workload = AskedWorkload(ior=("-w", "-b", "1m", "-t", "1m"))
    try:
        simulate(Scenario(machine="theta", nodes=1, ppn=1, workload=workload))
    except ElsewhereError as error:
        return error.core
    return core_of(run.symbol)
