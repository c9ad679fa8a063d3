"""What came of the runs of a page: cards, charts, words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import panel as pn

from sim.web import texts
from sim.web.charts import Row, bandwidth_chart, heat_chart, rows_of, time_chart
from sim.web.look import html, paragraph
from sim.web.outcome import Outcome, PhaseOutcome
from sim.web.published import Comparable, Point, comparable, nearest
from sim.web.running import Run
from sim.web.settings import Settings

_HEAT = (
    "Colour: share of the time in which the disk array was busy, in %; white is idle. OSTs that "
    "had nothing to do are left out."
)
_WELCOME = """
<h2>What would this job do?</h2>
<p>Set the controls and press <b>Run</b>, or take a <b>guided tour</b> above. A run of this size
takes a second or so; the page then shows the bandwidth, what the ranks waited for, which part of
the machine bound the job, and what to try next.</p>
"""


class Results:
    """The part of the page below the bar.

    Parameters
    ----------
    points
        What was published of the machines.
    """

    def __init__(self, points: Sequence[Point]) -> None:
        self._points = points
        self._stale = html(
            paragraph("Settings have changed since: press Run.", "look"), visible=False
        )
        self._content = pn.Column(html(_WELCOME), sizing_mode="stretch_width", margin=0)
        self.view = pn.Column(self._stale, self._content, sizing_mode="stretch_width", margin=0)

    def mark_stale(self, stale: bool) -> None:
        """Say whether the controls have moved on since the runs were made."""
        self._stale.visible = stale

    def show(self, runs: Mapping[str, Run[Outcome]]) -> None:
        """Show what came of runs that have ended."""
        outcomes = {side: run.outcome for side, run in runs.items() if run.outcome is not None}
        settings = {side: run.settings for side, run in runs.items()}
        several = len(runs) > 1
        errors = [
            f"{side}: {run.error}" if several else run.error
            for side, run in runs.items()
            if run.error
        ]
        parts: list[Any] = [html(texts.failures(errors))] if errors else []
        parts += self._parts(outcomes, settings) if outcomes else []
        self._content[:] = parts or [html(_WELCOME)]

    def _parts(
        self, outcomes: Mapping[str, Outcome], settings: Mapping[str, Settings]
    ) -> list[Any]:
        rows = rows_of(outcomes)
        found = {row: self._comparable(row, phase, settings) for row, phase in rows.items()}
        near = [
            one
            for row, phase in rows.items()
            if (one := nearest(self._points, _settings(row, settings), phase.name)) is not None
        ]
        a, b = outcomes.get("A"), outcomes.get("B")
        compared = [html(texts.comparison(a, b))] if a is not None and b is not None else []
        return [
            html(texts.cards(rows)),
            *compared,
            _beside(
                ("Bandwidth", bandwidth_chart(rows, found), texts.published_list(found, near)),
                (
                    "Where the time went",
                    time_chart(rows),
                    texts.legend(rows) + texts.wait_tables(rows),
                ),
            ),
            html(texts.verdicts(rows)),
            *self._heats(outcomes),
            html(texts.notes_of(outcomes)),
        ]

    def _comparable(
        self, row: Row, phase: PhaseOutcome, settings: Mapping[str, Settings]
    ) -> list[Comparable]:
        return comparable(self._points, _settings(row, settings), phase.name)

    @staticmethod
    def _heats(outcomes: Mapping[str, Outcome]) -> list[Any]:
        several = len(outcomes) > 1
        parts = [
            (
                f"How busy each OST was{f', {side}' if several else ''}",
                heat_chart(outcome.heat),
                paragraph(_HEAT, "soft"),
            )
            for side, outcome in outcomes.items()
            if outcome.heat is not None
        ]
        return [_beside(*parts)] if parts else []


def _settings(row: Row, settings: Mapping[str, Settings]) -> Settings:
    """Return the settings of a row's side."""
    return next(iter(settings.values())) if isinstance(row, str) else settings[row[1]]


def _beside(*parts: tuple[str, Any, str]) -> pn.FlexBox:
    """Return charts with their titles and words, side by side where there is room."""
    boxes = [
        pn.Column(
            html(f"<h2>{title}</h2>"),
            pn.pane.Bokeh(chart, sizing_mode="stretch_width", margin=0),
            html(below),
            sizing_mode="stretch_width",
            margin=0,
            styles={"flex": "1 1 26rem", "min-width": "min(20rem, 100%)"},
        )
        for title, chart, below in parts
    ]
    return pn.FlexBox(*boxes, gap="0 28px", align_items="flex-start", margin=0)
