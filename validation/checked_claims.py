"""Claims checked before anything runs: whether their runs can be, and have what is looked at."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xc40io.config.errors import InputError, naming
from xc40io.config.scenario import Scenario
from xc40io.findings.lustre_counts import MEANINGS
from xc40io.mpi.stats import Timer
from xc40io.plane.causes import Cause
from xc40io.validation.claim import Claim
from xc40io.validation.measure import FUNCTIONS, missing
from xc40io.validation.verdict import judge
from xc40io.workloads.catalogue import workload_of

_NAMES = {
    "stat": ("count", [stat.name.lower() for stat in MEANINGS]),
    "wait": ("cause", [cause.name.lower() for cause in Cause]),
    "timer": ("timer", [timer.name.lower() for timer in Timer if timer]),
}
"""What the first word of a function may be, whatever is run."""

_EXAMPLE = "file creation"


def check_claims(claims: Iterable[Claim], file: str) -> None:
    """Raise InputError unless the runs of all claims can be made, and their metrics read off them.

    What a kernel or a replay calls its phases, only the run can tell.

    Parameters
    ----------
    claims
        As they are going to be run.
    file
        Where they stand.
    """
    from xc40io.run.described import check_described

    for claim in claims:
        place = f"{file}: claim {claim.id}"
        if claim.machine is not None:
            with naming(file):
                judge(claim, {})  # costs no run
        for run, scenario in claim.runs.items():
            check_described(scenario, f"{place}: run {run}")
        if claim.runs and claim.metric is not None:
            with naming(f"{place}: metric = {claim.metric.text}"):
                _check_metric(claim)


def _check_metric(claim: Claim) -> None:
    """Raise InputError if a metric asks a run for what it will not have."""
    metric = claim.metric
    assert metric is not None

    def look(function: str, run: str, words: tuple[str, ...]) -> float:
        _check_look(claim.runs[run], run, function, words)
        return 1.0

    for each in claim.names if metric.of_each else ("",):
        metric.value(look, each)


def _check_look(scenario: Scenario, run: str, function: str, words: Sequence[str]) -> None:
    """Raise InputError if a run will not have what a function looks at."""
    if function in _NAMES:
        noun, names = _NAMES[function]
        if words[0].lower() not in names:
            raise InputError(missing(noun, words[0], names))
    if scenario.workload.options.get("trace"):
        return  # long to open
    workload = workload_of(scenario.workload)
    phases, looked = workload.phase_names(), FUNCTIONS[function]
    if not phases:
        return
    if looked.of_mpi and not any(one.over_mpi for one in workload.traits(scenario).phases):
        raise InputError(
            f"MPI-IO takes no part in the run {run}; right would be one that goes through it (IOR: "
            "-a MPIIO), or another metric"
        )
    phase = looked.phase_of(words)
    if phase and phase not in phases:
        raise InputError(f"{missing('phase', phase, phases)}; {_right(function, run, phases)}")


def _right(function: str, run: str, phases: Sequence[str]) -> str:
    """Say what would look at a phase that the run has."""
    phase = _EXAMPLE if _EXAMPLE in phases else phases[0]
    if FUNCTIONS[function].phase and phase in FUNCTIONS:
        return f"right would be {phase}({run})"
    named = "operations" if FUNCTIONS[function].phase else function
    return f"right would be {named}({run}, {phase})"
