"""The tool ``explain``: what bounds a run, and what would help."""

from __future__ import annotations

from collections.abc import Sequence

from sim.assistant.answers import ExplainAnswer, OnPath, PhaseExplained, Tried
from sim.assistant.questions import AboutARun
from sim.assistant.subject import scenario_of
from sim.serving.worker import Desk
from sim.studies.explain.explanation import PhaseExplanation, explain
from sim.studies.explain.explanation import Tried as Trial
from sim.studies.explain.explanation_answer import advice, beside, explanation_answer, verdict
from sim.telling.text import text_of

_MOST = 8
"""Runs that are told of a kind of phase, and parts of its critical path."""


def answer(question: AboutARun, desk: Desk) -> ExplainAnswer:
    """Explain a run.

    Raises
    ------
    InputError
        If it cannot be, or is too large.
    """
    scenario = scenario_of(question, desk.limits)
    found = explain(scenario, jobs=desk.jobs, progress=desk.tell)
    return ExplainAnswer(
        summary=text_of(explanation_answer(found)),
        runs=found.runs + 1,
        phases=[_phase(one) for one in found.phases],
        refused=[f"{words}: {reason}" for words, reason in found.refused],
    )


def _phase(one: PhaseExplanation) -> PhaseExplained:
    shares = [] if one.path is None else one.path.shares()[:_MOST]
    return PhaseExplained(
        job=one.phase.job,
        part=one.phase.part,
        phase=one.phase.name,
        seconds=one.seconds,
        verdict=verdict(one),
        advice=advice(one),
        beside=beside(one),
        critical_path=[OnPath(what=s.what, where=s.where, share=s.share) for s in shares],
        without=_tried(one.without),
        changed=_tried(one.changed),
    )


def _tried(trials: Sequence[Trial]) -> list[Tried]:
    return [
        Tried(
            words=one.words,
            typed=one.typed,
            seconds=one.seconds,
            gain=one.gain,
            helps=one.helps,
            who="" if one.kind is None else one.kind.value,
        )
        for one in trials[:_MOST]
    ]
