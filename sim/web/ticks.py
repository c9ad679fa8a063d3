"""A box to tick. Panel's own has no label that a screen reader tells; a group of one has."""

from __future__ import annotations

from typing import Any

import panel as pn

from sim.web.look import WIDGET_CSS


def tick(label: str, ticked: bool, **look: Any) -> pn.widgets.CheckBoxGroup:
    """Return a box with its label."""
    return pn.widgets.CheckBoxGroup(
        options={label: True}, value=_value(ticked), stylesheets=[WIDGET_CSS], **look
    )


def is_ticked(box: pn.widgets.CheckBoxGroup) -> bool:
    """Tell whether a box is ticked."""
    return bool(box.value)


def set_ticked(box: pn.widgets.CheckBoxGroup, ticked: bool) -> None:
    """Tick a box, or not."""
    box.value = _value(ticked)


def _value(ticked: bool) -> list[bool]:
    return [True] if ticked else []
