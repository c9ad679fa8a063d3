"""The guide of a tour: tells the step, goes on, goes back."""

from __future__ import annotations

from collections.abc import Callable
from html import escape

import panel as pn

from sim.web.copies import State
from sim.web.look import WIDGET_CSS, html, paragraph
from sim.web.outcome import Outcome
from sim.web.tours import Step, Tour, filled, tours


class TourGuide:
    """What stands above the results while a tour is on.

    Parameters
    ----------
    set_out
        Called with what a step sets: the controls are to show it, and it is to be run.
    left
        Called when the tour is left.
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
