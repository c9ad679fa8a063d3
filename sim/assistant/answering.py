"""How each tool is answered: from its arguments to a scenario, its runs, and what they tell."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from xc40io.assistant.answers import ANSWERS, SUMMARY, told
from xc40io.assistant.questions import (
    COMMANDS,
    AboutARun,
    CompareQuestion,
    LogQuestion,
    MachineQuestion,
    SweepQuestion,
    TuneQuestion,
)
from xc40io.config.errors import InputError, naming, nearest
from xc40io.config.faults import parse_fault
from xc40io.config.files import may_open, parse_mapping, shipped
from xc40io.config.job_form import ASKED, JOB, AskedJob, in_scenario
from xc40io.config.jobs import JobsScenario, load_jobs, parse_jobs
from xc40io.config.machine import load_machine
from xc40io.config.scenario import Scenario
from xc40io.results.machine_text import format_machine
from xc40io.results.replay_answer import replay_answer
from xc40io.run.fabric import fabric_of
from xc40io.serving.question_limits import Limits
from xc40io.serving.worker import Desk
from xc40io.studies.case import Case
from xc40io.studies.compare.side import AS_IT_IS, Side, sides_of, told_apart
from xc40io.studies.compare.side_by_side import run_side_by_side
from xc40io.studies.compare.side_by_side_answer import side_by_side_answer
from xc40io.studies.explain.explanation import explain as explain_run
from xc40io.studies.explain.explanation_answer import explanation_answer
from xc40io.studies.log_replay import LogReplay
from xc40io.studies.logs.diagnosis import diagnose as diagnosed
from xc40io.studies.logs.diagnosis_answer import diagnosis_answer
from xc40io.studies.run_answer import run_answer
from xc40io.studies.sweep.sweep import sweep as run_sweep
from xc40io.studies.sweep.sweep_answer import sweep_answer, title_of
from xc40io.studies.tune.tune_answer import tuning_answer
from xc40io.studies.tune.tuning import tune as search
from xc40io.telling.data import record
from xc40io.workloads.catalogue import workload_of

_PLACE = "scenario"


def warm() -> None:
    """Make a tiny run, so that the first that is asked for finds all code loaded."""
    tiny = AboutARun.model_validate({"ior": "-w -b 1m -t 1m", "nodes": 1, "ppn": 1})
    Case(scenario_of(tiny, Limits())).run()


def simulate(question: AboutARun, desk: Desk) -> dict[str, Any]:
    """Make a run and tell what came of each kind of phase.

    Raises
    ------
    InputError
        If it cannot be, or is too large: as all below.
    """
    scenario = scenario_of(question, desk.limits)
    return told("simulate", run_answer(scenario, Case(scenario).run()))


def explain(question: AboutARun, desk: Desk) -> dict[str, Any]:
    """Tell what bounds a run, and what would help."""
    scenario = scenario_of(question, desk.limits)
    found = explain_run(scenario, jobs=desk.jobs, progress=desk.tell)
    return told("explain", explanation_answer(found, why=True))


def sweep(question: SweepQuestion, desk: Desk) -> dict[str, Any]:
    """Run all combinations of some values; what has been run before is not run again."""
    done = run_sweep(
        scenario_of_one_job(question, desk.limits),
        question.over,
        repeat=question.repeat,
        sample=question.sample,
        jobs=desk.jobs,
        progress=desk.tell,
        most=desk.limits.runs,
        check=lambda made: check_run(made, desk.limits),
    )
    return told("sweep", sweep_answer("Sweep", done))


def compare(question: CompareQuestion, desk: Desk) -> dict[str, Any]:
    """Run a job as it is, and with each what-if, side by side."""
    desk.limits.check_runs((1 + len(question.what_ifs)) * question.repeat)
    first = Side(AS_IT_IS, scenario_of(question, desk.limits))
    sides = told_apart(sides_of(first, question.what_ifs))
    for side in sides:
        check_run(side.scenario, desk.limits)
    found = run_side_by_side(sides, repeat=question.repeat, jobs=desk.jobs, progress=desk.tell)
    return told("compare", side_by_side_answer(found))


def tune(question: TuneQuestion, desk: Desk) -> dict[str, Any]:
    """Search for the settings of a job; what has been run before is not run again.

    Raises
    ------
    FailureError
        If Optuna is not installed.
    """
    budget = desk.limits.runs if question.budget is None else question.budget
    desk.limits.check_runs(budget)
    scenario = scenario_of_one_job(question, desk.limits)
    found = search(
        scenario,
        allow=question.allow,
        at_most=question.at_most,
        objective=question.objective,
        budget=budget,
        repeat=question.repeat,
        jobs=desk.jobs,
        progress=desk.tell,
    )
    return told("tune", tuning_answer(f"Tune {title_of(scenario)}", found))


def diagnose(question: LogQuestion, desk: Desk) -> dict[str, Any]:
    """Tell the findings in the I/O of a logged job, and what would have helped."""
    found = diagnosed(
        _log_of(question),
        recorded=question.recorded,
        jobs=desk.jobs,
        progress=desk.tell,
        check=lambda made: check_run(made, desk.limits),
    )
    return told("diagnose", diagnosis_answer(found))


def replay(question: LogQuestion, desk: Desk) -> dict[str, Any]:
    """Tell what a logged job did, by its log and simulated."""
    path = _log_of(question)
    replayed = LogReplay.of(path, "think", (), AskedJob.of_log(), question.recorded)
    check_run(replayed.scenario(), desk.limits)
    return told("replay", replay_answer(replayed.run()))


def _log_of(question: LogQuestion) -> str:
    """Return the path of a log that may be opened."""
    if not may_open(question.log):
        raise InputError(
            f"log: {question.log!r} may not be opened; right would be a log in a folder that "
            "xc40io mcp --logs DIR opens"
        )
    return question.log


def machine(question: MachineQuestion, desk: Desk) -> dict[str, Any]:  # noqa: ARG001 - as all others
    """Tell what a machine consists of."""
    found = load_machine(question.name)
    if question.changes:
        found = found.with_changes(question.changes)
    answer = {SUMMARY.name: format_machine(found, fabric_of(found))}
    answer |= record(ANSWERS["machine"], found)
    return answer if question.values else answer | {"values": []}


def scenario_of(question: AboutARun, limits: Limits) -> Scenario | JobsScenario:
    """Return the scenario that a tool is asked about.

    Raises
    ------
    InputError
        If there is none, if it is not of its form, or larger than a run may be.
    """
    limits.check_sent({_PLACE: question.scenario, **question.commands})
    if (question.scenario is not None) + len(question.commands) != 1:
        names = ", ".join((_PLACE, *COMMANDS))
        raise InputError(f"{names}: right would be one of them, a scenario or a command line")
    found = _of_command(question) if question.commands else _of_scenario(question)
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


def cost(question: AboutARun | LogQuestion, limits: Limits) -> float:
    """Return about how much work a run is that a tool is asked about: its RPCs and ranks.

    Raises
    ------
    InputError
        As :func:`scenario_of`.
    """
    if isinstance(question, LogQuestion):  # not read here, where all calls come by
        path = Path(_log_of(question))
        return float(path.stat().st_size) if path.is_file() else 0.0
    return limits.cost(Case(scenario_of(question, limits)))


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


def _of_command(question: AboutARun) -> Scenario:
    """Return the scenario of a program's command line and of what stands beside it."""
    ((program, words),) = question.commands.items()
    if not words.strip():
        example = COMMANDS[program].example
        raise InputError(f"{program}: there is no option; right would be {example}")
    asked = {name: getattr(question, name) for name in ASKED}
    job = {name: JOB[name].default if one is None else one for name, one in asked.items()}
    found = parse_jobs({**in_scenario(job), "workload": {program: words}}, program)
    assert isinstance(found, Scenario)  # it lists no jobs
    return found


def _of_scenario(question: AboutARun) -> Scenario | JobsScenario:
    """Return a scenario that ships, or that was sent."""
    for name in ASKED:
        if getattr(question, name) is not None:
            raise InputError(
                f"{name} beside scenario: what describes the job stands in the scenario; right "
                "would be a command line, changes, or a scenario written out"
            )
    asked = question.scenario
    assert asked is not None
    if isinstance(asked, dict):
        return parse_jobs(asked, _PLACE)
    known = shipped("scenarios")
    if asked in known:
        return load_jobs(asked)
    if ":" in asked:  # as in every mapping
        return parse_jobs(parse_mapping(asked, _PLACE), _PLACE)
    raise InputError(
        f"{_PLACE}: {asked!r} is none of those that ship ({', '.join(known)}); right would be one "
        f"of them, or a whole scenario{nearest(asked, known)}"
    )
