"""The tool ``compare``: a run as it is, and one for each what-if, side by side."""

from __future__ import annotations

from sim.assistant.answers import CompareAnswer, PhaseCompared, SideOfPhase
from sim.assistant.questions import CompareQuestion
from sim.assistant.subject import check_run, scenario_of
from sim.serving.worker import Desk
from sim.studies.compare.side import AS_IT_IS, PhaseOfSide, Side, sides_of, told_apart
from sim.studies.compare.side_by_side import run_side_by_side
from sim.studies.compare.side_by_side_answer import method, side_by_side_answer
from sim.telling.text import text_of


def answer(question: CompareQuestion, desk: Desk) -> CompareAnswer:
    """Compare a run with its what-ifs.

    Raises
    ------
    InputError
        If one of them cannot be, there are too many runs, or one of them is too large.
    """
    desk.limits.check_runs((1 + len(question.what_ifs)) * question.repeat)
    first = Side(AS_IT_IS, scenario_of(question, desk.limits))
    sides = told_apart(sides_of(first, question.what_ifs))
    for side in sides:
        check_run(side.scenario, desk.limits)
    found = run_side_by_side(sides, repeat=question.repeat, jobs=desk.jobs, progress=desk.tell)
    return CompareAnswer(
        summary=text_of(side_by_side_answer(found)),
        method=method(found),
        phases=[
            PhaseCompared(
                job=phase.job,
                part=phase.part,
                phase=phase.name,
                sides=[_side(one) for one in sides],
            )
            for phase, sides in found.phases.items()
        ],
        troubles=list(found.troubles),
    )


def _side(one: PhaseOfSide) -> SideOfPhase:
    return SideOfPhase(
        side=one.name,
        seconds=list(one.seconds),
        bytes=one.bytes,
        times_as_fast=None if one.ratio is None else one.ratio.value,
        low=None if one.ratio is None else one.ratio.low,
        high=None if one.ratio is None else one.ratio.high,
        said=one.said,
    )
