"""The public names of xc40io, each with its home: the only list of them."""

from xc40io.config.asked_workload import Workload as Workload
from xc40io.config.errors import InputError as InputError
from xc40io.config.jobs import JobsScenario as JobsScenario
from xc40io.config.jobs import load_jobs as load_jobs
from xc40io.config.machine import Machine as Machine
from xc40io.config.machine import load_machine as load_machine
from xc40io.config.scenario import Placement as Placement
from xc40io.config.scenario import Scenario as Scenario
from xc40io.config.scenario import Target as Target
from xc40io.config.scenario import load_scenario as load_scenario
from xc40io.config.striping import StripeRequest as StripeRequest
from xc40io.config.workload_mix import WorkloadMix as WorkloadMix
from xc40io.config.workload_mix import load_mix as load_mix
from xc40io.findings.replay_report import ReplayReport as ReplayReport
from xc40io.results.frames import to_pandas as to_pandas
from xc40io.results.frames import to_xarray as to_xarray
from xc40io.results.programs.ior_report import ior_report as ior_report
from xc40io.results.programs.ior_report import ior_rows as ior_rows
from xc40io.results.saved import load as load
from xc40io.run.jobs import JobsResult as JobsResult
from xc40io.run.jobs import simulate_jobs as simulate_jobs
from xc40io.run.result import Result as Result
from xc40io.run.simulate import simulate as simulate
from xc40io.studies.checkpoint.checkpoint import Checkpoint as Checkpoint
from xc40io.studies.checkpoint.checkpoint import checkpoint as checkpoint
from xc40io.studies.compare.side_by_side import SideBySide as SideBySide
from xc40io.studies.compare.side_by_side import compare as compare
from xc40io.studies.explain.explanation import Explanation as Explanation
from xc40io.studies.explain.explanation import explain as explain
from xc40io.studies.log_replay import replay as replay
from xc40io.studies.plan.plan import Plan as Plan
from xc40io.studies.plan.plan import plan as plan
from xc40io.studies.plan.plan_faults import MixFaults as MixFaults
from xc40io.studies.plan.plan_faults import plan_faults as plan_faults
from xc40io.studies.plan.plan_sensitivity import MixSensitivity as MixSensitivity
from xc40io.studies.plan.plan_sensitivity import sensitivity as sensitivity
from xc40io.studies.sweep.sweep import Sweep as Sweep
from xc40io.studies.sweep.sweep import sweep as sweep
from xc40io.studies.tune.tuning import Tuning as Tuning
from xc40io.studies.tune.tuning import tune as tune
from xc40io.workloads.job_script.files import load_job_script as load_job_script
from xc40io.workloads.job_script.script import JobScript as JobScript

__all__: list[str]
