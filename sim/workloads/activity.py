"""What the ranks of a job did, whatever the workload."""

from __future__ import annotations

from typing import NamedTuple

from sim.config.kept import kept
from sim.workloads.stretch import Stretch


@kept
class Activity(NamedTuple):
    """All stretches of a run in which its ranks did the same thing.

    Attributes
    ----------
    part
        Place of the part of the workload that it belongs to, from 0: of the test in an IOR command.
    name
        What they did: ``write``.
    stretches
        When, in order.
    """

    part: int
    name: str
    stretches: tuple[Stretch, ...]


def phase_title(part: int, name: str, *, several: bool) -> str:
    """Return what a kind of phase is called; with its part where there are several."""
    return f"test {part}, {name}" if several else name
