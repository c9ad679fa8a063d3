"""The tool ``simulate``: one run."""

from __future__ import annotations

from sim.assistant.answers import PhaseOfRun, SimulateAnswer, Wait
from sim.assistant.questions import AboutARun
from sim.assistant.subject import scenario_of
from sim.config.units import GB, format_seconds
from sim.findings.bottlenecks import Load
from sim.serving.worker import Desk
from sim.studies.case import Case, Phase
from sim.studies.measurement import Measurement, measured

_WAITS = 8
_WORTH_TELLING = 0.005  # share of the time


def answer(question: AboutARun, desk: Desk) -> SimulateAnswer:
    """Make a run and tell what came of each kind of phase.

    Raises
    ------
    InputError
        If it cannot be, or is too large.
    """
    scenario = scenario_of(question, desk.limits)
    case = Case(scenario)
    results = case.run()
    found = measured(results)
    notes = list(dict.fromkeys(note for one in results.values() for note in one.notes))
    ranks = sum(one.scenario.nodes * one.scenario.ppn for one in results.values())
    machine = case.machine.name
    head = f"On {machine}, {ranks:,} ranks, seed {scenario.seed}; GB = 10^9 bytes."
    several = len({phase.part for phase in found.phases}) > 1
    told = [_sentence(phase, one, several=several) for phase, one in found.phases.items()]
    return SimulateAnswer(
        summary="\n".join([head, *told, *found.troubles]),
        machine=machine,
        ranks=ranks,
        seed=scenario.seed,
        phases=[_phase(phase, one) for phase, one in found.phases.items()],
        notes=notes,
        troubles=list(found.troubles),
    )


def _phase(phase: Phase, one: Measurement) -> PhaseOfRun:
    load = one.load
    return PhaseOfRun(
        job=phase.job,
        part=phase.part,
        phase=phase.name,
        seconds=one.seconds,
        bytes=one.bytes,
        bandwidth=one.bytes / one.seconds if one.bytes else None,
        verdict="" if load is None else load.sentence(),
        next_step="" if load is None else load.next_step,
        waits=[] if load is None else _waits(load),
        osts=one.osts,
    )


def _waits(load: Load) -> list[Wait]:
    return [
        Wait(cause=wait.cause, words=wait.words, share=wait.share)
        for wait in load.waits[:_WAITS]
        if wait.share >= _WORTH_TELLING
    ]


def _sentence(phase: Phase, one: Measurement, *, several: bool) -> str:
    """Say what came of a kind of phase."""
    title = phase.title(several=several)
    rate = f", {one.bytes / one.seconds / GB:,.4g} GB/s" if one.bytes else ""
    bound = "" if one.load is None else f", {one.load.sentence()}"
    return f"{title[:1].upper()}{title[1:]}: {format_seconds(one.seconds, 4)}{rate}{bound}"
