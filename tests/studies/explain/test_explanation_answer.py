"""What an explanation tells: a bar for each run, in the order of who can change what."""

from __future__ import annotations

from dataclasses import replace

import pytest
from matplotlib.figure import Figure

from xc40io import Result, Scenario, simulate
from xc40io.config.jobs import JobsScenario
from xc40io.findings.bottlenecks import loads
from xc40io.findings.critical_path import CriticalPath, Segment
from xc40io.findings.waits import WORDS, Wait
from xc40io.plane.causes import Cause
from xc40io.results.run_page import run_page
from xc40io.run.jobs import JobsResult, simulate_jobs
from xc40io.studies.advice.knobs import Who
from xc40io.studies.case import Phase
from xc40io.studies.explain.explanation import Explanation, PhaseExplanation, explain
from xc40io.studies.explain.explanation_answer import explanation_answer, verdict
from xc40io.studies.explain.ideals import PARTS
from xc40io.studies.explain.trials import TrialRun
from xc40io.telling.drawing import figures
from xc40io.telling.html import render
from xc40io.telling.text import text_of

IOR = {"ior": "-w -e -b 1m -t 1m"}
SCENARIO = Scenario(machine="theta", nodes=1, ppn=1, workload=IOR)


def tried(words: str, gain: float, kind: Who | None = None) -> TrialRun:
    return TrialRun(words, "", 1.0 / gain, gain, kind)


def explanation(*runs: TrialRun) -> Explanation:
    """An explanation of a real run, with invented runs beside it."""
    result = simulate(SCENARIO)
    (load,) = loads(result)
    parts = tuple(run for run in runs if run.kind is None)
    changes = tuple(run for run in runs if run.kind is not None)
    phase = PhaseExplanation(Phase("", 0, load.access), load, None, 1.0, parts, changes)
    return Explanation(SCENARIO, {"": result}, (phase,), len(runs), ())


def drawn(*runs: TrialRun) -> Figure:
    ((name, figure),) = figures(explanation_answer(explanation(*runs)))
    assert name == "gains-0"
    return figure


def test_a_bar_reaches_from_one_to_the_gain() -> None:
    runs = [
        tried("the disks", 2.5),
        tried("8 stripes", 1.5, Who.SETTINGS),
        tried("files of their own", 0.5, Who.PROGRAM),
        tried("more OSTs", 1.25, Who.MACHINE),
    ]
    (axes,) = drawn(*runs).axes
    bars = [patch for patch in axes.patches if patch.get_height() == pytest.approx(0.66)]
    assert [bar.get_x() for bar in bars] == [1.0] * 4
    assert [1.0 + bar.get_width() for bar in bars] == [run.gain for run in runs]
    assert len({bar.get_facecolor() for bar in bars}) == 4
    words = [label.get_text() for label in axes.get_yticklabels()]
    assert words == ["without the disks", *(f"with {run.words}" for run in runs[1:])]
    assert "2.50" in [text.get_text() for text in axes.texts]
    low, high = axes.get_xlim()
    assert low < 0.5
    assert high > 2.5


def test_gains_far_apart_have_plain_ticks_on_a_logarithmic_axis() -> None:
    figure = drawn(tried("the disks", 400.0), tried("8 stripes", 1.0, Who.SETTINGS))
    (axes,) = figure.axes
    assert axes.get_xscale() == "log"
    figure.canvas.draw()
    assert [label.get_text() for label in axes.get_xticklabels()][:4] == ["1", "2", "5", "10"]


def test_nothing_that_was_tried_has_no_picture() -> None:
    assert list(figures(explanation_answer(explanation()))) == []


def test_the_best_of_each_kind_are_shown() -> None:
    runs = [tried(f"{count} stripes", 9.0 - count, Who.SETTINGS) for count in range(8)]
    (axes,) = drawn(*runs).axes
    words = [label.get_text() for label in axes.get_yticklabels()]
    assert words == [f"with {count} stripes" for count in range(5)]


