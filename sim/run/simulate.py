"""Run a scenario."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from typing import Any

import numpy as np
import simpy

from sim.config.errors import InputError
from sim.config.machine import Machine
from sim.config.scenario import Placement, Scenario, machine_of
from sim.engine.environment import Environment
from sim.engine.types import Indices
from sim.lustre.assembly import assemble
from sim.lustre.filesystem import FileSystem
from sim.lustre.striping import Allocator
from sim.run.fabric import fabric_of
from sim.run.result import Result, TestOutcome
from sim.workloads.ior.job import IorJob, Namespace, Ranks, striping_of
from sim.workloads.ior.options import IorCommand, parse_arguments
from sim.workloads.ior.parameters import IorTest
from topology import Fabric, place

Progress = Callable[[int, int], None]
"""Called several times a second of wall time with the bytes moved so far and those to move."""


def simulate(scenario: Scenario, *, progress: Progress | None = None) -> Result:
    """Run a scenario to its end.

    Parameters
    ----------
    scenario
        What to run.
    progress
        Told from time to time how far it has come.

    Returns
    -------
    Result
        The same, bit for bit, for the same scenario.

    Raises
    ------
    InputError
        If the scenario asks for what the machine or the simulator does not have.
    """
    began = time.perf_counter()
    machine = machine_of(scenario)
    command = parse_arguments(scenario.workload.ior)
    tasks = scenario.nodes * scenario.ppn
    for test in command.tests:
        _check(test, tasks, machine, scenario)
    fabric = fabric_of(machine)
    nodes = place_job(scenario, fabric)
    program_node = np.repeat(np.arange(scenario.nodes, dtype=np.int32), scenario.ppn)
    plane, book = assemble(machine, fabric, nodes, program_node, scenario.seed)
    total = sum(_bytes_to_move(test, tasks) for test in command.tests)

    def watch() -> None:
        if progress is not None:
            progress(int(plane.tables.counts[2]), total)

    environment = Environment(plane, watch)
    filesystem = FileSystem(environment, plane, Allocator.of(machine.lustre, scenario.seed))
    outcomes: list[TestOutcome] = []
    environment.process(_command(filesystem, command, scenario, tasks, outcomes))
    environment.run()
    counts = plane.tables.counts
    return Result(
        scenario=scenario,
        machine=machine,
        tests=tuple(outcomes),
        notes=command.notes,
        simulated=float(environment.now),
        events=int(counts[0]),
        rpcs=int(counts[1]),
        bulk_bytes=int(counts[2]),
        wall=time.perf_counter() - began,
        waits=plane.tables.waits,
        _plane=plane,
        _book=book,
    )


def place_job(scenario: Scenario, fabric: Fabric) -> Indices:
    """Choose the compute nodes of a scenario: int32 (nodes,).

    Raises
    ------
    InputError
        If its placement does not fit the machine.
    """
    placement: Placement = scenario.placement
    seed = scenario.seed if placement.seed is None else placement.seed
    try:
        return place(placement.policy, scenario.nodes, fabric, seed, placement.nodes)
    except ValueError as error:
        raise InputError(f"placement: {error}") from error


def _command(
    filesystem: FileSystem,
    command: IorCommand,
    scenario: Scenario,
    tasks: int,
    outcomes: list[TestOutcome],
) -> Generator[simpy.Event, Any, None]:
    """Run the tests of an IOR command one after the other: the SimPy process of the job."""
    namespace = Namespace()
    for test in command.tests:
        started = filesystem.environment.now
        ranks = Ranks(np.arange(test.tasks or tasks, dtype=np.int64), scenario.ppn)
        job = IorJob(filesystem, ranks, test, scenario.striping, namespace, scenario.seed)
        yield from job.run()
        assert job.files is not None  # every test has a phase
        outcomes.append(
            TestOutcome(test, len(ranks.programs), started, tuple(job.records), job.files)
        )


def _bytes_to_move(test: IorTest, tasks: int) -> int:
    """Return the bytes that all phases of a test move, if nothing stops them early."""
    phases = test.repetitions * len(test.phases)
    return phases * test.aggregate_bytes(test.tasks or tasks)


def _check(test: IorTest, tasks: int, machine: Machine, scenario: Scenario) -> None:
    """Raise InputError unless the machine can run a test and the simulator knows how."""
    if test.collective:
        raise InputError(
            "-c: collective I/O arrives with collective buffering; "
            "without -c the same transfers run independently"
        )
    if (test.tasks or 0) > tasks:
        raise InputError(
            f"-N {test.tasks}: more than the {tasks} ranks of the job "
            f"({scenario.nodes} nodes x {scenario.ppn})"
        )
    striping_of(test, scenario.striping).check(machine.lustre.osts)
    needed = test.aggregate_bytes(test.tasks or tasks)
    if needed > machine.lustre.capacity:
        raise InputError(
            f"-b {test.block_size} -s {test.segments} on {test.tasks or tasks} tasks makes "
            f"{needed / 1e15:.1f} PB; the file system of {machine.name} holds "
            f"{machine.lustre.capacity / 1e15:.1f} PB"
        )
