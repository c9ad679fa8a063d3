"""One run of a study: a scenario of one job or of several, and which of the jobs are there."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from xc40io.config.errors import InputError
from xc40io.config.faults import Fault
from xc40io.config.job_form import HINTS
from xc40io.config.jobs import Job, JobsScenario
from xc40io.config.machine import Machine
from xc40io.config.scenario import Scenario, machine_of
from xc40io.mpi.hint_text import with_more_hints
from xc40io.run.foreseen import Foreseen, Foretold, foreseen
from xc40io.run.job_list import seeded_jobs
from xc40io.run.jobs import machine_of_jobs, simulate_some, submission_of
from xc40io.run.result import Result
from xc40io.run.simulate import simulate
from xc40io.run.submission import Allocation, Submission
from xc40io.studies.processes import bytes_to_move
from xc40io.workloads.catalogue import workload_of
from xc40io.workloads.job_results import phase_title
from xc40io.workloads.replay.outcome import ReplayOutcome

GROUP_LOCK = "cray_cb_write_lock_mode=1", "romio_no_indep_rw=true"
"""Hints with which all aggregators of a file share one lock: each needs the other."""

_OF_A_JOB = ("nodes", "ppn", "striping", "environment", "workload")
_WHOLE = "all"
NO_CALLS = frozenset({_WHOLE, "compute", "barrier"})
"""Rows of a replay that are no kind of calls."""


class Phase(NamedTuple):
    """A kind of phase."""

    job: str  # of which job; empty where there is only one
    part: int  # place of the part of the workload, from 0: of the test in an IOR command
    name: str  # what is done: ``write``. Of a replay also a kind of calls: ``posix write``

    def title(self, *, several: bool) -> str:
        """Return its title, with its job, and with its part where there are several."""
        words = phase_title(self.part, self.name, several=several)
        return f"job {self.job}, {words}" if self.job else words


def titles(phases: Collection[Phase]) -> dict[Phase, str]:
    """Return the titles of kinds of phases that are shown together."""
    several = len({phase.part for phase in phases}) > 1
    return {phase: phase.title(several=several) for phase in phases}


Seconds = dict[Phase, float]
"""The seconds of each kind of phase, all its repetitions together."""


@dataclass(frozen=True)
class Case:
    """A run that can be made."""

    scenario: Scenario | JobsScenario  # what is run
    absent: frozenset[str] = frozenset()  # jobs that are not there
    # what each job gets, by name; chosen anew where nothing is said
    allocations: Mapping[str, Allocation] = field(default_factory=dict)

    def run(
        self,
        *,
        record: bool = False,
        progress: Callable[[int, int], None] | None = None,
        until: float | None = None,
    ) -> dict[str, Result]:
        """Return the result of each job, by name.

        ``record``: with a recording. ``progress``: told how many bytes have been moved, and of how
        many. ``until``: simulated seconds after which the run is given up.

        Raises
        ------
        InputError
            If the scenario asks for what the machine or the simulator does not have.
        OvertimeError
            If it is given up.
        """
        if isinstance(self.scenario, Scenario):
            return {"": simulate(self.scenario, record=record, progress=progress, until=until)}
        names = [entry.job.name for entry in seeded_jobs(self.scenario)]
        left = [name for name in names if name not in self.absent]
        results = simulate_some(
            self.scenario,
            left,
            self.allocations,
            record=record,
            progress=progress,
            until=until,
        )
        return dict(zip(left, results, strict=True))

    @property
    def machine(self) -> Machine:
        """The machine, with the scenario's changes made."""
        if isinstance(self.scenario, Scenario):
            return machine_of(self.scenario)
        return machine_of_jobs(self.scenario)

    def size(self) -> float:
        """Return about how many bytes are simulated one by one: the longest runs have most."""
        return sum(map(bytes_to_move, self.jobs())) / self.scenario.rpcs_as_one

    def foreseen(self) -> Foreseen:
        """Return what the run will be, about."""
        scenario, machine = self.scenario, self.machine
        if isinstance(scenario, Scenario):
            job = Submission.to(machine, scenario, workload_of(scenario.workload))
            return foreseen([job], machine)
        jobs = [entry for entry in seeded_jobs(scenario) if entry.job.name not in self.absent]
        return foreseen([submission_of(scenario, machine, one, None) for one in jobs], machine)

    def jobs(self) -> list[Scenario | Job]:
        """Return the jobs that are listed or drawn; the only one is the scenario."""
        if isinstance(self.scenario, Scenario):
            return [self.scenario]
        return [entry.job for entry in seeded_jobs(self.scenario)]

    def listed(self) -> Case:
        """Return the same with all jobs listed that a mix would draw, each with its seed."""
        if isinstance(self.scenario, Scenario):
            return self
        jobs = tuple(
            entry.job.model_copy(update={"seed": entry.seed})
            for entry in seeded_jobs(self.scenario)
        )
        return replace(self, scenario=self.scenario.model_copy(update={"jobs": jobs, "mix": None}))

    def with_machine(self, changes: Mapping[str, Any], slow: Mapping[str, float]) -> Case:
        """Return the case on a machine with changes, and with parts that are slow, or quick."""
        scenario = self.scenario
        updates = {
            "changes": {**scenario.changes, **changes},
            "slow": {**scenario.slow, **slow},
        }
        return replace(self, scenario=scenario.model_copy(update=updates))

    def without_fault(self, fault: Fault) -> Case:
        """Return the case in which one of the faults does not happen."""
        left = tuple(one for one in self.scenario.faults if one is not fault)
        return replace(self, scenario=self.scenario.model_copy(update={"faults": left}))

    def with_hints(self, hints: str) -> Case:
        """Return the case with hints for MPI-IO in all jobs, beside those that are there."""
        if not hints:
            return self
        if isinstance(self.scenario, Scenario):
            return replace(self, scenario=_hinted(self.scenario, hints))
        jobs = tuple(_hinted(job, hints) for job in self.scenario.jobs)
        return replace(self, scenario=self.scenario.model_copy(update={"jobs": jobs}))

    def with_job(self, name: str, changed: Scenario) -> Case:
        """Return the case with one of its jobs, and the machine, as a scenario of that job alone.

        Parameters
        ----------
        name
            Of the job; empty where there is only one.
        changed
            As ``scenario`` of its result, with changes.
        """
        if isinstance(self.scenario, Scenario):
            return replace(self, scenario=changed)
        own = {field: getattr(changed, field) for field in _OF_A_JOB}
        jobs = tuple(
            job.model_copy(update=own) if job.name == name else job for job in self.scenario.jobs
        )
        updates = {"jobs": jobs, "changes": changed.changes}
        return replace(self, scenario=self.scenario.model_copy(update=updates))

    def with_seed(self, more: int) -> Case:
        """Return the case with the seed that comes so many after its own; of each job, too."""
        scenario = self.scenario
        update: dict[str, Any] = {"seed": scenario.seed + more}
        if isinstance(scenario, JobsScenario):
            update["jobs"] = tuple(
                job if job.seed is None else job.model_copy(update={"seed": job.seed + more})
                for job in scenario.jobs
            )
        return replace(self, scenario=scenario.model_copy(update=update))

    def without_jobs(self, names: frozenset[str], results: Mapping[str, Result]) -> Case:
        """Return the case without some jobs; the others get what they got in its run."""
        allocations = {name: result.allocation for name, result in results.items()}
        return replace(self, absent=names, allocations=allocations)


