"""Counters in a trace: how many RPCs and requests there were at a time, of all, sampled or not."""

from __future__ import annotations

import numpy as np

from sim.engine.types import Floats, Integers
from sim.findings.servers import to_mds
from sim.plane.recorder import Records
from sim.results.exports.trace.board import COUNTERS, Board
from sim.results.exports.trace.events import counter_event
from sim.results.exports.trace.lanes import nanoseconds
from sim.run.recording import Recording

_POINTS = 1000


def add_counters(board: Board, recording: Recording, end: float) -> None:
    """Add RPCs in flight, those that wait for disks, and requests at the MDSs, over the run."""
    times = np.linspace(0.0, end, _POINTS)
    rpcs, requests = recording.rpcs, to_mds(recording.requests)
    lines = {
        "RPCs in flight": _by_way(rpcs, "start", "ended", times),
        "RPCs that wait for disks": _by_way(rpcs, "arrived", "begun", times),
        "requests at the MDSs": {"all": _between(requests["arrived"], requests["ended"], times)},
    }
    board.group(COUNTERS, "all together")
    for name, values in lines.items():
        for i, time in enumerate(nanoseconds(times).tolist()):
            now = {word: int(count[i]) for word, count in values.items()}
            board.add(counter_event(COUNTERS, name, time, now))


def _by_way(rpcs: Records, since: str, until: str, times: Floats) -> dict[str, Integers]:
    """Return how many RPCs there were between two of their times, by way."""
    ways = {"write": rpcs[rpcs["write"] == 1], "read": rpcs[rpcs["write"] == 0]}
    return {way: _between(own[since], own[until], times) for way, own in ways.items()}


def _between(since: Floats, until: Floats, times: Floats) -> Integers:
    begun = np.searchsorted(np.sort(since), times, "right")
    over: Integers = np.searchsorted(np.sort(until), times, "right")
    return begun - over
