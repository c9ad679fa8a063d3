"""The controls of one setting: a widget for each field, grouped, and what they say together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import panel as pn

from sim.config.errors import InputError
from sim.config.files import shipped
from sim.web.copies import checked
from sim.web.look import WIDGET_CSS, html, note, tell
from sim.web.settings import Settings
from sim.web.ticks import is_ticked, set_ticked, tick

Options = dict[str, Any]


class _Control(NamedTuple):
    """A field as a widget.

    Attributes
    ----------
    name
        Of the field.
    label
        Beside the widget.
    options
        The values that there are, by their words; None for a number, a text or a yes or no.
    """

    name: str
    label: str
    options: Options | None = None


_AUTOMATIC = {"automatic": "automatic", "enable": "enable", "disable": "disable"}
_GROUPS: dict[str, tuple[_Control, ...]] = {
    "Job": (
        _Control("machine", "Machine", {name: name for name in shipped("machines")}),
        _Control(
            "target",
            "Files on",
            {"Lustre": "lustre", "SSDs of the nodes": "ssd", "burst buffer": "bb"},
        ),
        _Control("nodes", "Nodes"),
        _Control("ppn", "Ranks a node"),
    ),
    "Calls": (
        _Control("work", "Work", {"write, then read": "both", "write": "write", "read": "read"}),
        _Control("files", "Files", {"one, shared": "shared", "one a rank": "own"}),
        _Control(
            "pattern",
            "Pattern",
            {"segmented": "segmented", "strided": "strided", "random": "random"},
        ),
        _Control("api", "API", {name: name for name in ("POSIX", "MPIIO", "HDF5", "NCMPI")}),
        _Control("block", "Bytes of a rank"),
        _Control("transfer", "Bytes of a call"),
    ),
    "Stripes": (
        _Control("stripe_count", "Stripe count (-1: all)"),
        _Control("stripe_size", "Stripe size"),
    ),
    "Client cache": (
        _Control("fsync", "fsync after writing (-e)"),
        _Control("reorder", "Read what others wrote (-C)"),
        _Control("direct", "Past the cache (O_DIRECT)"),
    ),
    "MPI-IO": (
        _Control("collective", "Collective calls (-c)"),
        _Control("cb_nodes", "Aggregators (0: auto)"),
        _Control("multiplier", "Multiplier"),
        _Control(
            "lock_mode",
            "Lock mode",
            {"0: extent locks": "0", "1: a group lock": "1", "2: ahead": "2"},
        ),
        _Control("cb_write", "romio_cb_write", _AUTOMATIC),
        _Control("cb_read", "romio_cb_read", _AUTOMATIC),
        _Control("more_hints", "Other hints (a=1:b=2)"),
    ),
    "More": (
        _Control("seed", "Seed"),
        _Control("rpcs_as_one", "RPCs handled as one"),
    ),
}


_LEAST = {
    name: field.get("minimum", 0)
    for name, field in Settings.model_json_schema()["properties"].items()
}


class Controls:
    """The widgets of one setting.

    They are made when they are first shown: a page opens quickly.

    Parameters
    ----------
    name
        ``A`` or ``B``.
    settings
        What they show at first.
    changed
        Called when somebody has changed one of them.
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
        tell(self._wrong, "")
        self._arrange()

    def _on_change(self, _event: object) -> None:
        """Take over what the widgets say, or tell why it cannot be."""
        if self._quiet:
            return
        said = {name: _said(widget) for name, widget in self._widgets.items()}
        try:
            self._settings = checked(self._settings.model_dump() | said)
        except InputError as error:
            tell(self._wrong, str(error).removeprefix("settings: "))
        else:
            tell(self._wrong, "")
            self._arrange()
        self._changed()

    def _arrange(self) -> None:
        """Show the controls that have a meaning beside the others."""
        hidden = {"Stripes": not self._settings.striped, "MPI-IO": not self._settings.hinted}
        shown = [self._group(title) for title in _GROUPS if not hidden.get(title, False)]
        if self.view.objects != [*shown, self._wrong]:
            self.view[:] = [*shown, self._wrong]

    def _group(self, title: str) -> pn.Column:
        if title not in self._groups:
            head = html(f"<h3>{title}</h3>", margin=(6, 0, 0, 0))
            widgets = [self._made(control) for control in _GROUPS[title]]
            box = pn.FlexBox(*widgets, gap="2px 10px", margin=0, align_items="end")
            self._groups[title] = pn.Column(head, box, sizing_mode="stretch_width", margin=0)
        return self._groups[title]

    def _made(self, control: _Control) -> Any:
        widget = _widget(control, getattr(self._settings, control.name))
        widget.param.watch(self._on_change, "value")
        self._widgets[control.name] = widget
        return widget


def _widget(control: _Control, value: Any) -> Any:
    """Return the widget of a field."""
    if isinstance(value, bool):
        return tick(control.label, value, width=314, margin=(2, 0))
    look = {"label": control.label, "stylesheets": [WIDGET_CSS], "margin": (2, 0)}
    if control.options is not None:
        return pn.widgets.Select(options=control.options, value=value, width=152, **look)
    if isinstance(value, int):
        start = _LEAST[control.name]
        return pn.widgets.IntInput(value=value, start=start, width=152, **look)
    wide = 314 if control.name == "more_hints" else 152
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
