"""A job as it is handed to the machine: what it is to run, and when."""

from __future__ import annotations

from typing import NamedTuple

from sim.config.errors import InputError
from sim.config.machine import Machine
from sim.config.scenario import Scenario
from sim.mpi.known_hints import read_displays
from sim.run.allocation import Allocation
from sim.workloads.workload import Workload

MOST_RPCS = 1_000_000_000
"""Bulk RPCs of a job: an hour of work at the pace of the data plane. Full Theta makes millions."""


class Submission(NamedTuple):
    """A job that is to run.

    Attributes
    ----------
    scenario
        The job as if it were on the machine by itself; its seed is the job's own.
    workload
        What it does.
    name
        What it is called where there are several.
    start
        When it begins, in simulated seconds.
    allocation
        What it gets, as in an earlier run; chosen as the scenario says unless given.
    """

    scenario: Scenario
    workload: Workload
    name: str = ""
    start: float = 0.0
    allocation: Allocation | None = None

    @property
    def ranks(self) -> int:
        """How many ranks it has."""
        return self.scenario.nodes * self.scenario.ppn

    @property
    def programs(self) -> int:
        """Programs of a rank: itself, its I/O threads if there are several, its helpers."""
        threads = self.scenario.cores.threads
        return 1 + self.workload.helpers() + (0 if threads == 1 else threads)

    @property
    def stagers(self) -> int:
        """Programs on each service node of its allocation of the burst buffer."""
        return self.workload.stagers(self.scenario)

    @property
    def bytes_to_move(self) -> int:
        """Bytes that it will read and write, about."""
        return self.workload.bytes_to_move(self.ranks)

    def check(self, machine: Machine) -> None:
        """Raise InputError unless a machine can run the job, in less than hours."""
        read_displays(self.scenario.environment)
        threads = self.scenario.cores.threads
        if threads > 1 and not self.workload.io_threads:
            raise InputError(
                f"cores.threads = {threads}: a kernel's calls are not dealt to I/O threads; right "
                "would be 1"
            )
        self.workload.check(self.scenario, machine)
        rpcs = self.bytes_to_move / machine.lustre.rpc_size
        if rpcs > MOST_RPCS:
            raise InputError(
                f"{self.bytes_to_move:,} bytes in all would be {rpcs:,.0f} bulk RPCs, which takes "
                f"hours; right would be at most {MOST_RPCS:,}: fewer bytes or repetitions, or "
                "--rpcs-as-one"
            )


def in_job(name: str, error: InputError) -> InputError:
    """Return an error with the name of the job that it concerns, if it has one."""
    return InputError(f"job {name}: {error}") if name else error
