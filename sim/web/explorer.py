"""One page of the explorer: what a session has, and how its parts work together."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import panel as pn

from sim.config.errors import InputError
from sim.web.address import Address
from sim.web.bar import Bar
from sim.web.copies import State, state_of
from sim.web.film import Film
from sim.web.look import asset, html, paragraph
from sim.web.outcome import Outcome
from sim.web.published import Point
from sim.web.results import Results
from sim.web.running import SIMULATED, Run, Runs
from sim.web.settings import Settings
from sim.web.sharing import Sharing
from sim.web.sides import Sides
from sim.web.tour_guide import TourGuide

_EVERY, _REST_EVERY = 200, 10_000
"""Milliseconds between two looks at runs that are under way, and at whether anything happens."""


class _Page(pn.Template):
    """A template that is not written out for notebooks each time when something is put into it."""

    def __repr__(self) -> str:
        return type(self).__name__


class Explorer:
    """A page.

    Parameters
    ----------
    runs
        Where runs are made.
    points
        What was published of the machines.
    query
        Of the link that was followed.
    idle
        Seconds after which the page is closed if nothing happens on it.
    """

    def __init__(self, runs: Runs, points: Sequence[Point], query: str, idle: float) -> None:
        self._makes = runs
        self._runs: dict[str, Run[Outcome]] = {}
        self._told = False  # whether what came of the runs is shown
        state, wrong = _opened(query)
        self._sides = Sides(state, self._on_change)
        self._bar = Bar(self.run, self.cancel, self._on_tour)
        self._guide = TourGuide(self._on_step, lambda: self._bar.choose(""))
        self._results = Results(points)
        self._film = Film(runs)
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
        self._results.mark_stale(False)
        self._address.show(state._replace(run=True))
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
        self._film.stop()

    def _rest(self) -> None:
        """Close the page if nothing has happened on it for long."""
        if not all(run.over for run in self._runs.values()):
            self._touched = time.monotonic()
        if time.monotonic() - self._touched > self._idle:
            self._address.close()

    def _look(self) -> None:
        """Show how far the runs have come, and in the end what came of them."""
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
            self._film.offer(made)

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
        self._sides.show(state)
        self._sharing.show(state)
        self._bar.allow(self._sides.valid)
        self.run()


def _opened(query: str) -> tuple[State, str]:
    """Return what a link describes, and what is wrong with it."""
    try:
        return state_of(query), ""
    except InputError as error:
        return State(Settings()), str(error)
