"""Pictures of the album as parts of a page."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable
from io import BytesIO
from typing import TYPE_CHECKING

from sim.results.page.content import Picture
from sim.results.pictures.sheet import NARROW, WIDE, take_heading
from sim.results.pictures.svg import inline_svg

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MOST_SVG = 250_000
"""Letters of an SVG above which a picture becomes an image: many shapes are slow to draw."""

_SIZE = slice(16, 24)  # where a PNG tells its width and height


def picture_parts(pictures: Iterable[tuple[str, Figure]], prefix: str = "") -> list[Picture]:
    """Return pictures with their names as parts of a page; the names begin with ``prefix``."""
    return [picture_part(f"{prefix}{name}", figure) for name, figure in pictures]


def picture_part(name: str, figure: Figure) -> Picture:
    """Return a figure as a part of a page, which writes its heading and caption as text.

    It is drawn as SVG, which is sharp on every screen and on paper, or where that would be long as
    an image.
    """
    from matplotlib import rc_context
    from matplotlib.collections import QuadMesh

    heading = take_heading(figure)
    for axes in figure.axes:
        for mesh in axes.findobj(QuadMesh):
            mesh.set_rasterized(True)  # as SVG it would be an element a cell
    told = heading.title, heading.setup, heading.caption
    narrow = figure.get_figwidth() < (NARROW + WIDE) / 2
    with rc_context({"savefig.bbox": "tight", "savefig.pad_inches": 0.05}):  # no room for a heading
        svg = inline_svg(figure, name, f"{heading.title}. {heading.setup}")
        if len(svg) <= _MOST_SVG:
            return Picture(name, *told, svg=svg, narrow=narrow)
        written = BytesIO()
        figure.savefig(written, format="png", metadata={"Software": None})
    data = written.getvalue()
    width, height = (int.from_bytes(data[_SIZE][place : place + 4], "big") for place in (0, 4))
    image = f"data:image/png;base64,{b64encode(data).decode()}"
    return Picture(name, *told, image=image, size=(width, height), narrow=narrow)