def test_the_run_that_is_drawn_is_the_one_that_was_explained_and_recorded() -> None:
    job = {"nodes": 1, "ppn": 1, "workload": IOR}
    jobs = [job | {"name": name} for name in ("one", "two")]
    scenario = JobsScenario.model_validate({"machine": "theta", "jobs": jobs})
    about = replace(explanation(), scenario=scenario)
    together, run = simulate_jobs(scenario, alone=False), about.recorded_run()
    assert isinstance(run, JobsResult)
    assert [outcome.end for outcome in run.jobs] == [outcome.end for outcome in together.jobs]
    assert all(outcome.result.recording is not None for outcome in run.jobs)
    single = explain(SCENARIO, jobs=1).recorded_run()
    assert isinstance(single, Result)
    assert single.recording is not None
    assert single.events == explanation().results[""].events


@pytest.mark.slow
def test_a_page_of_what_was_tried_does_not_say_how_to_try_it() -> None:
    striking = Scenario(
        machine="theta", nodes=4, ppn=2, workload={"ior": "-w -e -b 47008 -t 47008 -s 40"}
    )
    run = simulate(striking, record=True)
    typed = "xc40io explain mine.yaml"
    told = render(explanation_answer(Explanation(striking, {"": run}, (), 0, ()), typed, run))
    assert "Remedies that could be tried stand above" in told
    assert "xc40io explain scenario.yaml" not in told
    assert "xc40io explain scenario.yaml" in render(run_page(run))


def waits(cause: Cause, path: str, *parts: tuple[str, float]) -> str:
    """The verdict where ranks wait longest for something, and most of the path is something."""
    phase = explanation().phases[0]
    wait = Wait(cause.name.lower(), WORDS[cause], 0.4, 0.4)
    without = tuple(
        TrialRun(part.words, "", 1.0 / gain, gain, key=part.key)
        for key, gain in parts
        for part in PARTS
        if part.key == key
    )
    return verdict(
        replace(
            phase,
            load=replace(phase.load, waits=(wait,)),
            path=CriticalPath(0.0, 1.0, (Segment(0.0, 1.0, "OST 3", path),)),
            without=without,
        )
    )


def test_a_verdict_says_why_the_longest_wait_is_not_what_binds() -> None:
    tree, copying = WORDS[Cause.TREE], WORDS[Cause.COPY]
    assert waits(Cause.LOCK_USE, WORDS[Cause.LOCK_USE], ("locks", 1.5)).endswith("times as fast.")
    assert (
        f"Ranks wait longest for {tree} (40 %) and most of its critical path is that (100 %), but "
        "without the lock of a file's tree of cached pages, it is no faster: another wait takes "
        "its place."
    ) in waits(Cause.TREE, tree, ("locks", 1.5), ("tree", 1.0))
    both = waits(Cause.TREE, copying, ("locks", 1.5), ("copies", 1.2))
    assert f"Ranks wait longest for {tree} (40 %), but no run can leave that out." in both
    assert (
        f"Most of its critical path is {copying} (100 %), but that brings less: without copies "
        "into and out of the page cache, it is 1.20 times as fast."
    ) in both
    others = waits(Cause.MUTEX, WORDS[Cause.LOCK_USE], ("locks", 1.5))
    assert (
        f"Ranks wait longest for {WORDS[Cause.MUTEX]} (40 %), but that is a wait for other ranks."
        in (others)
    )


def test_a_part_that_does_not_bind_contradicts_nothing() -> None:
    assert "Ranks wait longest" not in waits(Cause.TREE, WORDS[Cause.COPY], ("locks", 1.05))


def test_text_is_short_and_has_all_reasons_if_they_are_asked_for() -> None:
    helping = [
        replace(tried(f"{count} stripes", 9.0 - count, Who.SETTINGS), advised=True)
        for count in range(5)
    ]
    told = explanation(tried("the disks", 2.5), tried("seeks", 1.0), *helping)
    short, full = (text_of(explanation_answer(told, why=why)) for why in (False, True))
    assert short.splitlines()[0] == full.splitlines()[0]
    assert "bound by the disks: without that, 2.50 times as fast" in " ".join(short.split())
    assert "2.50 x  without the disks" in short
    assert "8.00 x  with 1 stripes" in short
    assert "9.00 x  with 0 stripes" not in short, "it stands on top"
    assert "With --why: all reasons" in short
    for only in ("without seeks", "with 0 stripes", "with 4 stripes", "Ranks waited for"):
        assert only in full
        assert only not in short
    assert len(short.splitlines()) <= 20
