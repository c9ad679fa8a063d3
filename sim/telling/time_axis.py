"""Strips over time for a page: still pictures without scripts, and what the page's script reads.

The shapes are stretched to whatever room there is, the words stand beside them as text: so it can
be read on a small screen, too.
"""

from __future__ import annotations

import base64
import json
import struct
import zlib
from collections.abc import Iterator, Sequence
from math import ceil, floor, log10
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from xc40io.telling.answer import Strip, TimeAxis
from xc40io.telling.sheet import PALETTE

_HIGH = 100  # units of a drawing of curves, which is stretched
_TICKS = 7  # about how many
_DARKER = 0.5  # power of a share: little is to be seen, too
_RAMP = np.array([(255, 255, 255), (199, 233, 180), (65, 182, 196), (34, 94, 168), (8, 29, 88)])
_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"))


class Curve(NamedTuple):
    """A curve as an area below it."""

    name: str
    colour: str
    path: str  # of SVG


class DrawnStrip(NamedTuple):
    """A strip as the template writes it."""

    title: str
    unit: str
    top: str  # the largest value of the curves
    curves: Sequence[Curve]
    rows: Sequence[str]  # names
    image: str  # of the rows: a data: URI
    told: str  # what it shows, for those who cannot see it
    data: str  # JSON for the script: names and values


class DrawnAxis(NamedTuple):
    """A time axis as the template writes it."""

    steps: int
    step: float  # seconds
    unit: str
    ticks: Sequence[tuple[str, float]]  # a label, and where it stands: % of the width
    strips: Sequence[DrawnStrip]


def drawn_axis(axis: TimeAxis) -> DrawnAxis:
    """Return what the template writes of a time axis."""
    steps = max((strip.values.shape[1] for strip in axis.strips), default=1)
    unit, ticks = ticks_of(steps * axis.step)
    return DrawnAxis(steps, axis.step, unit, ticks, [_drawn(strip) for strip in axis.strips])


def ticks_of(end: float) -> tuple[str, list[tuple[str, float]]]:
    """Return the unit of an axis from 0 to ``end`` seconds, and its ticks: labels and places."""
    factor, unit = next((each for each in _UNITS if end >= 5 * each[0]), _UNITS[-1])
    whole = end / factor
    rough = whole / _TICKS
    power = 10.0 ** floor(log10(rough)) if rough > 0 else 1.0
    wide = next(power * of for of in (1, 2, 5, 10) if power * of >= rough * 0.999)
    return unit, [
        (f"{place * wide:,.10g}", 100 * place * wide / whole)
        for place in range(ceil(whole / wide))
        if place * wide <= 0.97 * whole
    ]


def _drawn(strip: Strip) -> DrawnStrip:
    values = strip.values
    told = f"{strip.title}. {', '.join(strip.names)}"
    if strip.rows:
        data = {"names": list(strip.names), "values": np.rint(100 * values).astype(int).tolist()}
        return DrawnStrip(
            strip.title, strip.unit, "", (), strip.names, _image(values), told, _json(data)
        )
    top = float(values.max(initial=0.0))
    curves = [
        Curve(name, colour, "".join(_area(row / top if top else row)))
        for name, colour, row in zip(strip.names, PALETTE, values, strict=False)
    ]
    shown = [[float(f"{value:.4g}") for value in row] for row in values.tolist()]
    data = {"names": list(strip.names), "values": shown}
    return DrawnStrip(strip.title, strip.unit, f"{top:,.3g}", curves, (), "", told, _json(data))


def _json(data: object) -> str:
    """Return JSON that may stand in a page: nothing in it can end the element that it is in."""
    return json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")


def _area(row: npt.NDArray[np.float64]) -> Iterator[str]:
    """Yield the path of steps: what has not changed is not said again."""
    high = np.round(_HIGH * (1.0 - row), 2).tolist()
    yield f"M0 {_HIGH}"
    last = None
    for place, value in enumerate(high):
        if value != last:
            yield f"H{place}V{value:g}"
            last = value
    yield f"H{len(high)}V{_HIGH}Z"


def _image(shares: npt.NDArray[np.float64]) -> str:
    """Return a picture of shares, 0 to 1, with a pixel for each: a data: URI of a PNG."""
    place = np.clip(shares, 0.0, 1.0) ** _DARKER * (len(_RAMP) - 1)
    low = np.minimum(place.astype(np.int64), len(_RAMP) - 2)
    part = (place - low)[..., None]
    colours = np.rint(_RAMP[low] * (1 - part) + _RAMP[low + 1] * part).astype(np.uint8)
    high, wide = shares.shape
    lines = b"".join(b"\0" + line.tobytes() for line in colours)
    png = b"\x89PNG\r\n\x1a\n" + b"".join(
        _chunk(*each)
        for each in (
            (b"IHDR", struct.pack(">IIBBBBB", wide, high, 8, 2, 0, 0, 0)),
            (b"IDAT", zlib.compress(lines, 9)),
            (b"IEND", b""),
        )
    )
    return f"data:image/png;base64,{base64.b64encode(png).decode()}"


def _chunk(kind: bytes, content: bytes) -> bytes:
    check = struct.pack(">I", zlib.crc32(kind + content))
    return struct.pack(">I", len(content)) + kind + content + check
