"""What can be taken along from a page: its link, the command and the program of a setting."""

from __future__ import annotations

import panel as pn

from xc40io.telling.answer import Fold, Listing
from xc40io.telling.html import fragment
from xc40io.web.look import WIDGET_CSS, html
from xc40io.web.translation import State, command_of, python_of, query_of

_COPY = """
const text = link ? location.origin + location.pathname + what.value : what.value;
const done = () => { const before = cb_obj.origin.label; cb_obj.origin.label = 'Copied';
                     setTimeout(() => { cb_obj.origin.label = before }, 1500) };
const by_hand = () => {
  const area = document.createElement('textarea');
  area.value = text; document.body.append(area); area.select();
  document.execCommand('copy'); area.remove(); done();
};
if (navigator.clipboard) navigator.clipboard.writeText(text).then(done, by_hand); else by_hand();
"""
"""A page that is not served from this machine, and without TLS, has no clipboard of its own."""


class Sharing:
    """Buttons that copy, and the texts that they copy."""

    def __init__(self) -> None:
        self._texts = {name: pn.widgets.TextInput(visible=False) for name in _NAMES}
        self._shown = html("")
        buttons = [self._button(name, label) for name, label in _NAMES.items()]
        self.view = pn.Column(
            html("<h2>Take it with you</h2>"),
            pn.FlexBox(*buttons, *self._texts.values(), gap="4px 10px", margin=0),
            self._shown,
            sizing_mode="stretch_width",
            margin=0,
        )

    def _button(self, name: str, label: str) -> pn.widgets.Button:
        button = pn.widgets.Button(label=label, stylesheets=[WIDGET_CSS], margin=(2, 0))
        text = self._texts[name]
        button.js_on_click(args={"what": text, "link": name in _LINKS}, code=_COPY)
        return button

    def show(self, state: State) -> None:
        """Have what is copied be that of a state."""
        sides = state.sides
        several = len(sides) > 1
        commands = "\n".join(
            (f"# {side}\n" if several else "") + command_of(one) for side, one in sides.items()
        )
        programs = "\n".join(
            (f"# {side}\n" if several else "") + python_of(one) for side, one in sides.items()
        )
        self._texts["link"].value = f"?{query_of(state._replace(run=True))}"
        film = state._replace(run=True, film="A")
        self._texts["film"].value = f"?{query_of(film)}"
        self._texts["command"].value = commands
        self._texts["python"].value = programs
        python = Fold("As Python", [Listing("Program", programs, typed=True)])
        self._shown.object = fragment([Listing("Command", commands, typed=True), python])


_LINKS = ("link", "film")
_NAMES = {
    "link": "Copy link",
    "film": "Copy link to the animation",
    "command": "Copy as command",
    "python": "Copy as Python",
}


_GO = """
if (cb_obj.value.startsWith('?')) history.replaceState({}, '', location.pathname + cb_obj.value);
else location = './rested' + location.search;
"""
_AWAY = "away"


_TO_RESULTS = """
const settings = document.getElementById('settings'), results = document.getElementById('results');
const narrow = matchMedia('(max-width: 60rem)').matches;
if (narrow) settings.open = false;
if (narrow || results.getBoundingClientRect().top < 0) settings.scrollIntoView();
"""
"""Where there is one column the settings fold away: results would lie below them, out of sight."""


class Address:
    """What the browser shows as the address of the page, and the part of the page that it shows."""

    def __init__(self) -> None:
        self._shown = pn.widgets.TextInput(visible=False)
        self._shown.jscallback(value=_GO)
        self._runs = pn.widgets.IntInput(value=0, visible=False)
        self._runs.jscallback(value=_TO_RESULTS)
        self.view = pn.Row(self._shown, self._runs, margin=0)

    def show(self, state: State) -> None:
        """Have it be the link of a state."""
        self._shown.value = f"?{query_of(state)}"

    def go_to_results(self) -> None:
        """Have the browser show the part in which results will be."""
        self._runs.value = (self._runs.value or 0) + 1

    def close(self) -> None:
        """Go to the page that says that this one was closed; its link is kept there."""
        self._shown.value = _AWAY
