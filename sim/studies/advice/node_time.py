"""What I/O costs in nodes: how many a job has, times the seconds that it spends in I/O.

A job on twice the nodes that is 1.5 times as fast takes 1.33 times as many node-hours from its
project's account. So whoever changes the number of nodes is told both.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import mean
from typing import NamedTuple

_HOUR = 3600.0
_MANY = 1000.0


class NodeTime(NamedTuple):
    """Node-seconds of a job's I/O, before a change of its nodes and after it."""

    before: float
    after: float

    @property
    def words(self) -> str:
        """Both, as in ``2.3 node-hours of I/O in place of 1.2``; below an hour node-seconds."""
        hours = max(self) >= _HOUR
        unit, scale = ("node-hours", _HOUR) if hours else ("node-seconds", 1.0)
        before, after = (_written(figure / scale) for figure in self)
        return f"{after} {unit} of I/O in place of {before}"


def node_time(
    nodes: tuple[int, int], before: Sequence[float], after: Sequence[float]
) -> NodeTime | None:
    """Return the node-seconds of I/O before and after a change; None if it needs as many nodes.

    Parameters
    ----------
    nodes
        Of the job, before and after.
    before, after
        Seconds of its I/O, by seed.
    """
    if nodes[0] == nodes[1]:
        return None
    return NodeTime(nodes[0] * mean(before), nodes[1] * mean(after))


def _written(figure: float) -> str:
    """Write a figure with three digits, and whole thousands in full."""
    return f"{figure:#.3g}".rstrip(".") if figure < _MANY else f"{figure:,.0f}"
