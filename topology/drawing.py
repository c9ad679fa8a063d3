"""A picture of a network.

What it shows depends on the kind of network: see :mod:`topology.dragonfly_drawing` and
:mod:`topology.torus_drawing`. Matplotlib is imported only when something is drawn, and without its
global state, so that a program without a screen can draw and a program that draws nothing does not
wait for it.
"""

from __future__ import annotations

from pathlib import Path

from topology.dragonfly_drawing import dragonfly_subtitle, draw_dragonfly
from topology.fabric import Fabric
from topology.inks import TEXT_INK
from topology.text import format_count
from topology.torus_drawing import draw_torus, torus_subtitle

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
    if fabric.kind not in _PAINTERS:
        raise ValueError(f"only a dragonfly or a torus can be drawn, not a {fabric.kind}")
    from matplotlib.figure import Figure

    paint, subtitle = _PAINTERS[fabric.kind]
    nodes = format_count(len(fabric.compute_router), "compute node")
    routers = format_count(len(fabric.lnet_router), "LNET router")
    words = f"{subtitle(fabric)}, {nodes}, {routers} to the file system"
    figure = Figure(figsize=(16, 10), dpi=100, facecolor="white")
    figure.text(0.02, 0.955, title, fontsize=22, weight="bold", color=TEXT_INK)
    figure.text(0.02, 0.925, words, fontsize=13, color=TEXT_INK)
    paint(figure, fabric)
    figure.savefig(path)
