"""Run a kernel."""

from __future__ import annotations

from typing import Any

from sim.config.errors import InputError
from sim.config.machine import Machine
from sim.config.scenario import Scenario
from sim.mpi.variables import Displays, read_displays
from sim.run.result import KernelResult
from sim.run.stage import Progress, set_stage
from sim.workloads.kernel import KernelJob
from sim.workloads.kernels import make_kernel


def run_kernel(
    scenario: Scenario, machine: Machine, options: dict[str, Any], progress: Progress | None
) -> KernelResult:
    """Run the kernel of a scenario to its end; see :func:`~sim.run.simulate.simulate`."""
    kernel = make_kernel(options)
    displays = read_displays(scenario.environment)
    if scenario.cores.threads > 1:
        raise InputError(
            f"cores.threads = {scenario.cores.threads}: a kernel's calls are not dealt to I/O "
            "threads; right would be 1"
        )
    kernel.check(scenario, machine)
    total = kernel.bytes_to_move(scenario.nodes * scenario.ppn)
    stage = set_stage(
        scenario, machine, bytes_to_move=total, progress=progress, helpers=kernel.threads()
    )
    job = KernelJob(
        filesystem=stage.filesystem,
        world=stage.world,
        programs=stage.ranks.programs,
        threads=kernel.threads(),
        machine=machine,
        environment=scenario.environment,
        striping=scenario.striping,
        seed=scenario.seed,
    )
    environment = stage.filesystem.environment
    environment.run(until=environment.process(kernel.run(job)))
    if displays != Displays() and not job.mpi_records:
        job.notes.append(
            f"MPI-IO prints nothing: kernel {kernel.name} does not go through it here."
        )
    return KernelResult(
        kernel=kernel,
        files=job.files,
        records=tuple(job.records),
        stretches={label: tuple(found) for label, found in job.stretches.items()},
        mpi_records=tuple(job.mpi_records),
        notes=tuple(job.notes),
        **stage.outcome(),
    )
