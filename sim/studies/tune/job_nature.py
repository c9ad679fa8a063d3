"""What a job is, as far as it decides what can be tuned: found out from a run of it."""

from __future__ import annotations

from dataclasses import dataclass

from sim.config.job_form import HINTS
from sim.config.machine import Machine
from sim.config.scenario import Scenario, machine_of
from sim.mpi.hint_text import read_patterns
from sim.studies.record import RunRecord
from sim.workloads.catalogue import workload_of
from sim.workloads.ior.command import Ior
from sim.workloads.ior.parameters import WITHOUT_MPI, IorTest
from sim.workloads.workload import Workload

REPLAY = "replay"
"""The kernel that replays a log or a trace."""


def replays(scenario: Scenario) -> bool:
    """Tell whether a scenario replays a log or a trace."""
    return (scenario.workload.kernel or {}).get("name") == REPLAY


@dataclass(frozen=True)
class JobNature:
    """A job as the search for its settings sees it.

    Attributes
    ----------
    scenario
        As it is now.
    machine
        With the changes of the scenario made.
    collective
        Whether ranks read or wrote through the aggregators of MPI-IO.
    may_share_locks
        Whether nobody but aggregators touched the files, so that a group lock is safe.
    tests
        Of an IOR command; empty for kernels and logs.
    options
        Of a kernel that can be switched, by name; empty for others.
    """

    scenario: Scenario
    machine: Machine
    collective: bool
    may_share_locks: bool
    tests: tuple[IorTest, ...]
    options: frozenset[str]

    @property
    def ranks(self) -> int:
        """Processes of the job."""
        return self.scenario.nodes * self.scenario.ppn

    @property
    def replays(self) -> bool:
        """Whether it replays a log or a trace, of which little can be changed."""
        return replays(self.scenario)

    @property
    def own_files(self) -> bool:
        """Whether each rank has a file of its own, as far as the workload tells."""
        return bool(self.tests) and all(test.file_per_process for test in self.tests)

    @property
    def over_mpi(self) -> bool:
        """Whether an IOR command goes through MPI-IO, so that collective calls are a choice."""
        return bool(self.tests) and not any(test.api in WITHOUT_MPI for test in self.tests)

    @property
    def has_script(self) -> bool:
        """Whether an IOR command runs a script, whose tests have options of their own."""
        return any(word.startswith("-f") for word in self.scenario.workload.ior or ())

    @property
    def block(self) -> int | None:
        """Contiguous bytes of a rank; None where the workload does not tell."""
        return self.tests[0].block_size if self.tests else None

    @property
    def call(self) -> int | None:
        """Bytes of one call of all ranks; None where the workload does not tell."""
        return self.tests[0].transfer_size * self.ranks if self.tests else None

    @property
    def hints(self) -> dict[str, str]:
        """The hints in ``MPICH_MPIIO_HINTS`` that are for all files."""
        text = self.scenario.environment.get(HINTS, "")
        return dict(read_patterns(text, HINTS, "").layer.values)


def nature_of(scenario: Scenario, record: RunRecord) -> JobNature:
    """Return what a job is, by its scenario and what came of a run of it.

    Raises
    ------
    InputError
        If the scenario cannot be.
    """
    workload = workload_of(scenario.workload)
    collective = any(told.collective for told in record.library)
    return JobNature(
        scenario=scenario,
        machine=machine_of(scenario),
        collective=collective,
        may_share_locks=collective and not any(told.independent for told in record.library),
        tests=workload.command.tests if isinstance(workload, Ior) else (),
        options=_switches(workload),
    )


def _switches(workload: Workload) -> frozenset[str]:
    """Return the options of a kernel that are true or false."""
    fields = getattr(type(workload), "model_fields", {})
    return frozenset(name for name, field in fields.items() if field.annotation is bool)
