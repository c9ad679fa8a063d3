"""The properties of a job that decide what can be tuned, found out from a run of it.

With it what is to become small: the seconds of its I/O, or of its writes or its reads alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, get_args

from xc40io.config.errors import InputError
from xc40io.config.job_form import HINTS
from xc40io.config.machine import Machine
from xc40io.config.scenario import Scenario, machine_of
from xc40io.mpi.hint_text import read_patterns
from xc40io.studies.case import NO_CALLS
from xc40io.studies.record import RunRecord
from xc40io.workloads.catalogue import PROGRAMS, workload_of
from xc40io.workloads.kernels.kernel import TRIED
from xc40io.workloads.traits import OWN, PhaseTraits, Traits
from xc40io.workloads.workload import Workload

REPLAY = "replay"
"""The kernel that replays a log or a trace."""


Objective: TypeAlias = Literal["all", "write", "read"]

OBJECTIVES: tuple[Objective, ...] = ("all", "write", "read")

WORDS: dict[Objective, str] = {
    "all": "seconds of all phases of I/O, each from the first open to the last close",
    "write": "seconds of the writing phases, from the first open to the last close",
    "read": "seconds of the reading phases, from the first open to the last close",
}
"""What is minimised."""

OF_CALLS = "seconds in calls: for each kind, those of the rank that spent most time in it"
"""What is minimised for a replay, whose phases also contain the job's computing."""


def replays(scenario: Scenario) -> bool:
    """Tell whether a scenario replays a log or a trace."""
    return scenario.workload.options.get("name") == REPLAY


@dataclass(frozen=True)
class JobNature:
    """A job as the search for its settings sees it."""

    scenario: Scenario  # as it is now
    machine: Machine  # with the changes of the scenario made
    collective: bool  # whether ranks read or wrote through the aggregators of MPI-IO
    may_share_locks: bool  # nobody but aggregators touched the files: a group lock is safe
    traits: Traits  # what its phases are
    options: frozenset[str]  # of a kernel that can be switched, by name; empty for others
    switches: Mapping[str, str] = field(default_factory=dict)  # options of its command, by knob
    # options of a kernel that are worth trying otherwise, each with its choices
    tried: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    lays_out: bool = False  # whether its files ask for stripes of their own, as those of a log do

    @property
    def ranks(self) -> int:
        """Processes of the job."""
        return self.scenario.nodes * self.scenario.ppn

    @property
    def replays(self) -> bool:
        """Whether it replays a log or a trace; little can be changed in a replay."""
        return replays(self.scenario)

    @property
    def parts(self) -> tuple[PhaseTraits, ...]:
        """The parts of a command whose calls are known; none of kernels and logs."""
        return self.traits.parts

    @property
    def own_files(self) -> bool:
        """Whether each rank has a file of its own, as far as the workload tells."""
        return bool(self.parts) and all(part.sharing == OWN for part in self.parts)

    @property
    def over_mpi(self) -> bool:
        """Whether its calls go through MPI-IO, so that collective ones are a choice."""
        return bool(self.parts) and all(part.over_mpi for part in self.parts)

    @property
    def block(self) -> int | None:
        """Contiguous bytes of a rank; None where the workload does not tell."""
        return self.parts[0].block if self.parts else None

    @property
    def call(self) -> int | None:
        """Bytes of one call of all ranks; None where the workload does not tell."""
        call = self.parts[0].call if self.parts else None
        return None if call is None else call * self.ranks

    @property
    def hints(self) -> dict[str, str]:
        """The hints in ``MPICH_MPIIO_HINTS`` that are for all files."""
        text = self.scenario.environment.get(HINTS, "")
        return dict(read_patterns(text, HINTS, "").layer.values)


def nature_of(scenario: Scenario, record: RunRecord) -> JobNature:
    """Return the properties of a job, from its scenario and the result of a run.

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
        traits=workload.traits(scenario),
        options=_switches(workload),
        tried=_tried(workload),
        lays_out=workload.lays_out,
        switches=PROGRAMS[scenario.workload.program].switches if workload.adjustable else {},
    )


def _switches(workload: Workload) -> frozenset[str]:
    """Return the options of a kernel that are true or false."""
    fields = getattr(type(workload), "model_fields", {})
    return frozenset(name for name, field in fields.items() if field.annotation is bool)


def _tried(workload: Workload) -> dict[str, tuple[Any, ...]]:
    """Return the choices of the options of a kernel that say that they are to be tried."""
    fields = getattr(type(workload), "model_fields", {})
    return {
        name: (False, True) if field.annotation is bool else get_args(field.annotation)
        for name, field in fields.items()
        if isinstance(field.json_schema_extra, dict) and field.json_schema_extra.get(TRIED)
    }


def phase_seconds(record: RunRecord, *, replay: bool) -> dict[str, float]:
    """Return the seconds of a run's phases of I/O by name, all repetitions together.

    For a replay: the seconds of each kind of calls.
    """
    pairs = (
        [(phase.name, phase.seconds) for phase in record.phases if phase.name not in NO_CALLS]
        if replay
        else [(bound.phase, bound.seconds) for bound in record.bounds]
    )
    found: dict[str, float] = {}
    for name, seconds in pairs:
        found[name] = found.get(name, 0.0) + seconds
    return found


def longest_phase(record: RunRecord, objective: Objective, *, replay: bool) -> str:
    """Return the phase that takes longest, of those whose time is minimised."""
    phases = phase_seconds(record, replay=replay)
    counting = {name: took for name, took in phases.items() if counted(name, objective)}
    return max(counting, key=lambda name: counting[name])


def counted(phase: str, objective: Objective) -> bool:
    """Tell whether a phase counts: ``write`` and ``posix write`` for ``write``."""
    return objective == "all" or objective in phase.lower().split()


def seconds_of_record(record: RunRecord, objective: Objective, *, replay: bool) -> float:
    """Return the seconds to be minimised.

    Raises
    ------
    InputError
        If the run has no phase that counts.
    """
    phases = phase_seconds(record, replay=replay)
    total = sum(seconds for name, seconds in phases.items() if counted(name, objective))
    if total <= 0.0:
        there = ", ".join(phases) or "none"
        raise InputError(
            f"--objective {objective}: the job has no such phase of I/O; its phases are: {there}"
        )
    return total


def bytes_of_record(record: RunRecord) -> int:
    """Return the bytes that a run moved, to tell whether two did the same work."""
    return sum(phase.bytes for phase in record.phases)
