"""What came of the runs of a page: cards, charts, words, and a run that moves."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any, Generic

import panel as pn

from xc40io.telling.html import fragment
from xc40io.web import texts
from xc40io.web.charts import Row, bandwidth_chart, heat_chart, rows_of, time_chart
from xc40io.web.look import WIDGET_CSS, html, note, paragraph, shown, tell
from xc40io.web.published import Comparable, Point, comparable, nearest
from xc40io.web.runs import (
    ANIMATED,
    Animation,
    Answer,
    Kind,
    Outcome,
    PhaseOutcome,
    Run,
    Runs,
)
from xc40io.web.settings import Settings
from xc40io.web.tries import TRIED, Tries

_HEAT = (
    "Colour: share of the time in which the disk array was busy, in %; white is idle. OSTs that "
    "had nothing to do are left out."
)
_BEFORE, _NOW = {"opacity": "0.35"}, {"opacity": "1"}
_WELCOME = """
<h2>What would this job do?</h2>
<p>Set the controls and press <b>Run</b>, or take a <b>guided tour</b> above. A run of this size
takes a second or so; the page then shows the bandwidth, what the ranks waited for, which part of
the machine bound the job, and what to try next.</p>
"""


class Results:
    """The part of the page below the bar; runs are held against the points that were published."""

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

    def wait(self) -> None:
        """Show what there is as that of before, until the runs that have begun have ended."""
        self.mark_stale(False)
        self._content.styles = _BEFORE

    def clear(self) -> None:
        """Show nothing until the runs have ended: what there was belongs to another question."""
        self.mark_stale(False)
        self._content[:] = []

    def show(self, runs: Mapping[str, Run[Outcome]]) -> None:
        """Show the results of runs that have ended."""
        outcomes = {side: run.outcome for side, run in runs.items() if run.outcome is not None}
        settings = {side: run.settings for side, run in runs.items()}
        several = len(runs) > 1
        errors = [
            f"{side}: {run.error}" if several else run.error
            for side, run in runs.items()
            if run.error
        ]
        parts: list[Any] = [shown([texts.failures(errors)])] if errors else []
        parts += self._parts(outcomes, settings) if outcomes else []
        self._content[:] = parts or [html(_WELCOME)]
        self._content.styles = _NOW

    def _parts(
        self, outcomes: Mapping[str, Outcome], settings: Mapping[str, Settings]
    ) -> list[Any]:
        rows = rows_of(outcomes)
        found = {row: self._comparable(row, phase, settings) for row, phase in rows.items()}
        near = [
            one
            for row, phase in rows.items()
            if (one := nearest(self._points, _settings(row, settings), phase.phase)) is not None
        ]
        a, b = outcomes.get("A"), outcomes.get("B")
        compared = texts.comparison(a, b) if a is not None and b is not None else ()
        return [
            shown(compared, texts.cards(rows, texts.chances(outcomes, settings))),
            _beside(
                ("Bandwidth", bandwidth_chart(rows, found), texts.published_list(found, near)),
                (
                    "Where the time went",
                    time_chart(rows),
                    texts.legend(rows) + fragment(list(texts.wait_tables(rows))),
                ),
            ),
            shown([*texts.strikes(outcomes), *texts.verdicts(rows)]),
            *self._heats(outcomes),
            *self._tables(outcomes),
            shown(texts.notes_of(outcomes)),
        ]

    def _comparable(
        self, row: Row, phase: PhaseOutcome, settings: Mapping[str, Settings]
    ) -> list[Comparable]:
        return comparable(self._points, _settings(row, settings), phase.phase)

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

    @staticmethod
    def _tables(outcomes: Mapping[str, Outcome]) -> list[Any]:
        several = len(outcomes) > 1
        return [
            html((f"<h3>{side}</h3>" if several else "") + outcome.tables)
            for side, outcome in outcomes.items()
        ]


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


_NOTES = """<details><summary>For whoever speaks to it</summary><ul>
<li>Before it plays: who writes which bytes, and on which OST do they lie? Let the class guess.</li>
<li>Pause (space), and go from event to event (right arrow): the line below the slider says what
happens. Follow one RPC: request, bulk, router, OSS, disk, reply.</li>
<li>Point at a mark that stands beside a place: it waits for it. Where do most of them stand?</li>
<li>At a pink diamond stop: who asked whom for the lock, and what has to be written back first?</li>
<li>Then B, or another number of stripes: which of these waits are gone?</li></ul></details>"""
_EVERY = 250  # milliseconds between two looks at the run
_HIGH = 860  # pixels


class OnDemand(Generic[Answer]):
    """Buttons that have more made of the run of a side, and what comes of it.

    ``words``: what stands above the buttons; ``label``: what a button says; ``kind``: what is made,
    ``shown``: as HTML.
    """

    def __init__(
        self,
        runs: Runs,
        kind: Kind[Answer],
        shown: Callable[[Answer], str],
        *,
        words: str,
        label: str,
    ) -> None:
        self._runs = runs
        self._kind = kind
        self._shown = shown
        self._label = label
        self._settings: Mapping[str, Settings] = {}
        self._run: Run[Answer] | None = None
        self._watch: Any = None
        self._status = note("soft")
        self._wrong = note("wrong")
        self._answer = html("")
        self._buttons = {side: self._button(side) for side in ("A", "B")}
        self.view = pn.Column(
            html(words),
            pn.FlexBox(*self._buttons.values(), gap="4px 10px", margin=0),
            self._status,
            self._wrong,
            self._answer,
            visible=False,
            sizing_mode="stretch_width",
            margin=0,
        )

    def offer(self, settings: Mapping[str, Settings]) -> None:
        """Offer it of these runs, by their sides; what was shown before goes."""
        self.stop()
        self._settings = settings
        self._answer.object = ""
        tell(self._wrong, "")
        several = len(settings) > 1
        for side, button in self._buttons.items():
            button.visible = side in settings
            button.label = f"{self._label}: {side}" if several else self._label
        self.view.visible = bool(settings)

    def stop(self) -> None:
        """Give up what is under way."""
        if self._run is not None:
            self._run.cancel()
            self._look()

    def _button(self, side: str) -> Any:
        button = pn.widgets.Button(label=self._label, stylesheets=[WIDGET_CSS], margin=(2, 0))
        button.on_click(lambda _event: self.begin(side))
        return button

    def begin(self, side: str) -> None:
        """Have it made of the run of a side, and show that."""
        self.stop()
        tell(self._wrong, "")
        self._run = self._runs.start(self._settings[side], self._kind)
        if self._watch is None:
            self._watch = pn.state.add_periodic_callback(self._look, period=_EVERY)
        self._look()

    def _look(self) -> None:
        """Show how far it has come, and in the end the answer."""
        run = self._run
        if run is None:
            return
        tell(self._status, "" if run.over else _far(run))
        if not run.over:
            return
        if self._watch is not None:
            self._watch.stop()
            self._watch = None
        tell(self._wrong, run.error)
        if run.outcome is not None:
            self._answer.object = self._shown(run.outcome)


def _far(run: Run[Any]) -> str:
    """Say how far a run has come."""
    if run.place:
        return f"It waits, place {run.place} in line"
    return f"{100 * run.done // run.total} % is done" if run.total else "It begins ..."


def film(runs: Runs) -> OnDemand[Animation]:
    """Return what animates a run."""
    return OnDemand(
        runs,
        ANIMATED,
        _framed,
        words="<h2>See it move</h2><p>The RPCs of a small run on their way through nodes, links, "
        "LNET routers, OSSs and OSTs, and the locks of one object as they change hands.</p>",
        label="Animate it",
    )


def would_help(runs: Runs) -> OnDemand[Tries]:
    """Return what tries other settings."""
    return OnDemand(
        runs,
        TRIED,
        texts.tries,
        words="<h2>What would help?</h2><p>Turns one control at a time, runs each, and says which "
        "makes it faster.</p>",
        label="Try it",
    )


def _framed(animation: Animation) -> str:
    """Return an animation in a frame that can do nothing but play it."""
    return (
        f'<p class="soft">{escape(animation.setup)}</p>'
        '<iframe title="Animation of the run" sandbox="allow-scripts" allow="fullscreen" '
        f'height="{_HIGH}" '
        f'srcdoc="{escape(animation.html)}"></iframe>{_NOTES}'
    )
