"""What others do beside a job whose settings are searched for: nothing, their usual load, a mix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from xc40io.config.errors import InputError
from xc40io.config.machine import Machine
from xc40io.config.scenario import Background, Scenario, machine_of
from xc40io.config.workload_mix import WorkloadMix, load_mix

NOTHING: Literal["nothing"] = "nothing"
TYPICAL: Literal["typical"] = "typical"
MIX: Literal["mix"] = "mix"

_USUAL = Background(typical=True)


@dataclass(frozen=True)
class OtherLoad:
    """What others do meanwhile."""

    kind: Literal["nothing", "typical", "mix"] = NOTHING
    name: str = NOTHING  # as it was asked for
    mix: WorkloadMix | None = None  # whose jobs others run

    def loaded(self, scenario: Scenario) -> Scenario:
        """Return the job as the search runs it: under the usual load, if that is asked for."""
        return scenario.model_copy(update={"background": _USUAL}) if self.usual else scenario

    @property
    def usual(self) -> bool:
        """Whether others do what they do on a usual day, another one for each seed."""
        return self.kind == TYPICAL


def without_others(scenario: Scenario) -> Scenario:
    """Return a job on an idle machine."""
    return scenario.model_copy(update={"background": Background()})


ALONE = OtherLoad()
"""Others do nothing."""


def read_beside(asked: str | WorkloadMix | None, scenario: Scenario) -> OtherLoad:
    """Return the load beside the job: the one asked for, or else the machine's usual one, if any.

    Parameters
    ----------
    asked
        ``typical``; ``nothing``; a mix, its name or its file.
    scenario
        The job.

    Raises
    ------
    InputError
        If it is none of these, or does not go together with the job or its machine.
    """
    machine = machine_of(scenario)
    own = scenario.background not in (Background(), _USUAL)
    if asked is None:
        usual = _has_statistics(machine) and scenario.target.kind == "lustre" and not own
        return OtherLoad(TYPICAL, TYPICAL) if usual else ALONE
    if isinstance(asked, WorkloadMix):
        return OtherLoad(MIX, asked.title or "the mix", _checked(asked, "the mix", machine))
    if asked == NOTHING:
        return ALONE
    if asked == TYPICAL:
        _check_usual(scenario, machine, own=own)
        return OtherLoad(TYPICAL, TYPICAL)
    try:
        mix = load_mix(asked)
    except InputError as error:
        raise InputError(
            f"--beside {asked}: right would be typical, nothing, or a mix: {error}"
        ) from error
    return OtherLoad(MIX, asked, _checked(mix, asked, machine))


def _has_statistics(machine: Machine) -> bool:
    return machine.lustre.other_reads > 0.0 or machine.lustre.other_writes > 0.0


def _check_usual(scenario: Scenario, machine: Machine, *, own: bool) -> None:
    """Raise InputError if the machine has no usual load, or the job none to be beside."""
    if not _has_statistics(machine):
        raise InputError(
            f"--beside {TYPICAL}: what others do on a usual day of {machine.name} is not known "
            "(lustre.other_reads and lustre.other_writes are 0); right would be nothing, a mix of "
            "jobs, or rates of your own (--set lustre.other_reads=...)"
        )
    if scenario.target.kind != "lustre":
        raise InputError(
            f"--beside {TYPICAL}: the job's files are not on Lustre (target {scenario.target.kind})"
            "; right would be nothing"
        )
    if own:
        raise InputError(
            f"--beside {TYPICAL}: the job has a background of its own; right would be --beside "
            f"{NOTHING}, which leaves it as it is"
        )


def _checked(mix: WorkloadMix, name: str, machine: Machine) -> WorkloadMix:
    """Return a mix, which must be one of the machine."""
    if mix.machine.name != machine.name:
        raise InputError(
            f"--beside {name}: its jobs are those of {mix.machine.name}; right would be a mix of "
            f"{machine.name}"
        )
    return mix