def foretell(cases: Iterable[Case], processes: int, told: object) -> None:
    """Tell what runs in so many processes will be, if that is what ``told`` is told of."""
    if not isinstance(told, Foretold):
        return
    runs = []
    for case in cases:
        with suppress(InputError):  # which the run says, too
            runs.append(case.foreseen())
    if runs:
        told.foretell(Foreseen.of_study(runs, processes))


def _hinted(job: Any, hints: str) -> Any:
    """Return a job, or a scenario of one, with more hints in its environment."""
    given = with_more_hints(job.environment.get(HINTS, ""), hints)
    return job.model_copy(update={"environment": {**job.environment, HINTS: given}})


def collective(result: Result) -> bool:
    """Tell whether ranks of a job read or wrote through the aggregators of MPI-IO."""
    return any(
        way.collective
        for _, record in result.mpi_records
        for way in (record.counts.reads, record.counts.writes)
    )


def may_share_locks(result: Result) -> bool:
    """Tell whether its aggregators can do with a group lock.

    Whoever accesses such a file by himself waits for the group to leave it: for ever, if the file
    is closed together.
    """
    return collective(result) and not any(
        way.independent
        for _, record in result.mpi_records
        for way in (record.counts.reads, record.counts.writes)
    )


def seconds_of(results: Mapping[str, Result]) -> Seconds:
    """Return the seconds of the phases of jobs; for a replay also of each kind of calls.

    For calls: the seconds of the slowest rank.
    """
    seconds: Seconds = {}
    for job, result in results.items():
        for part, name, stretches in result.activities:
            took = sum(stretch.end - stretch.start for stretch in stretches)
            seconds[Phase(job, part, name)] = took
        if isinstance(result.outcome, ReplayOutcome):
            seconds |= {
                Phase(job, row.part, row.phase): row.seconds
                for row in result.rows
                if row.phase not in NO_CALLS
            }
    return seconds
