"""The page of a report: everything in one file, readable, and nothing lost or injected."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from drawn_charts import invented
from run_records import claim, record

from xc40io.config.errors import InputError
from xc40io.config.scenario import Scenario
from xc40io.studies.processes import Failure
from xc40io.studies.simulations import Ended, Simulations
from xc40io.validation.claim import Claim
from xc40io.validation.page import charts_of, page, write_page
from xc40io.validation.report import Report
from xc40io.validation.verdict import judge, not_run


class Invented(Simulations):
    """Makes up what comes of runs; fails on the second and later calls if told to."""

    reason = ""

    def run(self, scenarios: list[Scenario]) -> list[Ended]:  # type: ignore[override]
        if self.reason:
            return [Failure(self.reason) for _ in scenarios]
        return [invented(place) for place in range(len(scenarios))]


class Reader(HTMLParser):
    """Notes what a page refers to, and whether its elements are closed."""

    EMPTY = frozenset({"meta", "br", "link", "img", "use", "path"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.references: list[str] = []
        self.ids: list[str] = []
        self.words: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in self.EMPTY:
            self.open.append(tag)
        self._note(attrs)

    def handle_startendtag(self, _: str, attrs: list[tuple[str, str | None]]) -> None:
        self._note(attrs)

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.EMPTY:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    def _note(self, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("href", "src", "xlink:href"):
                self.references.append(value or "")
            if name == "id":
                self.ids.append(value or "")


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


def read(report: Report) -> Reader:
    reader = Reader()
    reader.feed("".join(page(report)))
    reader.close()
    return reader


def test_the_page_is_closed_and_refers_to_nothing_outside() -> None:
    reader = read(example())
    assert reader.open == []
    assert reader.references
    assert all(reference.startswith("#") for reference in reader.references)
    assert {reference[1:] for reference in reader.references} <= set(reader.ids)
    assert len(reader.ids) == len(set(reader.ids))
    text = "".join(page(example()))
    assert not re.search(r"@import|<script|<link|<iframe", text)
    assert {*re.findall(r"https?://[^\"'<\s]+", text)} <= {
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1999/xlink",
    }


def test_the_page_says_what_the_report_says() -> None:
    words = " ".join(" ".join(read(example()).words).split())
    for said in ("B02", "60 GB/s", "58 GB/s", "0.97", "3 of 3 claims", "no burst buffer & co"):
        assert said in words
    assert "not run" in words
    assert "Nothing." in words


def test_what_comes_from_the_claims_is_text_and_nothing_else() -> None:
    text = "".join(page(example()))
    assert "<b>" not in text
    assert "bars &lt;b&gt;below&lt;/b&gt; 140" in text


def test_a_claim_that_fails_is_told_with_its_suspected_cause() -> None:
    words = " ".join(" ".join(read(example(fails=True)).words).split())
    assert "20 GB/s simulated, 60 GB/s measured" in words
    assert "Suspected: nothing yet" in words
    assert "2 of 3 claims" in words


def test_the_page_suits_phones_and_the_dark() -> None:
    text = "".join(page(example()))
    assert 'name="viewport"' in text
    assert "prefers-color-scheme: dark" in text
    assert "max-width: 40rem" in text


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
    words = " ".join(" ".join(read(report).words).split())
    assert "No figure: there is not enough memory for it." in words


def test_the_page_is_written_and_the_same_again(tmp_path: Path) -> None:
    first, second = tmp_path / "a.html", tmp_path / "b.html"
    write_page(example(), first)
    write_page(example(), second)
    assert first.read_bytes() == second.read_bytes()
    assert first.stat().st_size < 2_000_000


def test_a_place_where_nothing_can_be_written_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be written"):
        write_page(example(), tmp_path / "nowhere" / "page.html")


def test_links_to_the_parts_have_room_to_break() -> None:
    nav = re.search(r"<nav>(.*)</nav>", "".join(page(example())), re.S)
    assert nav is not None
    assert "</a><a" not in nav[1]
