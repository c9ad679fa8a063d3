"""When in a run the bytes were moved, by Darshan's heat maps: what there is without DXT."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from xc40io.config.units import format_seconds
from xc40io.engine.types import Integers
from xc40io.topology.text import format_count

_LAYERS = {"MPIIO": "MPI-IO"}
_NAME = "heatmap:"
"""With what the name of its record begins; the module follows."""


class HeatMap(NamedTuple):
    """The bytes that all ranks moved through a module, by time."""

    module: str  # POSIX, MPI-IO or STDIO
    width: float  # seconds of an interval; the first begins with the job
    read: Integers  # int64 (intervals,): bytes
    written: Integers  # int64 (intervals,): bytes


def heat_maps(arrays: Mapping[str, Any], names: Mapping[int, str]) -> Iterator[HeatMap]:
    """Yield what the reader found, by module."""
    place = 0
    while f"HEATMAP.{place}" in arrays:
        name = names.get(int(arrays[f"HEATMAP.{place}.id"][0]), "")
        read, written = np.maximum(arrays[f"HEATMAP.{place}"], 0)
        if name.startswith(_NAME):
            width = float(arrays[f"HEATMAP.{place}.width"][0])
            module = name.removeprefix(_NAME)
            yield HeatMap(_LAYERS.get(module, module), width, read, written)
        place += 1


def heat_sentences(maps: Sequence[HeatMap]) -> list[str]:
    """Say when bytes were read and written: in which period, and how much at a time."""
    return [
        _sentence(one, way, moved)
        for one in maps
        for way, moved in (("read", one.read), ("written", one.written))
        if moved.any()
    ]


def _sentence(of: HeatMap, way: str, moved: Integers) -> str:
    at_work = np.flatnonzero(moved)
    most = np.sort(moved)[::-1]
    half = int(np.searchsorted(np.cumsum(most), moved.sum() / 2)) + 1
    begin, end = at_work[0] * of.width, (at_work[-1] + 1) * of.width
    said = (
        f"By its heat map {moved.sum() / 1e9:,.4g} GB were {way} through {of.module} from "
        f"{format_seconds(begin, 4)} to {format_seconds(end, 4)} of the run"
    )
    if len(at_work) == 1:
        return f"{said}, all in one interval."
    return (
        f"{said}, in {len(at_work):,} of {format_count(len(moved), 'interval')} of "
        f"{format_seconds(of.width, 3)}; half of it in {half:,}, most at "
        f"{format_seconds(int(moved.argmax()) * of.width, 4)}."
    )
