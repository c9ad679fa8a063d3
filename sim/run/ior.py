"""Run an IOR command."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import simpy

from sim.config.machine import Machine
from sim.config.scenario import Scenario
from sim.run.checks import check, remarks
from sim.run.memory import limits_beside, occupied_memory
from sim.run.result import IorResult, TestOutcome
from sim.run.stage import Progress, Stage, set_stage
from sim.workloads.ior.job import IorContext, IorJob
from sim.workloads.ior.options import IorCommand, parse_arguments
from sim.workloads.ior.parameters import IorTest
from sim.workloads.ior.ranks import Ranks


def run_ior(
    scenario: Scenario, machine: Machine, arguments: tuple[str, ...], progress: Progress | None
) -> IorResult:
    """Run the IOR command of a scenario to its end; see :func:`~sim.run.simulate.simulate`."""
    command = parse_arguments(arguments)
    check(command.tests, scenario, machine)
    tasks = scenario.nodes * scenario.ppn
    total = sum(_bytes_to_move(test, tasks) for test in command.tests)
    stage = set_stage(scenario, machine, bytes_to_move=total, progress=progress)
    outcomes: list[TestOutcome] = []
    environment = stage.filesystem.environment
    environment.run(until=environment.process(_command(stage, command, outcomes)))
    return IorResult(
        command=command,
        tests=tuple(outcomes),
        notes=(*command.notes, *remarks(command.tests, scenario, machine)),
        **stage.outcome(),
    )


def _command(
    stage: Stage, command: IorCommand, outcomes: list[TestOutcome]
) -> Generator[simpy.Event, Any, None]:
    """Run the tests of an IOR command one after the other: the SimPy process of the job."""
    scenario, machine, filesystem = stage.scenario, stage.machine, stage.filesystem
    context = IorContext(
        filesystem=filesystem,
        machine=machine,
        environment=scenario.environment,
        striping=scenario.striping,
        world=stage.world,
        seed=scenario.seed,
    )
    plane = filesystem.plane
    limits = plane.tables.limits
    for test in command.tests:
        started = filesystem.environment.now
        tasks = test.tasks or scenario.nodes * scenario.ppn
        every = stage.ranks
        ranks = Ranks(every.programs[:tasks], every.per_node, every.threads)
        occupied = occupied_memory(test, machine, min(scenario.ppn, tasks))
        plane.tables = plane.tables._replace(limits=limits_beside(limits, machine, occupied))
        job = IorJob(context, ranks, test)
        yield from job.run()
        assert job.files is not None  # every test has a phase
        outcomes.append(TestOutcome(test, tasks, started, tuple(job.records), job.files))


def _bytes_to_move(test: IorTest, tasks: int) -> int:
    """Return the bytes that all phases of a test move, if nothing stops them early."""
    phases = test.repetitions * len(test.phases)
    return phases * test.aggregate_bytes(test.tasks or tasks)
