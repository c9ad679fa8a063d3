"""Run an IOR command."""

from __future__ import annotations

from typing import Any

from sim.config.machine import Machine
from sim.config.scenario import Scenario
from sim.run.act import Act, Waiting
from sim.run.checks import check, remarks
from sim.run.memory import occupied_memory
from sim.run.result import IorResult, TestOutcome
from sim.run.stage import JobStage
from sim.workloads.ior.job import IorContext, IorJob
from sim.workloads.ior.options import parse_arguments
from sim.workloads.ior.parameters import IorTest
from sim.workloads.ranks import Ranks


class IorAct(Act):
    """An IOR command: its tests one after the other.

    Raises
    ------
    InputError
        If the job cannot run the command, or the simulator does not know how.
    """

    def __init__(self, scenario: Scenario, machine: Machine) -> None:
        super().__init__(scenario, machine)
        self._command = parse_arguments(scenario.workload.ior or ())
        check(self._command.tests, scenario, machine)
        self._outcomes: list[TestOutcome] = []

    @property
    def bytes_to_move(self) -> int:
        """Bytes that all phases of all tests move, if nothing stops them early."""
        tasks = self.scenario.nodes * self.scenario.ppn
        return sum(_bytes_to_move(test, tasks) for test in self._command.tests)

    def play(self, job: JobStage) -> Waiting:
        """Run the tests one after the other."""
        scenario, machine, filesystem = self.scenario, self.machine, job.filesystem
        context = IorContext(
            filesystem=filesystem,
            machine=machine,
            environment=scenario.environment,
            striping=scenario.striping,
            world=job.world,
            seed=scenario.seed,
        )
        for test in self._command.tests:
            started = filesystem.environment.now
            tasks = test.tasks or len(job.ranks)
            ranks = Ranks(job.ranks.programs[:tasks], job.ranks.per_node, job.ranks.threads)
            occupied = occupied_memory(test, machine, min(scenario.ppn, tasks))
            job.occupy(occupied)
            run = IorJob(context, ranks, test)
            yield from run.run()
            job.occupy(0, before=occupied)
            assert run.files is not None  # every test has a phase
            outcome = TestOutcome(test, tasks, started, tuple(run.records), run.files)
            self._outcomes.append(outcome)

    def result(self, outcome: dict[str, Any]) -> IorResult:
        """Return the tests with the records of their phases."""
        tests = self._command.tests
        return IorResult(
            command=self._command,
            tests=tuple(self._outcomes),
            notes=(*self._command.notes, *remarks(tests, self.scenario, self.machine)),
            **outcome,
        )


def _bytes_to_move(test: IorTest, tasks: int) -> int:
    """Return the bytes that all phases of a test move, if nothing stops them early."""
    phases = test.repetitions * len(test.phases)
    return phases * test.aggregate_bytes(test.tasks or tasks)
