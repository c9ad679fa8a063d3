"""Ranks in a trace: their calls, and below them what they waited for."""

from __future__ import annotations

from typing import Any

import numpy as np

from sim.engine.types import Integers
from sim.findings.causes import AT_WORDS
from sim.plane.causes import Cause
from sim.plane.operations import Op
from sim.plane.recorder import Records
from sim.results.exports.machine_view import MachineView, parts_by
from sim.results.exports.targets import client_host
from sim.results.exports.trace.events import NODES, Board, Event, Lane, slice_event
from sim.results.exports.trace.lanes import cut, nanoseconds
from sim.results.exports.trace.sampling import of_ranks

_BOOKKEEPING = (Op.MARK, Op.LIMIT, Op.REPEAT, Op.PARK, Op.FORK, Op.ITEM)
"""What takes no time, or is the rest of a thread that has nothing to do."""


def add_ranks(board: Board, view: MachineView, shown: Integers) -> None:
    """Add the calls and the waits of some ranks, each of their programs in a lane of its own."""
    calls = of_ranks(view, view.recording.calls, shown)
    calls = calls[~np.isin(calls["op"], _BOOKKEEPING) & (calls["end"] > calls["start"])]
    spans = of_ranks(view, view.recording.spans, shown)
    calls_of, spans_of = parts_by(calls, calls["program"]), parts_by(spans, spans["program"])
    for program in sorted({*calls_of, *spans_of}):
        node = int(view.node[program])
        lane = board.lane(NODES + node, client_host(node), 1 + program, _name(view, program))
        own = calls_of.get(program, calls[:0])
        start, end = nanoseconds(own["start"]), nanoseconds(own["end"])
        for call, begin, stop in zip(own, start.tolist(), end.tolist(), strict=True):
            board.add(_call(lane, call, begin, stop, view.file_names))
        borders = np.unique(np.concatenate([start, end]))
        _add_spans(board, lane, spans_of.get(program, spans[:0]), borders)


def _name(view: MachineView, program: int) -> str:
    """Return the name of a program's lane: ``rank 3``, with its job and its thread."""
    job = view.names[view.job_of_program[program]]
    thread = f", thread {view.thread[program]}" if view.thread[program] else ""
    return f"{job} rank {view.rank[program]}{thread}".strip()


def _call(lane: Lane, call: Any, start: int, end: int, names: tuple[str, ...]) -> Event:
    """Return the slice of a call."""
    operation = Op(int(call["op"]))
    said: dict[str, Any] = {}
    if call["file"] >= 0:
        said["file"] = names[call["file"]]
    if operation in (Op.READ, Op.WRITE):
        said |= {"offset": int(call["offset"]), "bytes": int(call["bytes"])}
    return slice_event(lane, operation.name.lower(), "call", start, end, said)


def _add_spans(board: Board, lane: Lane, spans: Records, borders: Integers) -> None:
    """Add what a program waited for, cut where calls begin and end."""
    start, end = nanoseconds(spans["since"]), nanoseconds(spans["until"])
    for cause, since, until in zip(spans["cause"], start.tolist(), end.tolist(), strict=True):
        what = Cause(int(cause))
        for begin, stop in cut(since, until, borders):
            name = f"waits: {what.name.lower()}"
            board.add(slice_event(lane, name, "wait", begin, stop, {"for": AT_WORDS[what]}))
