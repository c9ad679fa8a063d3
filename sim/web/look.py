"""How the page looks: what its parts have in common."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

import panel as pn

from xc40io.telling.answer import Block, Card
from xc40io.telling.html import blocks_style, fragment

_FOLDER = Path(__file__).resolve().parent


@cache
def asset(name: str) -> str:
    """Return a file that lies beside this module."""
    return (_FOLDER / name).read_text(encoding="utf-8")


WIDGET_CSS = blocks_style() + asset("widget.css")
"""The style of all widgets and panes: each has a document of its own, which the page's own style
does not reach."""


def html(text: str, *, css: str = "", **look: object) -> pn.pane.HTML:
    """Return a pane of HTML; whatever comes from elsewhere must be made harmless before."""
    options = {"margin": 0, "sizing_mode": "stretch_width", **look}
    return pn.pane.HTML(text, stylesheets=[WIDGET_CSS], css_classes=[css] if css else [], **options)


def shown(blocks: Iterable[Block], cards: Sequence[Card] = ()) -> pn.pane.HTML:
    """Return a pane with blocks, as the page of an answer has them."""
    return html(fragment(list(blocks), cards))


def note(css: str, **look: object) -> pn.pane.HTML:
    """Return an empty line for plain text that changes: :func:`tell` fills it."""
    return html("", css=css, visible=False, **look)


def tell(line: pn.pane.HTML, text: str) -> None:
    """Have a line show a text, which screen readers read aloud; hide it where there is none."""
    line.object = f'<div role="status">{escape(text)}</div>' if text else ""
    line.visible = bool(text)


def paragraph(text: str, css: str = "") -> str:
    """Return a text as a paragraph of HTML."""
    kind = f' class="{css}"' if css else ""
    return f"<p{kind}>{escape(text)}</p>"


def tick(label: str, ticked: bool, **look: Any) -> pn.widgets.CheckBoxGroup:
    """Return a box to tick. Panel's own has no label that a screen reader tells; a group has."""
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
