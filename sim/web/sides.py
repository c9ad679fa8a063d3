"""The two settings of a page: A, and B where two are compared."""

from __future__ import annotations

from collections.abc import Callable

import panel as pn

from sim.web import texts
from sim.web.controls import Controls
from sim.web.copies import State
from sim.web.look import WIDGET_CSS, note, tell
from sim.web.settings import Settings
from sim.web.ticks import is_ticked, set_ticked, tick

A, B = "A", "B"


class Sides:
    """The controls of both.

    Parameters
    ----------
    state
        What they show at first.
    changed
        Called when somebody has changed something.
    """

    def __init__(self, state: State, changed: Callable[[], None]) -> None:
        self._changed = changed
        self._a = Controls(A, state.a, self._on_change)
        self._b: Controls | None = None  # made when it is needed: many widgets take their time
        self._compare = tick("Compare two settings, A and B", ticked=False, margin=(4, 0))
        self._which = pn.widgets.RadioBoxGroup(
            label="Controls of",
            options={"Controls of A": A, "of B": B},
            value=A,
            inline=True,
            visible=False,
            stylesheets=[WIDGET_CSS],
            margin=(4, 0),
        )
        self._differences = note("soft")
        self._place = pn.Column(self._a.view, sizing_mode="stretch_width", margin=0)
        self.view = pn.Column(
            self._compare,
            pn.Row(self._which, margin=0),
            self._differences,
            self._place,
            sizing_mode="stretch_width",
            margin=0,
        )
        self._quiet = False
        self._compare.param.watch(self._on_compare, "value")
        self._which.param.watch(self._on_which, "value")
        self.show(state)

    @property
    def state(self) -> State:
        """What both say."""
        return State(self._a.settings, self._second)

    @property
    def valid(self) -> bool:
        """Whether what they say makes sense."""
        return self._a.valid and (self._second is None or (self._b is not None and self._b.valid))

    @property
    def _second(self) -> Settings | None:
        return self._b.settings if is_ticked(self._compare) and self._b is not None else None

    def show(self, state: State) -> None:
        """Have the controls show a state."""
        self._quiet = True
        try:
            self._a.show(state.a)
            set_ticked(self._compare, state.b is not None)
            if state.b is not None:
                self._second_controls(state.b).show(state.b)
            self._which.value = A if state.b is None else B
        finally:
            self._quiet = False
        self._arrange()

    def _second_controls(self, settings: Settings) -> Controls:
        if self._b is None:
            self._b = Controls(B, settings, self._on_change)
        return self._b

    def _on_change(self) -> None:
        self._arrange()
        self._changed()

    def _on_compare(self, _event: object) -> None:
        if self._quiet:
            return
        if is_ticked(self._compare):
            self._second_controls(self._a.settings).show(self._a.settings)
        self._which.value = B if is_ticked(self._compare) else A
        self._arrange()
        self._changed()

    def _on_which(self, _event: object) -> None:
        if not self._quiet:
            self._arrange()

    def _arrange(self) -> None:
        """Show the controls of the chosen side, and in what the two differ."""
        compared = is_ticked(self._compare) and self._b is not None
        self._which.visible = compared
        chosen = self._b if compared and self._which.value == B else self._a
        assert chosen is not None
        if list(self._place) != [chosen.view]:
            self._place[:] = [chosen.view]
        second = self._second
        text = "" if second is None else texts.differences(self._a.settings, second)
        tell(self._differences, text)
