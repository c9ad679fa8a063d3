"""What the pictures of a run are of: one job, or several on one machine."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from xc40io.config.asked_workload import Workload as AskedWorkload
from xc40io.config.jobs import JobsScenario
from xc40io.config.scenario import Scenario
from xc40io.findings.bottlenecks import Windows
from xc40io.run.jobs import JobsResult
from xc40io.run.result import Result
from xc40io.topology.text import format_count
from xc40io.workloads.job_results import phase_title

_LANES = 8
_PROGRAMS = {"ior": "IOR", "io500": "IO500"}  # as they call themselves
_LETTERS = 125  # of a line over the whole width of a figure


class Lane(NamedTuple):
    """When the ranks did one thing, each period in simulated seconds."""

    name: str
    windows: Windows


@dataclass(frozen=True, eq=False, kw_only=True)
class Scene:
    """What is drawn."""

    result: Result  # the run; of several jobs any: what the machine did is the same in all of them
    end: float  # when the last job ended, in simulated seconds
    lanes: tuple[Lane, ...]  # what the ranks did when
    setup: str  # what was run, in one line


def scene_of(result: Result) -> Scene:
    """Return the scene of a run of one job."""
    return Scene(
        result=result,
        end=result.started + result.simulated,
        lanes=tuple(few(lanes_of(result))),
        setup=setup_of(result.scenario),
    )


def scene_of_jobs(jobs: JobsResult) -> Scene:
    """Return the scene of several jobs; each lane is of one of them."""
    lanes = [
        Lane(f"{outcome.job.name}: {lane.name}", lane.windows)
        for outcome in jobs.jobs
        for lane in lanes_of(outcome.result)
    ]
    names = [outcome.job.name for outcome in jobs.jobs]
    return Scene(
        result=jobs.whole,
        end=jobs.simulated,
        lanes=tuple(few(lanes)),
        setup=setup_of_jobs(jobs.scenario, jobs.machine.name, names),
    )


def lanes_of(result: Result) -> list[Lane]:
    """Return the activities of a job's ranks over time, in the order in which they began."""
    several = len({activity.part for activity in result.activities}) > 1
    return [
        Lane(
            phase_title(activity.part, activity.name, several=several),
            [(stretch.start, stretch.end) for stretch in activity.stretches],
        )
        for activity in result.activities
    ]


def few(lanes: Sequence[Lane]) -> Iterable[Lane]:
    """Return the first lanes as they are, and what would be too many as one."""
    if len(lanes) <= _LANES:
        return lanes
    rest = lanes[_LANES - 1 :]
    windows = [window for lane in rest for window in lane.windows]
    return [*lanes[: _LANES - 1], Lane(f"{len(rest)} others", sorted(windows))]


def setup_of(scenario: Scenario) -> str:
    """Say in a line what was run."""
    where = f"{format_count(scenario.nodes, 'node')} x {format_count(scenario.ppn, 'rank')}"
    what = scenario.title or program_words(scenario.workload)
    return _line(f"{scenario.machine}: {where}, seed {scenario.seed}; {what}")


def program_words(workload: AskedWorkload) -> str:
    """Say what program runs, without its options: ``IOR``, ``kernel vpic-io``."""
    name = workload.options.get("name")
    program = _PROGRAMS.get(workload.program, workload.program)
    return f"{program} {name}" if name else program


def setup_of_jobs(scenario: JobsScenario, machine: str, names: Sequence[str]) -> str:
    """Say in a line what was run: several jobs of these names on a machine."""
    count = format_count(len(names), "job")
    title = scenario.title or ", ".join(names)
    return _line(f"{machine}: {count}, seed {scenario.seed}; {title}")


def _line(text: str) -> str:
    return textwrap.shorten(text, _LETTERS, placeholder=" ...")
