"""The bar above everything: tours, run and cancel, how far the runs have come."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import panel as pn

from sim.web.look import WIDGET_CSS, note, tell
from sim.web.running import Run
from sim.web.tours import tours

_GB = 1e9
_UNSEEN = "label { position: absolute; left: -100rem; }"  # there for screen readers


class Bar:
    """Its widgets.

    Parameters
    ----------
    run, cancel
        Called when somebody wants that.
    tour
        Called with the name of a tour; empty: none.
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
    return f"{name}{run.done / _GB:,.2f} of {run.total / _GB:,.2f} GB moved"
