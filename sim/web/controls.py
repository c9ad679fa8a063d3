"""The controls of the page: of one setting, and of A and B where two are compared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import panel as pn

from xc40io.config.errors import InputError
from xc40io.web import texts
from xc40io.web.look import WIDGET_CSS, html, is_ticked, note, set_ticked, tell, tick
from xc40io.web.settings import CONTROLS, GROUPS, Group, Settings, options_of
from xc40io.web.translation import State, checked

_MARKED = {"outline": "3px solid #a1201a", "outline-offset": "1px"}
"""The look of the control whose value cannot be."""

_LEAST = {
    name: field.get("minimum", 0)
    for name, field in Settings.model_json_schema()["properties"].items()
}


class Controls:
    """The widgets of one setting, of ``A`` or ``B``; ``changed`` is called when one was changed.

    They are made when they are first shown: a page opens quickly.
    """

    def __init__(self, name: str, settings: Settings, changed: Callable[[], None]) -> None:
        self._settings = settings
        self._changed = changed
        self._quiet = False
        self._wrong = note("wrong")
        self._widgets: dict[str, Any] = {}
        self._groups: dict[str, pn.Column] = {}
        self.view = pn.Column(sizing_mode="stretch_width", margin=0, name=name)
        self._arrange()

    @property
    def settings(self) -> Settings:
        """What the widgets say; the last that made sense, if they make none now."""
        return self._settings

    @property
    def valid(self) -> bool:
        """Whether what they say makes sense."""
        return not self._wrong.visible

    def show(self, settings: Settings) -> None:
        """Have the widgets show a setting."""
        self._quiet = True
        try:
            for name, widget in self._widgets.items():
                _show(widget, getattr(settings, name))
        finally:
            self._quiet = False
        self._settings = settings
        self._tell_wrong("")
        self._arrange()

    def _on_change(self, _event: object) -> None:
        """Take over what the widgets say, or tell why it cannot be."""
        if self._quiet:
            return
        said = {name: _said(widget) for name, widget in self._widgets.items()}
        try:
            self._settings = checked(self._settings.model_dump() | said)
        except InputError as error:
            self._tell_wrong(str(error).removeprefix("settings: "))
        else:
            self._tell_wrong("")
            self._arrange()
        self._changed()

    def _tell_wrong(self, sentence: str) -> None:
        """Say what is wrong, by the label of the control, and mark it; nothing if it is right."""
        name, _, rest = sentence.partition(": ")
        field = name.partition(" = ")[0]
        if field in CONTROLS:
            label = CONTROLS[field].label
            sentence = f"{label}{name.removeprefix(field)}: {rest}"
        tell(self._wrong, sentence)
        for other, widget in self._widgets.items():
            widget.styles = _MARKED if other == field else {}

    def _arrange(self) -> None:
        """Show the controls that have a meaning beside the others."""
        shown = [self._group(group) for group in GROUPS if group.matters(self._settings)]
        if self.view.objects != [self._wrong, *shown]:
            self.view[:] = [self._wrong, *shown]

    def _group(self, group: Group) -> pn.Column:
        if group.title not in self._groups:
            head = html(f"<h3>{group.title}</h3>", margin=(6, 0, 0, 0))
            widgets = [self._made(name) for name in group.names]
            box = pn.FlexBox(*widgets, gap="2px 10px", margin=0, align_items="end")
            self._groups[group.title] = pn.Column(head, box, sizing_mode="stretch_width", margin=0)
        return self._groups[group.title]

    def _made(self, name: str) -> Any:
        widget = _widget(name, getattr(self._settings, name))
        widget.param.watch(self._on_change, "value")
        self._widgets[name] = widget
        return widget


def _widget(name: str, value: Any) -> Any:
    """Return the widget of a field."""
    label, options = CONTROLS[name].label, options_of(name)
    if isinstance(value, bool):
        return tick(label, value, width=314, margin=(2, 0))
    look = {"label": label, "stylesheets": [WIDGET_CSS], "margin": (2, 0)}
    if options is not None:
        return pn.widgets.Select(options=options, value=value, width=152, **look)
    if isinstance(value, int):
        return pn.widgets.IntInput(value=value, start=_LEAST[name], width=152, **look)
    wide = 314 if name == "more_hints" else 152
    return pn.widgets.TextInput(value=value, width=wide, **look)


def _said(widget: Any) -> Any:
    """Return what a widget says."""
    return is_ticked(widget) if isinstance(widget, pn.widgets.CheckBoxGroup) else widget.value


def _show(widget: Any, value: Any) -> None:
    """Have a widget show a value."""
    if isinstance(widget, pn.widgets.CheckBoxGroup):
        set_ticked(widget, value)
    else:
        widget.value = value


A, B = "A", "B"


class Sides:
    """The controls of both settings; ``changed`` is called when somebody has changed something."""

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
