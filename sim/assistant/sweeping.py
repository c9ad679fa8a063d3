"""The tool ``sweep``: a run with all combinations of some values."""

from __future__ import annotations

from collections.abc import Iterator

from sim.assistant.answers import NotRun, PointOfSweep, SweepAnswer
from sim.assistant.questions import SweepQuestion
from sim.assistant.subject import check_run, scenario_of_one_job
from sim.serving.worker import Desk
from sim.studies.sweep.points import Point
from sim.studies.sweep.sweep import sweep
from sim.studies.sweep.sweep_answer import sweep_answer
from sim.telling.text import text_of


def answer(question: SweepQuestion, desk: Desk) -> SweepAnswer:
    """Run a sweep; what has been run before is not run again.

    Raises
    ------
    InputError
        If a value cannot be, there are too many runs, or one of them is too large.
    """
    done = sweep(
        scenario_of_one_job(question, desk.limits),
        question.over,
        repeat=question.repeat,
        sample=question.sample,
        jobs=desk.jobs,
        progress=desk.tell,
        most=desk.limits.runs,
        check=lambda made: check_run(made, desk.limits),
    )
    return SweepAnswer(
        summary=text_of(sweep_answer("Sweep", done)),
        seeds=list(done.seeds),
        points=[one for point in done.points for one in _phases(point)],
        failures=[
            NotRun(values=dict(values), seed=seed, reason=reason)
            for values, seed, reason in done.failures()
        ],
    )


def _phases(point: Point) -> Iterator[PointOfSweep]:
    """Yield what came of the kinds of phases of a point."""
    for name in dict.fromkeys(name for totals in point.totals for name in totals):
        first = next(totals[name] for totals in point.totals if name in totals)
        yield PointOfSweep(
            values=dict(point.values),
            phase=name,
            bandwidth=point.measured(name, lambda total: total.bandwidth),
            seconds=point.measured(name, lambda total: total.seconds),
            station=first.station,
            busy=first.busy,
            wait=first.wait,
        )
