"""The page of a report: nothing lost or injected."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

from drawn_charts import invented
from run_records import claim, record

from xc40io.config.scenario import Scenario
from xc40io.studies.processes import Failure
from xc40io.studies.simulations import Ended, Simulations
from xc40io.telling.html import render
from xc40io.validation.claim import Claim
from xc40io.validation.report import Report
from xc40io.validation.report_answer import report_answer
from xc40io.validation.report_figures import charts_of, figure_blocks
from xc40io.validation.verdict import judge, not_run


class Invented(Simulations):
    """Makes up what comes of runs; fails on the second and later calls if told to."""

    reason = ""

    def run(self, scenarios: list[Scenario]) -> list[Ended]:  # type: ignore[override]
        if self.reason:
            return [Failure(self.reason) for _ in scenarios]
        return [invented(place) for place in range(len(scenarios))]


def outcome(of: Claim, write: float = 60e9) -> Any:
    ended = {run: [record(write)] * of.seeds for run in of.runs}
    return judge(of, ended)


def example(*, fails: bool = False) -> Report:
    value = {"value": "60 GB/s", "tolerance": "25%"}
    outcomes = [
        outcome(claim("a", value), 20e9 if fails else 58e9),
        outcome(claim("abc", {"at_most": "140 GB/s"}, id="B03", text="bars <b>below</b> 140")),
        outcome(claim("ab", {"values": {"a": "50 GB/s", "b": "70 GB/s"}, **_WITHIN}, id="B22")),
        judge(Claim.model_validate({"id": "C06", "not_expressed": "no burst buffer & co"}), {}),
        not_run(claim("a", value, id="E40", full=True)),
    ]
    return Report(tuple(outcomes), frozenset(), Invented())


_WITHIN = {"tolerance": "25%"}


def written(report: Report) -> str:
    return render(report_answer(report, figures=figure_blocks(report)))


def words_of(page: str) -> str:
    """Return what a page says, without elements and styles."""
    shown = re.sub(r"<(style|svg).*?</\1>|<[^>]*>", " ", page, flags=re.S)
    return " ".join(unescape(shown).split())


def test_the_page_says_what_the_report_says() -> None:
    words = words_of(written(example()))
    for said in ("B02", "60 GB/s", "58 GB/s", "0.97", "3 of 3 claims", "no burst buffer & co"):
        assert said in words
    assert "not run" in words
    assert "Nothing." in words


def test_what_comes_from_the_claims_is_text_and_nothing_else() -> None:
    text = written(example())
    assert "<b>" not in text
    assert "bars &lt;b&gt;below&lt;/b&gt; 140" in text


def test_a_claim_that_fails_is_told_with_its_suspected_cause() -> None:
    words = words_of(written(example(fails=True)))
    assert "20 GB/s simulated, 60 GB/s measured" in words
    assert "suspected: nothing yet" in words
    assert "2 of 3 claims" in words


def test_the_figures_are_those_of_the_claims_that_were_run() -> None:
    names = [chart.name for chart in charts_of(example())]
    assert "theta-shared-file-8mb" in names
    assert "theta-hdf5-nodes" in names
    assert "theta-aggregators" not in names
    assert "cori-daily-probes" not in names


def test_a_figure_without_its_runs_is_missing_and_the_page_says_why() -> None:
    report = example()
    assert isinstance(report.simulations, Invented)
    report.simulations.reason = "there is not enough memory for it"
    words = words_of(written(report))
    assert "No figure: there is not enough memory for it." in words


def test_the_page_is_the_same_again() -> None:
    first = written(example())
    assert first == written(example())
    assert len(first) < 2_000_000
