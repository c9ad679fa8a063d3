"""What notebooks show: a line, and a short answer as HTML."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import pytest
from darshan_logs import posix_writes, write_log
from IPython.core.formatters import HTMLFormatter

import xc40io
from xc40io.jupyter import show_answers
from xc40io.telling.answer import Answer, Picture, Points, Section, Text
from xc40io.telling.html import notebook_html

JOB: dict[str, Any] = {
    "machine": "theta",
    "nodes": 1,
    "ppn": 2,
    "workload": {"ior": "-a POSIX -F -w -b 2m -t 1m"},
}
MIX = {"machine": "theta", "jobs": [{"name": "own", **JOB}]}


@pytest.fixture(scope="module")
def formatter() -> HTMLFormatter:
    made = HTMLFormatter()
    show_answers(SimpleNamespace(display_formatter=SimpleNamespace(formatters={"text/html": made})))
    return made


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    from xc40io.config.workload_mix import read_mix

    scenario = xc40io.Scenario(**JOB)
    jobs = {"machine": "theta", "jobs": [{"name": "a", **JOB}, {"name": "b", **JOB}]}
    for job in jobs["jobs"]:
        job.pop("machine")
    (job,) = MIX["jobs"]
    mix = read_mix({**MIX, "jobs": [{n: v for n, v in job.items() if n != "machine"}]}, "mix")
    log = tmp_path_factory.mktemp("logs") / "own.darshan"
    kept: dict[str, Any] = {"jobs": 1, "store": tmp_path_factory.mktemp("store")}
    return {
        "machine": xc40io.load_machine("theta"),
        "result": xc40io.simulate(scenario),
        "jobs": xc40io.simulate_jobs(xc40io.JobsScenario.model_validate(jobs), alone=False),
        "sides": xc40io.compare(scenario, ["nodes=2"], jobs=1),
        "sweep": xc40io.sweep(scenario, {"nodes": [1, 2]}, **kept),
        "explanation": xc40io.explain(scenario, jobs=1),
        "tuning": xc40io.tune(scenario, budget=3, **kept),
        "plan": xc40io.plan(mix, {"lustre.osts": [56, 112]}, **kept),
        "replay": xc40io.replay(str(write_log(log, POSIX=[posix_writes(0, 4, 2**20)]))),
        "faults": xc40io.plan_faults(mix, ["OST slow 2"], numbers=[0, 1], **kept),
    }


LINES = {
    "machine": r"<Machine theta: 4,392 nodes, 30 LNET routers, 56 OSTs>",
    "result": r"<Result of 'ior -a POSIX -F -w -b 2m -t 1m' on 1 node of theta: \S+ m?s simulated>",
    "jobs": r"<JobsResult of 2 jobs on theta: \S+ m?s simulated>",
    "sides": r"<SideBySide of 'as it is', 'nodes=2'>",
    "sweep": r"<Sweep over nodes: 2 points, seed 1>",
    "explanation": r"<Explanation of 1 phase from \d+ more runs>",
    "tuning": r"<Tuning: (\S+ times as fast with the best|nothing) of \d+ settings.*>",
    "plan": r"<Plan for 'A mix of jobs on theta': 2 configurations>",
    "faults": r"<MixFaults of 'A mix of jobs on theta': OST slow 2>",
}

WORDS = {
    "machine": "12 groups",
    "result": "What bound it",
    "jobs": "slow-down",
    "sides": "What bound each",
    "sweep": "Fastest write",
    "explanation": "Why, and what would help",
    "tuning": "The best",
    "plan": "lustre.osts=112",
    "faults": "OST slow 2",
    "replay": "Replayed on theta",
}


@pytest.mark.parametrize("name", LINES)
def test_a_line_says_what_it_is(shown: dict[str, Any], name: str) -> None:
    assert re.fullmatch(LINES[name], repr(shown[name])), repr(shown[name])


@pytest.mark.parametrize("name", WORDS)
def test_below_a_cell_stands_a_short_answer(
    shown: dict[str, Any], formatter: HTMLFormatter, name: str
) -> None:
    html = formatter(shown[name])
    assert html.startswith('<div class="xc40io-answer">')
    assert html.count("<div") == html.count("</div>")
    assert WORDS[name] in html
    assert "<svg" not in html
    assert "To run it again" not in html
    assert len(html) < 40_000


def test_a_mix_is_told_in_a_line() -> None:
    mix = xc40io.load_mix("theta-mix")
    assert repr(mix) == (
        "<WorkloadMix on theta: own-files, shared-file, collective, collective-read>"
    )
    assert str(mix) == repr(mix)


def test_other_things_are_shown_as_ever(formatter: HTMLFormatter) -> None:
    assert formatter(3) is None


def test_pictures_are_left_out_with_the_sections_that_have_nothing_else() -> None:
    def draw() -> Any:
        raise AssertionError("nobody sees it")

    answer = Answer(
        title="<one>",
        setup="",
        blocks=[
            Section("pictures", "Pictures", [Picture("p", draw)]),
            Section("words", "Words", [Picture("q", draw), Text("told")]),
            Section("again", "To run it again", [Text("not told")]),
            Points(["a point"]),
        ],
    )
    html = notebook_html(answer)
    assert "&lt;one&gt;" in html
    assert "Pictures" not in html
    assert "not told" not in html
    assert "told" in html
    assert "a point" in html


def test_a_wrong_field_is_told_in_a_sentence_here_too() -> None:
    with pytest.raises(xc40io.InputError, match="Scenario: nodes = 0: should be greater than 0"):
        xc40io.Scenario(**{**JOB, "nodes": 0})
    with pytest.raises(xc40io.InputError, match=r"Scenario: nodez: there is no such field; did"):
        xc40io.Scenario(**JOB, nodez=1)
