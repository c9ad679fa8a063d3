"""The animated picture of a page: a small recorded run, played."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

import panel as pn

from sim.web.look import WIDGET_CSS, html, note, tell
from sim.web.outcome import Animation
from sim.web.running import ANIMATED, Run, Runs
from sim.web.settings import Settings

_EVERY = 250  # milliseconds between two looks at the run
_HIGH = 860  # pixels


class Film:
    """Buttons that have the run of a side animated, and the animation.

    Parameters
    ----------
    runs
        Where runs are made.
    """

    def __init__(self, runs: Runs) -> None:
        self._runs = runs
        self._settings: Mapping[str, Settings] = {}
        self._run: Run[Animation] | None = None
        self._watch: Any = None
        self._status = note("soft")
        self._wrong = note("wrong")
        self._picture = html("")
        self._buttons = {side: self._button(side) for side in ("A", "B")}
        self.view = pn.Column(
            html(
                "<h2>See it move</h2><p>The RPCs of a small run on their way through nodes, Aries, "
                "LNET routers, OSSs and OSTs, and the locks of one object as they change hands.</p>"
            ),
            pn.FlexBox(*self._buttons.values(), gap="4px 10px", margin=0),
            self._status,
            self._wrong,
            self._picture,
            visible=False,
            sizing_mode="stretch_width",
            margin=0,
        )

    def offer(self, settings: Mapping[str, Settings]) -> None:
        """Offer to animate these runs, by their sides; what was shown before goes."""
        self.stop()
        self._settings = settings
        self._picture.object = ""
        tell(self._wrong, "")
        several = len(settings) > 1
        for side, button in self._buttons.items():
            button.visible = side in settings
            button.label = f"Animate {side}" if several else "Animate it"
        self.view.visible = bool(settings)

    def stop(self) -> None:
        """Give up a run that is under way."""
        if self._run is not None:
            self._run.cancel()
            self._look()

    def _button(self, side: str) -> Any:
        button = pn.widgets.Button(label="Animate it", stylesheets=[WIDGET_CSS], margin=(2, 0))
        button.on_click(lambda _event: self._begin(side))
        return button

    def _begin(self, side: str) -> None:
        self.stop()
        tell(self._wrong, "")
        self._run = self._runs.start(self._settings[side], ANIMATED)
        if self._watch is None:
            self._watch = pn.state.add_periodic_callback(self._look, period=_EVERY)
        self._look()

    def _look(self) -> None:
        """Show how far the run has come, and in the end the animation."""
        run = self._run
        if run is None:
            return
        waits = f"waits, place {run.place} in line" if run.place else "is made ..."
        tell(self._status, "" if run.over else f"The animation {waits}")
        if not run.over:
            return
        if self._watch is not None:
            self._watch.stop()
            self._watch = None
        tell(self._wrong, run.error)
        if run.outcome is not None:
            self._picture.object = _framed(run.outcome)


def _framed(animation: Animation) -> str:
    """Return an animation in a frame that can do nothing but play it."""
    return (
        f'<p class="soft">{escape(animation.setup)}</p>'
        f'<iframe title="Animation of the run" sandbox="allow-scripts" height="{_HIGH}" '
        f'srcdoc="{escape(animation.html)}"></iframe>'
    )
