"""When in a run the bytes were moved, by Darshan's heat maps: what there is without DXT."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from xc40io.config.units import format_seconds
from xc40io.engine.types import Floats, Integers
from xc40io.topology.text import format_count
from xc40io.workloads.darshan.module_counters import SHARED, Counters, Direction

_LAYERS = {"MPIIO": "MPI-IO"}
_NAME = "heatmap:"
"""With what the name of its record begins; the module follows."""


_ROUNDED = 0.01
"""How far a map may be from the counters: Darshan deals the bytes of a call to its intervals."""


class Pace(NamedTuple):
    """How a rank, or all of them, went on with their bytes."""

    width: float  # seconds of an interval; the first begins with the job
    moved: Integers  # int64 (intervals,): bytes

    def reached(
        self, parts: Floats, window: tuple[float, float], side: Literal["left", "right"]
    ) -> Floats | None:
        """Return when such parts of what was moved within a window had been; None if nothing was.

        Where nothing was moved for a while, ``side`` says whether it is the time before that or
        the one after it.
        """
        edges = np.clip(np.arange(len(self.moved) + 1) * self.width, *window)
        moved = np.where(np.diff(edges) > 0.0, self.moved, 0)
        if not moved.any():
            return None
        done = np.append(0, np.cumsum(moved)) / moved.sum()
        near = parts + (_NEAR if side == "right" else -_NEAR)
        at = np.clip(np.searchsorted(done, near, side) - 1, 0, int(np.flatnonzero(moved)[-1]))
        share = (parts - done[at]) / np.maximum(np.diff(done)[at], _NEAR)
        found: Floats = edges[at] + np.clip(share, 0.0, 1.0) * np.diff(edges)[at]
        return found


_NEAR = 1e-12
"""Parts that differ by less are the same: those of calls, and those of intervals."""


class HeatMap(NamedTuple):
    """The bytes that all ranks moved through a module, by time."""

    module: str  # POSIX, MPI-IO or STDIO
    width: float  # seconds of an interval; the first begins with the job
    read: Integers  # int64 (intervals,): bytes
    written: Integers  # int64 (intervals,): bytes
    cells: Integers  # int64 (4, cells): rank, interval, bytes read, bytes written; by rank

    def pace(self, direction: Direction, rank: int = SHARED) -> Pace:
        """Return how a rank went on, or all of them together."""
        if rank == SHARED:
            return Pace(self.width, self.read if direction == "READ" else self.written)
        mine = slice(*np.searchsorted(self.cells[0], (rank, rank + 1)).tolist())
        moved = np.zeros_like(self.read)
        moved[self.cells[1, mine]] = self.cells[2 if direction == "READ" else 3, mine]
        return Pace(self.width, moved)

    def contradiction(self, counters: Counters) -> str:
        """Say where the counters of the module have other bytes; nothing if they have not."""
        said = []
        for way, mine in (("READ", self.read), ("WRITTEN", self.written)):
            here, there = int(mine.sum()), counters.total(f"BYTES_{way}")
            if abs(here - there) > _ROUNDED * max(here, there):
                said.append(f"{here:,} bytes {way.lower()}, where its counters have {there:,}")
        return f"the heat map of {self.module} has {' and '.join(said)}" if said else ""


def heat_maps(arrays: Mapping[str, Any], names: Mapping[int, str]) -> Iterator[HeatMap]:
    """Yield what the reader found, by module."""
    place = 0
    while f"HEATMAP.{place}" in arrays:
        name = names.get(int(arrays[f"HEATMAP.{place}.id"][0]), "")
        read, written = np.maximum(arrays[f"HEATMAP.{place}"], 0)
        if name.startswith(_NAME):
            width = float(arrays[f"HEATMAP.{place}.width"][0])
            module = name.removeprefix(_NAME)
            cells = np.maximum(arrays[f"HEATMAP.{place}.cells"], 0)
            cells = cells[:, np.argsort(cells[0], kind="stable")]
            yield HeatMap(_LAYERS.get(module, module), width, read, written, cells)
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
