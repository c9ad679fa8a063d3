"""The published curves redrawn from simulated runs, with what was published in them."""

from __future__ import annotations

from xc40io.validation.figures.gallery import (
    GalleryFigure,
    all_charts,
    charts_named,
    draw,
    draw_all,
    png,
)

__all__ = ["GalleryFigure", "all_charts", "charts_named", "draw", "draw_all", "png"]
