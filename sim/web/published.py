"""What was published of the machines, and which of it a run can be held against."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import log2
from typing import NamedTuple

from xc40io.web.settings import Difference, Settings


class Point(NamedTuple):
    """A bandwidth that was published."""

    id: str  # of its row in the table of published measurements
    title: str  # what was measured, in a few words
    access: str  # ``write`` or ``read``
    bandwidth: float  # bytes/s
    written: str  # the same as its source has it, with its unit
    source: str  # where it was published, and how the number was read there
    settings: Settings  # the setting that comes nearest to what was run


class Comparable(NamedTuple):
    """A point that a phase can be held against, and in what its setting differs."""

    point: Point
    differences: Sequence[Difference]


_SAME = ("machine", "target", "files")
_ASIDE = frozenset({"work", "seed", "rpcs_as_one"})
_NODES = 2.0
"""By which factor the nodes may differ, and by which the ranks."""

_MOST = 3

_MOST_DIFFERENCES = 4
"""In how many settings a run may differ from what was published to be held against it."""


def comparable(points: Iterable[Point], settings: Settings, access: str) -> list[Comparable]:
    """Return the points that a phase can be held against, the nearest first.

    They are of the same machine, with files at the same place, shared or not as here, both with or
    both without O_DIRECT, with half to twice the nodes and the ranks, and differ in few settings.
    """
    found = [
        Comparable(point, differs)
        for point in points
        if point.access == access
        and _alike(point.settings, settings)
        and _as_large(point.settings, settings)
        and len(differs := differences(settings, point.settings)) <= _MOST_DIFFERENCES
    ]
    return sorted(found, key=lambda one: _far(settings, one.point.settings))[:_MOST]


def nearest(points: Iterable[Point], settings: Settings, access: str) -> Comparable | None:
    """Return the point of the same machine that comes nearest; None if none does."""
    found = [
        point
        for point in points
        if point.access == access and point.settings.machine == settings.machine
    ]
    if not found:
        return None
    point = min(found, key=lambda point: _far(settings, point.settings))
    return Comparable(point, differences(settings, point.settings))


def differences(mine: Settings, others: Settings) -> list[Difference]:
    """Return in what two settings differ that matters for a bandwidth."""
    return [one for one in mine.differences(others) if one.name not in _ASIDE]


def _alike(one: Settings, other: Settings) -> bool:
    names = (*_SAME, "direct")
    return all(getattr(one, name) == getattr(other, name) for name in names)


def _as_large(one: Settings, other: Settings) -> bool:
    pairs = ((one.nodes, other.nodes), (one.nodes * one.ppn, other.nodes * other.ppn))
    return all(1.0 / _NODES <= mine / others <= _NODES for mine, others in pairs)


def _far(one: Settings, other: Settings) -> tuple[float, float]:
    """Order settings by how far they are from another: by what differs, then by the nodes."""
    heavy = sum(getattr(one, name) != getattr(other, name) for name in _SAME)
    return 10.0 * heavy + len(differences(one, other)), abs(log2(one.nodes / other.nodes))
