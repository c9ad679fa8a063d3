"""Run a kernel."""

from __future__ import annotations

from typing import Any

from sim.config.errors import InputError
from sim.config.machine import Machine
from sim.config.scenario import Scenario
from sim.mpi.variables import Displays, read_displays
from sim.run.act import Act, Waiting
from sim.run.result import KernelResult
from sim.run.stage import JobStage
from sim.workloads.job import Job
from sim.workloads.kernel import Kernel
from sim.workloads.kernels import make_kernel


class KernelAct(Act):
    """A kernel.

    Parameters
    ----------
    scenario, machine
        As :class:`~sim.run.act.Act` takes them.
    kernel
        In place of the one that the scenario describes: one that was made already.

    Raises
    ------
    InputError
        If the job cannot run the kernel, or its options cannot be.
    """

    def __init__(self, scenario: Scenario, machine: Machine, kernel: Kernel | None = None) -> None:
        super().__init__(scenario, machine)
        self._kernel = kernel or make_kernel(scenario.workload.kernel or {})
        self._displays = read_displays(scenario.environment)
        if scenario.cores.threads > 1:
            raise InputError(
                f"cores.threads = {scenario.cores.threads}: a kernel's calls are not dealt to I/O "
                "threads; right would be 1"
            )
        self._kernel.check(scenario, machine)
        self._job: Job | None = None

    @property
    def helpers(self) -> int:
        """Helper threads of each rank, which share its core."""
        return self._kernel.helpers()

    @property
    def stagers(self) -> int:
        """Programs on each service node of the job's burst buffer."""
        return self._kernel.stagers(self.scenario)

    @property
    def bytes_to_move(self) -> int:
        """Bytes that the kernel says it will read and write."""
        return self._kernel.bytes_to_move(self.scenario.nodes * self.scenario.ppn)

    def play(self, job: JobStage) -> Waiting:
        """Let the kernel do everything."""
        self._job = Job(
            filesystem=job.filesystem,
            world=job.world,
            programs=job.ranks.programs,
            helpers=self._kernel.helpers(),
            stagers=job.stagers,
            machine=self.machine,
            environment=self.scenario.environment,
            striping=self.scenario.striping,
            seed=self.scenario.seed,
        )
        yield from self._kernel.run(self._job)

    def result(self, outcome: dict[str, Any]) -> KernelResult:
        """Return the kernel's table."""
        job = self._job
        assert job is not None  # it has been played
        notes = list(job.notes)
        if self._displays != Displays() and not job.mpi_records:
            notes.append(
                f"MPI-IO prints nothing: kernel {self._kernel.name} does not go through it here."
            )
        outcome["troubles"] += tuple(job.troubles)
        return KernelResult(
            kernel=self._kernel,
            files=job.files,
            records=tuple(job.rows),
            stretches={label: tuple(found) for label, found in job.stretches.items()},
            mpi_records=tuple(job.mpi_records),
            notes=tuple(notes),
            **outcome,
        )
