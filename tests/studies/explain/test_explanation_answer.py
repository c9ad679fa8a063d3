"""What an explanation tells: a bar for each run, in the order of who can change what."""

from __future__ import annotations

from dataclasses import replace

import pytest
from matplotlib.figure import Figure

from xc40io import Result, Scenario, simulate
from xc40io.config.jobs import JobsScenario
from xc40io.findings.bottlenecks import loads
from xc40io.results.run_page import run_page
from xc40io.run.jobs import JobsResult, simulate_jobs
from xc40io.studies.advice.knobs import Who
from xc40io.studies.case import Phase
from xc40io.studies.explain.explanation import Explanation, PhaseExplanation, explain
from xc40io.studies.explain.explanation_answer import explanation_answer
from xc40io.studies.explain.trials import TrialRun
from xc40io.telling.drawing import figures
from xc40io.telling.html import render

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
