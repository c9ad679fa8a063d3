"""Guided tours: steps that set the controls and say what to look at, and their guide."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import panel as pn
from pydantic import Field

from xc40io.config.files import read_mapping
from xc40io.config.model import Model
from xc40io.trust.sureness import in_gigabytes, simulated
from xc40io.web.look import WIDGET_CSS, html, paragraph
from xc40io.web.runs import Outcome
from xc40io.web.translation import State, checked

_FOLDER = Path(__file__).resolve().parent / "guided"
_FIGURE = re.compile(r"\{(?P<side>[ab]|ratio)\.(?P<phase>write|read)\}")


class _Step(Model):
    """A step as its file has it."""

    title: str
    text: str  # what is set, and why
    look: str
    """What to look at when the runs have ended. ``{a.write}`` stands for the bandwidth of that
    phase of A, ``{ratio.write}`` for how many times that of A the bandwidth of B is."""
    # How the two settings differ from the tour's settings; without b only A is run.
    a: dict[str, Any] = Field(default_factory=dict)
    b: dict[str, Any] | None = None


class _TourFile(Model):
    """A tour as its file has it: its question, settings that all steps share, the steps."""

    title: str
    question: str
    settings: dict[str, Any] = Field(default_factory=dict)
    steps: list[_Step]


class Step(NamedTuple):
    """A step of a tour: what is told, and what is set."""

    title: str
    text: str
    look: str
    state: State


class Tour(NamedTuple):
    """A tour."""

    name: str  # of its file
    title: str
    question: str  # what it answers
    steps: tuple[Step, ...]


@cache
def tours() -> dict[str, Tour]:
    """Return the tours that there are, by name, in the order in which they are offered.

    Raises
    ------
    InputError
        If a file is not of its form.
    """
    return {path.stem.partition("-")[2]: _tour(path) for path in sorted(_FOLDER.glob("*.yaml"))}


def _tour(path: Path) -> Tour:
    read = _TourFile.model_validate(read_mapping(path))
    steps = tuple(_step(step, read.settings) for step in read.steps)
    return Tour(path.stem.partition("-")[2], read.title, read.question, steps)


def _step(step: _Step, shared: dict[str, Any]) -> Step:
    a = checked({**shared, **step.a})
    b = None if step.b is None else checked({**shared, **step.a, **step.b})
    return Step(step.title, _flowing(step.text), _flowing(step.look), State(a, b))


def _flowing(text: str) -> str:
    return " ".join(text.split())


def filled(text: str, a: Outcome | None, b: Outcome | None) -> str | None:
    """Return a text with the figures of runs in it; None while a figure is not known."""
    told = {
        (side, phase.phase): phase
        for side, outcome in (("a", a), ("b", b))
        if outcome is not None
        for phase in outcome.phases
    }
    missing = False

    def figure(match: re.Match[str]) -> str:
        nonlocal missing
        side, phase = match["side"], match["phase"]
        if side != "ratio":
            if (side, phase) not in told:
                missing = True
                return ""
            one = told[side, phase]
            return simulated(one.bandwidth, one.real, in_gigabytes)
        if ("a", phase) not in told or ("b", phase) not in told:
            missing = True
            return ""
        return f"{told['b', phase].bandwidth / told['a', phase].bandwidth:,.2g}"

    found = _FIGURE.sub(figure, text)
    return None if missing else found


class TourGuide:
    """What stands above the results while a tour is on.

    ``set_out`` is called with what a step sets, which is to be shown and run; ``left`` when the
    tour is left.
    """

    def __init__(self, set_out: Callable[[State], None], left: Callable[[], None]) -> None:
        self._set_out = set_out
        self._left = left
        self._tour: Tour | None = None
        self._at = 0
        self._text = html("")
        look = {"stylesheets": [WIDGET_CSS], "margin": (2, 0)}
        self._back = pn.widgets.Button(label="Back", **look)
        self._on = pn.widgets.Button(label="Next step", color="primary", **look)
        self._leave = pn.widgets.Button(label="Leave the tour", **look)
        self._back.on_click(lambda _event: self._go(-1))
        self._on.on_click(lambda _event: self._go(1))
        self._leave.on_click(lambda _event: self.take(""))
        self.view = pn.Column(
            self._text,
            pn.FlexBox(self._back, self._on, self._leave, gap="4px 10px", margin=0),
            visible=False,
            sizing_mode="stretch_width",
            margin=(4, 0),
        )

    def take(self, name: str) -> None:
        """Begin a tour, or with an empty name leave the one that is on."""
        was = self._tour
        self._tour, self._at = tours().get(name), 0
        self.view.visible = self._tour is not None
        if self._tour is not None:
            self._go(0)
        elif was is not None:
            self._left()

    def tell(self, a: Outcome | None, b: Outcome | None) -> None:
        """Tell the step, with what to look at once the figures are known."""
        if self._tour is None:
            return
        step = self._tour.steps[self._at]
        self._text.object = _told(self._tour, self._at, step, filled(step.look, a, b))

    def _go(self, steps: int) -> None:
        if self._tour is None:
            return
        self._at = min(max(self._at + steps, 0), len(self._tour.steps) - 1)
        self._back.disabled = self._at == 0
        self._on.disabled = self._at == len(self._tour.steps) - 1
        self.tell(None, None)
        self._set_out(self._tour.steps[self._at].state)


def _told(tour: Tour, at: int, step: Step, look: str | None) -> str:
    """Return a step as HTML."""
    head = f"{tour.title}, step {at + 1} of {len(tour.steps)}: {step.title}"
    question = paragraph(tour.question, "soft") if at == 0 else ""
    told = (
        paragraph("The runs are under way ...", "soft") if look is None else paragraph(look, "look")
    )
    return f'<div class="tour"><h2>{escape(head)}</h2>{question}{paragraph(step.text)}{told}</div>'
