"""One page of the explorer: what a session has, and how its parts work together."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import panel as pn
from bokeh.document import Document
from panel.io.resources import LOCAL_DIST, patch_model_css

from xc40io.config.errors import InputError
from xc40io.config.units import GB
from xc40io.web.controls import Sides
from xc40io.web.look import WIDGET_CSS, asset, html, note, paragraph, tell
from xc40io.web.published import Point
from xc40io.web.results import Results, film, would_help
from xc40io.web.runs import SIMULATED, Outcome, Run, Runs
from xc40io.web.settings import FIRST
from xc40io.web.sharing import Address, Sharing
from xc40io.web.tours import TourGuide, tours
from xc40io.web.translation import State, state_of

_EVERY, _REST_EVERY = 200, 10_000
"""Milliseconds between two looks at runs that are under way, and at whether anything happens."""


class _Page(pn.Template):
    """A template that is not written out for notebooks each time when something is put into it.

    Its parts are put together before the document looks for them, once and not at each; and their
    style sheets are this server's, which Panel sees to only where the page is written.
    """

    def __repr__(self) -> str:
        return type(self).__name__

    def _init_doc(self, doc: Document | None = None, *words: Any, **named: Any) -> Document:
        document = doc or pn.state.curdoc
        assert document is not None  # a page is of a session
        document.template_variables["dist_url"] = LOCAL_DIST
        with document.models.freeze():
            super()._init_doc(document, *words, **named)
        for root in document.roots:
            patch_model_css(root, LOCAL_DIST)
        return document


class Explorer:
    """A page: opened by the query of a link, closed after ``idle`` seconds without an event."""

    def __init__(self, runs: Runs, points: Sequence[Point], query: str, idle: float) -> None:
        self._makes = runs
        self._runs: dict[str, Run[Outcome]] = {}
        self._told = False  # whether the results of the runs are shown
        state, wrong = _opened(query)
        self._sides = Sides(state, self._on_change)
        self._bar = Bar(self.run, self.cancel, self._on_tour)
        self._guide = TourGuide(self._on_step, lambda: self._bar.choose(""))
        self._results = Results(points)
        self._would_help = would_help(runs)
        self._film = film(runs)
        self._to_play = state.film if not wrong else ""  # whose animation the link asks for
        self._sharing = Sharing()
        self._sharing.show(state)
        self._wrong = html(paragraph(wrong, "alert"), visible=bool(wrong))
        self._watch: Any = None
        self._idle = idle
        self._touched = time.monotonic()
        self._address = Address()
        pn.state.add_periodic_callback(self._rest, period=_REST_EVERY)
        pn.state.on_session_destroyed(lambda _context: self._give_up())
        if state.run and not wrong:
            pn.state.onload(self.run)

    def page(self) -> pn.Template:
        """Return the page."""
        page = _Page(asset("page.html"))
        page.add_variable("page_css", asset("page.css"))
        page.add_panel("bar", self._bar.view)
        page.add_panel("controls", self._sides.view)
        below = pn.Column(
            self._wrong,
            self._guide.view,
            self._results.view,
            self._would_help.view,
            self._film.view,
            self._sharing.view,
            self._address.view,
            sizing_mode="stretch_width",
            margin=0,
        )
        page.add_panel("results", below)
        return page

    def run(self) -> None:
        """Make the runs of what the controls say."""
        self._give_up()
        self._touched = time.monotonic()
        state = self._sides.state
        self._wrong.visible = False
        self._runs = {
            side: self._makes.start(settings, SIMULATED) for side, settings in state.sides.items()
        }
        self._told = False
        self._results.wait()
        self._address.show(state._replace(run=True))
        self._address.go_to_results()
        self._look()
        if self._watch is None:
            self._watch = pn.state.add_periodic_callback(self._look, period=_EVERY)

    def cancel(self) -> None:
        """Give up the runs that are under way."""
        self._give_up()
        self._look()

    def _give_up(self) -> None:
        for run in self._runs.values():
            run.cancel()
        self._would_help.stop()
        self._film.stop()

    def _rest(self) -> None:
        """Close the page if nothing has happened on it for long."""
        if not all(run.over for run in self._runs.values()):
            self._touched = time.monotonic()
        if time.monotonic() - self._touched > self._idle:
            self._address.close()

    def _look(self) -> None:
        """Show the progress of the runs, and their results at the end."""
        self._bar.show(self._runs)
        if not all(run.over for run in self._runs.values()):
            return
        if self._watch is not None:
            self._watch.stop()
            self._watch = None
        if self._runs and not self._told:
            self._told = True
            self._results.show(self._runs)
            outcomes = {side: run.outcome for side, run in self._runs.items()}
            self._guide.tell(outcomes.get("A"), outcomes.get("B"))
            made = {side: run.settings for side, run in self._runs.items() if run.outcome}
            self._would_help.offer(made)
            self._film.offer(made)
            if self._to_play in made:
                self._film.begin(self._to_play)
            self._to_play = ""

    def _on_change(self) -> None:
        self._touched = time.monotonic()
        self._bar.allow(self._sides.valid)
        state = self._sides.state
        made = {side: run.settings for side, run in self._runs.items()}
        self._results.mark_stale(bool(made) and made != state.sides)
        self._sharing.show(state)
        self._address.show(state)

    def _on_tour(self, name: str) -> None:
        self._guide.take(name)

    def _on_step(self, state: State) -> None:
        self._results.clear()
        self._would_help.offer({})
        self._film.offer({})
        self._sides.show(state)
        self._sharing.show(state)
        self._bar.allow(self._sides.valid)
        self.run()


def _opened(query: str) -> tuple[State, str]:
    """Return what a link describes, and what is wrong with it."""
    try:
        return state_of(query) if query else State(FIRST), ""
    except InputError as error:
        return State(FIRST), str(error)


_UNSEEN = "label { position: absolute; left: -100rem; }"  # there for screen readers


class Bar:
    """The bar above everything: tours, run and cancel, how far the runs have come.

    ``run`` and ``cancel`` are called when somebody wants that, ``tour`` with the name of a tour,
    or with nothing.
    """

    def __init__(
        self, run: Callable[[], None], cancel: Callable[[], None], tour: Callable[[str], None]
    ) -> None:
        look = {"stylesheets": [WIDGET_CSS], "margin": (2, 0)}
        self._run = pn.widgets.Button(label="Run", color="primary", width=90, **look)
        self._cancel = pn.widgets.Button(label="Cancel", disabled=True, width=80, **look)
        options = {"Guided tours ...": ""} | {one.title: name for name, one in tours().items()}
        self._tours = pn.widgets.Select(
            label="Guided tour",
            options=options,
            value="",
            width=220,
            margin=(2, 0),
            stylesheets=[WIDGET_CSS, _UNSEEN],
        )
        self._progress = pn.indicators.Progress(
            value=0, max=100, width=150, bar_color="primary", visible=False, margin=(12, 0)
        )
        self._status = note("soft", sizing_mode=None)
        self._run.on_click(lambda _event: run())
        self._cancel.on_click(lambda _event: cancel())
        self._tours.param.watch(lambda event: tour(event.new), "value")
        self.view = pn.FlexBox(
            self._run, self._cancel, self._tours, self._progress, self._status,
            gap="4px 10px", align_items="center", margin=0,
        )  # fmt: skip

    def choose(self, tour: str) -> None:
        """Show a tour as the chosen one; nothing else happens if it is that already."""
        self._tours.value = tour

    def allow(self, valid: bool) -> None:
        """Let runs begin, or not: some control makes no sense."""
        self._run.disabled = not valid

    def show(self, runs: Mapping[str, Run[Any]]) -> None:
        """Show how far the runs have come."""
        going = {side: run for side, run in runs.items() if not run.over}
        self._cancel.disabled = not going
        self._progress.visible = bool(going)
        total = sum(run.total for run in runs.values() if not run.over)
        done = sum(run.done for run in going.values())
        self._progress.value = int(100 * done / total) if total else -1
        text = "; ".join(_words(side, run, several=len(runs) > 1) for side, run in going.items())
        if not going and runs:
            cancelled = any(run.cancelled for run in runs.values())
            failed = any(run.error for run in runs.values())
            text = "cancelled" if cancelled else "not run: see below" if failed else "done"
        tell(self._status, text)


def _words(side: str, run: Run[Any], *, several: bool) -> str:
    """Say how far a run has come."""
    name = f"{side}: " if several else ""
    if run.place:
        return f"{name}waits, place {run.place} in line"
    if not run.total:
        return f"{name}begins"
    return f"{name}{run.done / GB:,.2f} of {run.total / GB:,.2f} GB moved"
