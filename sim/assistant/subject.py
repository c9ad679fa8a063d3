"""From the arguments of a tool to the scenario that it is about."""

from __future__ import annotations

from typing import Any

from sim.assistant.questions import AboutARun
from sim.config.errors import InputError, naming
from sim.config.faults import parse_fault
from sim.config.files import nearest, parse_mapping, shipped
from sim.config.job_form import ASKED, JOB, in_scenario
from sim.config.jobs import JobsScenario, load_jobs, parse_jobs
from sim.config.scenario import Scenario
from sim.serving.question_limits import Limits
from sim.studies.case import Case
from sim.workloads.catalogue import workload_of

_PLACE = "scenario"


def scenario_of(question: AboutARun, limits: Limits) -> Scenario | JobsScenario:
    """Return the scenario that a tool is asked about.

    Raises
    ------
    InputError
        If there is none, if it is not of its form, or larger than a run may be.
    """
    if (question.scenario is None) == (question.ior is None):
        raise InputError(
            "scenario and ior: right would be one of them, a scenario or an IOR command line"
        )
    found = _of_ior(question) if question.ior is not None else _of_scenario(question, limits)
    with naming("faults"):
        faults = tuple(map(parse_fault, question.faults))
    updates: dict[str, Any] = {
        "changes": {**found.changes, **question.changes},
        "faults": found.faults + faults,
    }
    if question.seed is not None:
        updates["seed"] = question.seed
    found = found.model_copy(update=updates)
    check_run(found, limits)
    return found


def scenario_of_one_job(question: AboutARun, limits: Limits) -> Scenario:
    """Return the scenario that a tool is asked about, which must be of one job.

    Raises
    ------
    InputError
        As :func:`scenario_of`, and if it is of several jobs.
    """
    found = scenario_of(question, limits)
    if isinstance(found, JobsScenario):
        raise InputError(f"{_PLACE}: it has several jobs; right would be one of a single job here")
    return found


def check_run(scenario: Scenario | JobsScenario, limits: Limits) -> None:
    """Raise InputError if a run would be too large, or would write a file."""
    case = Case(scenario)
    limits.check_size(case)
    for job in case.jobs():
        for path, option in workload_of(job.workload).output_files():
            raise InputError(
                f"{option}={path}: no file is written for an assistant; right would be to leave it "
                "out, the answer has the figures"
            )


def _of_ior(question: AboutARun) -> Scenario:
    """Return the scenario of an IOR command line and of what stands beside it."""
    if not question.ior or not question.ior.strip():
        raise InputError("ior: there is no option; right would be -a POSIX -w -r -b 8m -t 8m")
    asked = {name: getattr(question, name) for name in ASKED}
    job = {name: JOB[name].default if one is None else one for name, one in asked.items()}
    found = parse_jobs({**in_scenario(job), "workload": {"ior": question.ior}}, "ior")
    assert isinstance(found, Scenario)  # it lists no jobs
    return found


def _of_scenario(question: AboutARun, limits: Limits) -> Scenario | JobsScenario:
    """Return a scenario that ships, or that was sent."""
    for name in ASKED:
        if getattr(question, name) is not None:
            raise InputError(
                f"{name} beside scenario: what describes the job stands in the scenario; right "
                "would be ior, changes, or a scenario written out"
            )
    asked = question.scenario
    assert asked is not None
    if isinstance(asked, dict):
        return parse_jobs(asked, _PLACE)
    limits.check_text(asked)
    known = shipped("scenarios")
    if asked in known:
        return load_jobs(asked)
    if ":" in asked:  # as in every mapping
        return parse_jobs(parse_mapping(asked, _PLACE), _PLACE)
    raise InputError(
        f"{_PLACE}: {asked!r} is none of those that ship ({', '.join(known)}); right would be one "
        f"of them, or a whole scenario{nearest(asked, known)}"
    )
