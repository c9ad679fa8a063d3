"""A discrete-event simulator of the I/O path of Cray XC40 supercomputers.

>>> from xc40io import Scenario, ior_rows, simulate
>>> scenario = Scenario(
...     machine="theta", nodes=4, ppn=2,
...     striping={"count": 8, "size": "8m"},
...     workload={"ior": "-a POSIX -w -r -b 8m -t 8m"},
... )
>>> result = simulate(scenario)
>>> [row.access.value for row in ior_rows(result)]
['write', 'read']

The names below are imported when they are first used, so that ``import xc40io`` and the command
line start without waiting for Numba.
"""

from __future__ import annotations

# Until what stands here is imported, an interrupt of the command line ends in a traceback: typing,
# which has this constant, would take milliseconds, and so would what __getattr__ needs.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from xc40io.config.asked_workload import Workload
    from xc40io.config.errors import InputError
    from xc40io.config.jobs import JobsScenario, load_jobs
    from xc40io.config.machine import Machine, load_machine
    from xc40io.config.scenario import Placement, Scenario, Target, load_scenario
    from xc40io.config.striping import StripeRequest
    from xc40io.config.workload_mix import WorkloadMix, load_mix
    from xc40io.results.frames import to_pandas as to_pandas
    from xc40io.results.frames import to_xarray as to_xarray
    from xc40io.results.programs.ior_report import ior_report, ior_rows
    from xc40io.results.saved import load
    from xc40io.run.jobs import JobsResult, simulate_jobs
    from xc40io.run.result import Result
    from xc40io.run.simulate import simulate
    from xc40io.studies.compare.side_by_side import SideBySide, compare
    from xc40io.studies.explain.explanation import Explanation, explain
    from xc40io.studies.plan.plan import Plan, plan
    from xc40io.studies.plan.plan_faults import MixFaults, plan_faults
    from xc40io.studies.plan.plan_sensitivity import MixSensitivity, sensitivity
    from xc40io.studies.sweep.sweep import Sweep, sweep
    from xc40io.studies.tune.tuning import Tuning, tune
    from xc40io.workloads.job_script.files import load_job_script
    from xc40io.workloads.job_script.script import JobScript

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
    "Explanation": "xc40io.studies.explain.explanation",
    "InputError": "xc40io.config.errors",
    "JobScript": "xc40io.workloads.job_script.script",
    "JobsResult": "xc40io.run.jobs",
    "JobsScenario": "xc40io.config.jobs",
    "Machine": "xc40io.config.machine",
    "MixFaults": "xc40io.studies.plan.plan_faults",
    "MixSensitivity": "xc40io.studies.plan.plan_sensitivity",
    "Placement": "xc40io.config.scenario",
    "Plan": "xc40io.studies.plan.plan",
    "Result": "xc40io.run.result",
    "Scenario": "xc40io.config.scenario",
    "SideBySide": "xc40io.studies.compare.side_by_side",
    "StripeRequest": "xc40io.config.striping",
    "Sweep": "xc40io.studies.sweep.sweep",
    "Target": "xc40io.config.scenario",
    "Tuning": "xc40io.studies.tune.tuning",
    "Workload": "xc40io.config.asked_workload",
    "compare": "xc40io.studies.compare.side_by_side",
    "explain": "xc40io.studies.explain.explanation",
    "WorkloadMix": "xc40io.config.workload_mix",
    "ior_report": "xc40io.results.programs.ior_report",
    "ior_rows": "xc40io.results.programs.ior_report",
    "load": "xc40io.results.saved",
    "load_job_script": "xc40io.workloads.job_script.files",
    "load_jobs": "xc40io.config.jobs",
    "load_machine": "xc40io.config.machine",
    "load_mix": "xc40io.config.workload_mix",
    "load_scenario": "xc40io.config.scenario",
    "plan": "xc40io.studies.plan.plan",
    "plan_faults": "xc40io.studies.plan.plan_faults",
    "sensitivity": "xc40io.studies.plan.plan_sensitivity",
    "simulate": "xc40io.run.simulate",
    "simulate_jobs": "xc40io.run.jobs",
    "sweep": "xc40io.studies.sweep.sweep",
    "to_pandas": "xc40io.results.frames",
    "to_xarray": "xc40io.results.frames",
    "tune": "xc40io.studies.tune.tuning",
}


def __getattr__(name: str) -> object:
    """Import a public name from its home (PEP 562)."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def _tell_notebook() -> None:
    """Have a notebook show answers as HTML; do nothing anywhere else."""
    import sys

    if "IPython" in sys.modules:
        shell = sys.modules["IPython"].get_ipython()
        if shell is not None:
            from xc40io.jupyter import show_answers

            show_answers(shell)


_tell_notebook()
