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
from sim.lustre.assembly import Background, Job, assemble
from sim.lustre.filesystem import FileSystem
from sim.lustre.striping import Allocator
from sim.lustre.tables import Stat
from sim.node.cores import rank_cores
from sim.run.checks import check, remarks
from sim.run.fabric import fabric_of
from sim.run.memory import limits_beside, occupied_memory
from sim.run.result import Result, TestOutcome
from sim.workloads.ior.job import IorJob, Namespace, Ranks
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
    check(command.tests, scenario, machine)
    fabric = fabric_of(machine)
    nodes = place_job(scenario, fabric)
    job = _job(scenario, machine, nodes)
    background = Background(scenario.background.read, scenario.background.write)
    plane, book = assemble(machine, fabric, job, background, scenario.seed)
    total = sum(_bytes_to_move(test, tasks) for test in command.tests)

    def watch() -> None:
        if progress is not None:
            progress(int(plane.tables.counts[2]), total)

    environment = Environment(plane, watch)
    allocator = Allocator.of(machine.lustre, scenario.seed)
    filesystem = FileSystem(environment, plane, allocator, machine.lustre.mds.mdts)
    outcomes: list[TestOutcome] = []
    process = environment.process(_command(filesystem, command, scenario, machine, outcomes))
    environment.run(until=process)
    counts = plane.tables.counts
    return Result(
        scenario=scenario,
        machine=machine,
        command=command,
        tests=tuple(outcomes),
        notes=(*command.notes, *remarks(command.tests)),
        simulated=float(environment.now),
        events=int(counts[0]),
        rpcs=int(counts[1]),
        bulk_bytes=int(counts[2]),
        wall=time.perf_counter() - began,
        waits=_ranks(scenario, tasks).waits(plane.tables.waits),
        stats={stat: int(plane.tables.stats[stat]) for stat in Stat},
        plane=plane,
        book=book,
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


def _programs(scenario: Scenario) -> int:
    """Return the programs of a rank: itself, and its I/O threads if there are several."""
    threads = scenario.cores.threads
    return 1 if threads == 1 else 1 + threads


def _ranks(scenario: Scenario, tasks: int) -> Ranks:
    """Return the first ranks of a job, so many of them."""
    programs = np.arange(tasks, dtype=np.int64) * _programs(scenario)
    return Ranks(programs, scenario.ppn, scenario.cores.threads)


def _job(scenario: Scenario, machine: Machine, nodes: Indices) -> Job:
    """Put the programs of all ranks on nodes and cores; a rank is where its first thread is."""
    threads = scenario.cores.threads
    usable = machine.nodes.cores - scenario.cores.system
    cores = rank_cores(
        scenario.nodes,
        scenario.ppn * threads,
        usable,
        bound=scenario.cores.bind == "cores",
        seed=scenario.seed,
    )
    if threads > 1:
        per_rank = cores.reshape(-1, threads)
        cores = np.concatenate([per_rank[:, :1], per_rank], axis=1).ravel()
    each = scenario.ppn * _programs(scenario)
    program_node = np.repeat(np.arange(scenario.nodes, dtype=np.int32), each)
    return Job(nodes, program_node, cores, scenario.cores.system)


def _command(
    filesystem: FileSystem,
    command: IorCommand,
    scenario: Scenario,
    machine: Machine,
    outcomes: list[TestOutcome],
) -> Generator[simpy.Event, Any, None]:
    """Run the tests of an IOR command one after the other: the SimPy process of the job."""
    namespace, plane = Namespace(), filesystem.plane
    limits = plane.tables.limits
    for test in command.tests:
        started = filesystem.environment.now
        tasks = test.tasks or scenario.nodes * scenario.ppn
        ranks = _ranks(scenario, tasks)
        occupied = occupied_memory(test, machine, min(scenario.ppn, tasks))
        plane.tables = plane.tables._replace(limits=limits_beside(limits, machine, occupied))
        job = IorJob(filesystem, ranks, test, scenario.striping, namespace, scenario.seed)
        yield from job.run()
        assert job.files is not None  # every test has a phase
        outcomes.append(TestOutcome(test, tasks, started, tuple(job.records), job.files))


def _bytes_to_move(test: IorTest, tasks: int) -> int:
    """Return the bytes that all phases of a test move, if nothing stops them early."""
    phases = test.repetitions * len(test.phases)
    return phases * test.aggregate_bytes(test.tasks or tasks)
