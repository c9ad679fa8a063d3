"""A discrete-event simulator of the I/O path of Cray XC40 supercomputers.

>>> from sim import Scenario, ior_rows, simulate
>>> scenario = Scenario(
...     machine="theta", nodes=4, ppn=2,
...     striping={"count": 8, "size": "8m"},
...     workload={"ior": "-a POSIX -w -r -b 8m -t 8m"},
... )
>>> result = simulate(scenario)
>>> [row.access.value for row in ior_rows(result)]
['write', 'read']

The names below are imported when they are first used, so that ``import sim`` and the command line
start without waiting for Numba.
"""

from __future__ import annotations

# Until what stands here is imported, an interrupt of the command line ends in a traceback: typing,
# which has this constant, would take milliseconds, and so would what __getattr__ needs.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from sim.config.asked_workload import Workload
    from sim.config.errors import InputError
    from sim.config.jobs import JobsScenario, load_jobs
    from sim.config.machine import Machine, load_machine
    from sim.config.scenario import Placement, Scenario, Target, load_scenario
    from sim.config.striping import StripeRequest
    from sim.config.workload_mix import WorkloadMix, load_mix
    from sim.results.programs.ior_report import ior_report, ior_rows
    from sim.results.saved import load
    from sim.run.jobs import JobsResult, simulate_jobs
    from sim.run.result import Result
    from sim.run.simulate import simulate
    from sim.studies.compare.side_by_side import SideBySide, compare
    from sim.studies.explain.explanation import Explanation, explain
    from sim.studies.plan.plan import Plan, plan
    from sim.studies.plan.plan_faults import MixFaults, plan_faults
    from sim.studies.plan.plan_sensitivity import MixSensitivity, sensitivity
    from sim.studies.sweep.sweep import Sweep, sweep
    from sim.studies.tune.tuning import Tuning, tune
    from sim.workloads.job_script.files import load_job_script
    from sim.workloads.job_script.script import JobScript

__all__ = [
    "Explanation",
    "InputError",
    "JobScript",
    "JobsResult",
    "JobsScenario",
    "Machine",
    "MixFaults",
    "MixSensitivity",
    "Placement",
    "Plan",
    "Result",
    "Scenario",
    "SideBySide",
    "StripeRequest",
    "Sweep",
    "Target",
    "Tuning",
    "Workload",
    "WorkloadMix",
    "compare",
    "explain",
    "ior_report",
    "ior_rows",
    "load",
    "load_job_script",
    "load_jobs",
    "load_machine",
    "load_mix",
    "load_scenario",
    "plan",
    "plan_faults",
    "sensitivity",
    "simulate",
    "simulate_jobs",
    "sweep",
    "tune",
]

_HOMES = {
    "Explanation": "sim.studies.explain.explanation",
    "InputError": "sim.config.errors",
    "JobScript": "sim.workloads.job_script.script",
    "JobsResult": "sim.run.jobs",
    "JobsScenario": "sim.config.jobs",
    "Machine": "sim.config.machine",
    "MixFaults": "sim.studies.plan.plan_faults",
    "MixSensitivity": "sim.studies.plan.plan_sensitivity",
    "Placement": "sim.config.scenario",
    "Plan": "sim.studies.plan.plan",
    "Result": "sim.run.result",
    "Scenario": "sim.config.scenario",
    "SideBySide": "sim.studies.compare.side_by_side",
    "StripeRequest": "sim.config.striping",
    "Sweep": "sim.studies.sweep.sweep",
    "Target": "sim.config.scenario",
    "Tuning": "sim.studies.tune.tuning",
    "Workload": "sim.config.asked_workload",
    "compare": "sim.studies.compare.side_by_side",
    "explain": "sim.studies.explain.explanation",
    "WorkloadMix": "sim.config.workload_mix",
    "ior_report": "sim.results.programs.ior_report",
    "ior_rows": "sim.results.programs.ior_report",
    "load": "sim.results.saved",
    "load_job_script": "sim.workloads.job_script.files",
    "load_jobs": "sim.config.jobs",
    "load_machine": "sim.config.machine",
    "load_mix": "sim.config.workload_mix",
    "load_scenario": "sim.config.scenario",
    "plan": "sim.studies.plan.plan",
    "plan_faults": "sim.studies.plan.plan_faults",
    "sensitivity": "sim.studies.plan.plan_sensitivity",
    "simulate": "sim.run.simulate",
    "simulate_jobs": "sim.run.jobs",
    "sweep": "sim.studies.sweep.sweep",
    "tune": "sim.studies.tune.tuning",
}


def __getattr__(name: str) -> object:
    """Import a public name from its home (PEP 562)."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
