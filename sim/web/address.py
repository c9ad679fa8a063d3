"""The address of a page: the link of what it shows."""

from __future__ import annotations

import panel as pn

from sim.web.copies import State, query_of

_GO = """
if (cb_obj.value.startsWith('?')) history.replaceState({}, '', location.pathname + cb_obj.value);
else location = './rested' + location.search;
"""
_AWAY = "away"


class Address:
    """What the browser shows as the address of the page."""

    def __init__(self) -> None:
        self.view = pn.widgets.TextInput(visible=False)
        self.view.jscallback(value=_GO)

    def show(self, state: State) -> None:
        """Have it be the link of a state."""
        self.view.value = f"?{query_of(state)}"

    def close(self) -> None:
        """Go to the page that says that this one was closed; its link is kept there."""
        self.view.value = _AWAY
