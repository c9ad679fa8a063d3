"""A picture of a network.

What it shows depends on the kind of network: see :mod:`xc40io.topology.kinds`. Matplotlib is used
without its global state, so that a program without a screen can draw. It takes long to import:
``xc40io.topology.draw`` does so when it is asked for.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure, FigureBase
from numpy.typing import NDArray

from xc40io.topology.arrays import FloatArray
from xc40io.topology.fabric import Fabric
from xc40io.topology.inks import TEXT_INK
from xc40io.topology.kinds import kind_of
from xc40io.topology.text import format_count

SUFFIXES = (".png", ".svg", ".pdf")


def draw(fabric: Fabric, path: str | Path, title: str) -> None:
    """Draw a network into a file.

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
    """Fill a figure, or a part of one, with a network.

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
    kind = kind_of(fabric.kind)
    nodes = format_count(len(fabric.compute_router), "compute node")
    lnet = len(fabric.lnet_router)
    routers = f", {format_count(lnet, 'LNET router')} to the file system" if lnet else ""
    _head(figure, title, f"{kind.subtitle(fabric)}, {nodes}{routers}")
    kind.draw(figure, fabric)


def load_figure(
    fabric: Fabric, busy: FloatArray, nodes: NDArray[np.integer[Any]], title: str, words: str
) -> Figure:
    """Draw how busy the links of a network were.

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
        If the picture of its kind does not show each link, as that of a torus.
    """
    draw_load = kind_of(fabric.kind).draw_load
    if draw_load is None:
        raise ValueError(f"there is no picture of the links of a {fabric.kind}")
    figure = _paper()
    _head(figure, title, words)
    draw_load(figure, fabric, busy, nodes)
    return figure


def _paper() -> Figure:
    """Return an empty figure."""
    return Figure(figsize=(16, 10), dpi=100, facecolor="white")


def _head(figure: FigureBase, title: str, words: str) -> None:
    """Write the heading and a line below it, each marked as what it is."""
    figure.text(0.02, 0.955, title, fontsize=22, weight="bold", color=TEXT_INK, gid="title")
    figure.text(0.02, 0.925, words, fontsize=13, color=TEXT_INK, gid="setup")
