"""A picture of a network.

What it shows depends on the kind of network: see :mod:`xc40io.topology.dragonfly_drawing` and
:mod:`xc40io.topology.torus_drawing`. Matplotlib is used without its global state, so that a program
without a screen can draw. It takes long to import: ``xc40io.topology.draw`` does so when it is
asked for.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure, FigureBase
from numpy.typing import NDArray

from xc40io.topology.dragonfly_drawing import dragonfly_subtitle, draw_dragonfly
from xc40io.topology.dragonfly_load import draw_dragonfly_load
from xc40io.topology.fabric import Fabric, FloatArray
from xc40io.topology.inks import TEXT_INK
from xc40io.topology.text import format_count
from xc40io.topology.torus_drawing import draw_torus, torus_subtitle

SUFFIXES = (".png", ".svg", ".pdf")

_PAINTERS = {
    "dragonfly": (draw_dragonfly, dragonfly_subtitle),
    "torus": (draw_torus, torus_subtitle),
}


def draw(fabric: Fabric, path: str | Path, title: str) -> None:
    """Draw a dragonfly or a torus into a file.

    Parameters
    ----------
    fabric : Fabric
        The machine's network.
    path : str or Path
        File to write, 1600 x 1000 pixels; its suffix (.png, .svg or .pdf) chooses the format.
    title : str
        Heading, for instance the machine's name.

    Raises
    ------
    ValueError
        If the suffix is another one or the fabric is of another kind.
    """
    if Path(path).suffix.lower() not in SUFFIXES:
        raise ValueError(f"drawing to {str(path)!r}: the name must end in {', '.join(SUFFIXES)}")
    figure = _paper()
    draw_network(figure, fabric, title)
    figure.savefig(path)


def draw_network(figure: FigureBase, fabric: Fabric, title: str) -> None:
    """Fill a figure, or a part of one, with a dragonfly or a torus.

    Parameters
    ----------
    figure : FigureBase
        16 x 10 inches.
    fabric : Fabric
        The machine's network.
    title : str
        Heading, for instance the machine's name.

    Raises
    ------
    ValueError
        If the fabric is of another kind.
    """
    if fabric.kind not in _PAINTERS:
        raise ValueError(f"only a dragonfly or a torus can be drawn, not a {fabric.kind}")
    paint, subtitle = _PAINTERS[fabric.kind]
    nodes = format_count(len(fabric.compute_router), "compute node")
    lnet = len(fabric.lnet_router)
    routers = f", {format_count(lnet, 'LNET router')} to the file system" if lnet else ""
    _head(figure, title, f"{subtitle(fabric)}, {nodes}{routers}")
    paint(figure, fabric)


def load_figure(
    fabric: Fabric, busy: FloatArray, nodes: NDArray[np.integer[Any]], title: str, words: str
) -> Figure:
    """Draw how busy the links of a dragonfly were.

    Parameters
    ----------
    fabric : Fabric
        The machine's network.
    busy : float64[links]
        Share of the time in which each directed link was busy, 0 to 1.
    nodes : int[nodes]
        The nodes of the job, whose routers stand out.
    title, words : str
        Heading, and a line below it.

    Raises
    ------
    ValueError
        If the fabric is of another kind: a picture of a torus does not show each of its links.
    """
    if fabric.kind != "dragonfly":
        raise ValueError(
            f"only the links of a dragonfly can be drawn, not those of a {fabric.kind}"
        )
    figure = _paper()
    _head(figure, title, words)
    draw_dragonfly_load(figure, fabric, busy, nodes)
    return figure


def _paper() -> Figure:
    """Return an empty figure."""
    return Figure(figsize=(16, 10), dpi=100, facecolor="white")


def _head(figure: FigureBase, title: str, words: str) -> None:
    """Write the heading and a line below it, each marked as what it is."""
    figure.text(0.02, 0.955, title, fontsize=22, weight="bold", color=TEXT_INK, gid="title")
    figure.text(0.02, 0.925, words, fontsize=13, color=TEXT_INK, gid="setup")
