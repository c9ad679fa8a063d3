"""Figures as SVG that becomes part of a page, and as files of any kind."""

from __future__ import annotations

import re
from html import escape
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING

from sim.telling.sheet import INK

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_NAMED = re.compile(r'(\bid="|\bhref="#|url\(#)')
_HEAD = re.compile(r"\A.*?(?=<svg)", re.DOTALL)
_ABOUT = re.compile(r"<metadata>.*?</metadata>\s*", re.DOTALL)
_SIZE = re.compile(r'(<svg[^>]*?) width="[\d.]+pt" height="[\d.]+pt"')


def inline_svg(figure: Figure, name: str, described: str) -> str:
    """Return a figure as an ``svg`` element.

    It has no background, what is drawn in :data:`~sim.telling.sheet.INK` has the colour of
    the text around it, and no other figure has the names within it. The same figure gives
    the same text.

    Parameters
    ----------
    figure
        What is drawn.
    name
        Of the figure, without spaces.
    described
        What it shows, for those who cannot see it.
    """
    from matplotlib import rc_context

    written = StringIO()
    with rc_context({"svg.hashsalt": name, "svg.fonttype": "path"}):
        figure.savefig(written, format="svg", transparent=True, metadata={"Date": None})
    text = _ABOUT.sub("", _HEAD.sub("", written.getvalue()))
    text = _NAMED.sub(rf"\g<1>{name}-", text).replace(INK, "currentColor")
    label = f'role="img" aria-label="{escape(described)}"'
    return _SIZE.sub(lambda found: f"{found[1]} {label}", text, count=1).strip()


def save_figure(figure: Figure, path: Path, kind: str) -> None:
    """Write a figure into a file.

    Parameters
    ----------
    figure
        What is drawn.
    path
        Of the file.
    kind
        Its format: ``svg``, ``png`` or ``pdf``.
    """
    from matplotlib import rc_context

    metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {"Software": None}}
    with rc_context({"svg.hashsalt": "xc40io"}):  # else its names differ from run to run
        figure.savefig(path, format=kind, metadata=metadata[kind])
