"""The tool ``tune``: the settings with which a job's I/O takes the least time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sim.assistant.answers import TuneAnswer, Tuned
from sim.assistant.questions import TuneQuestion
from sim.assistant.subject import scenario_of_one_job
from sim.serving.worker import Desk
from sim.studies.sweep.sweep_answer import title_of
from sim.studies.tune.tune_answer import tuning_answer
from sim.studies.tune.tuning import tune
from sim.telling.data import document_of
from sim.telling.text import text_of


def answer(question: TuneQuestion, desk: Desk) -> TuneAnswer:
    """Search for settings; what has been run before is not run again.

    Raises
    ------
    InputError
        If the job cannot be run as it is, it is too large, or nothing can be turned.
    FailureError
        If Optuna is not installed.
    """
    budget = desk.limits.runs if question.budget is None else question.budget
    desk.limits.check_runs(budget)
    scenario = scenario_of_one_job(question, desk.limits)
    found = tune(
        scenario,
        allow=question.allow,
        at_most=question.at_most,
        objective=question.objective,
        budget=budget,
        repeat=question.repeat,
        jobs=desk.jobs,
        progress=_in_all(desk.tell, budget),
    )
    found_out = tuning_answer(f"Tune {title_of(scenario)}", found)
    told = document_of(found_out)
    gain, proposal, off = told["gain"], told["proposal"], told["model_error"]
    return TuneAnswer(
        summary=text_of(found_out),
        already_best=told["already_best"],
        gain=gain["times"],
        low=gain["low"],
        high=gain["high"],
        setstripe=proposal["setstripe"],
        hints=proposal["hints"],
        start=proposal["start"],
        remarks=proposal["remarks"],
        best=_tuned(told["best"]),
        present=_tuned(told["present"]),
        runners_up=[_tuned(one) for one in told["runners_up"]],
        importance=told["importance"],
        gain_within_error=off.get("gain_within"),
    )


def _in_all(tell: Callable[[int, int], None], budget: int) -> Callable[[int, int], None]:
    """Return who is told of each batch of runs, and tells how many there were in all."""
    before = last = 0

    def told(done: int, _: int) -> None:
        nonlocal before, last
        if done < last:  # the next batch
            before += last
        last = done
        tell(min(before + done, budget), budget)

    return told


def _tuned(trial: dict[str, Any]) -> Tuned:
    return Tuned(setting=trial["setting"], seconds=trial["seconds"])
