"""A trace as a file: all of a small run, of a large one an even sample.

Of ranks it has their calls, and below them what they waited for.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from typing import Any

import numpy as np

from xc40io.archive.whole_files import replacing
from xc40io.engine.types import Integers
from xc40io.findings.servers import end_of
from xc40io.findings.waits import AT_WORDS, Words, words_of
from xc40io.plane.causes import Cause
from xc40io.plane.operations import Op
from xc40io.plane.recorder import Records
from xc40io.results.exports.machine_view import MachineView, parts_by, view_of
from xc40io.results.exports.targets import client_host
from xc40io.results.exports.trace.board import (
    NODES,
    Board,
    Event,
    Lane,
    cut,
    nanoseconds,
    slice_event,
)
from xc40io.results.exports.trace.rpc_events import (
    add_counters,
    add_requests,
    add_rpcs,
    lustre_requests,
)
from xc40io.results.pictures.scene import scene_of_jobs, setup_of
from xc40io.run.jobs import JobsResult
from xc40io.run.result import Result

MOST_EVENTS = 300_000
"""Events of a trace, about: what a browser shows without delay."""

_OF_RANKS = MOST_EVENTS // 2
_OF_RPCS = MOST_EVENTS // 3
_OF_REQUESTS = MOST_EVENTS - _OF_RANKS - _OF_RPCS
_AN_RPC = 8  # events of an RPC: slices at the client, the router and the OST, and four arrows' ends

_BOOKKEEPING = (Op.MARK, Op.LIMIT, Op.REPEAT, Op.PARK, Op.FORK, Op.ITEM)
"""What takes no time, or is the rest of a thread that has nothing to do."""


def write_trace(content: Result | JobsResult, path: str, option: str) -> list[str]:
    """Write a run as a trace; return its path. A name that ends in ``.gz`` is compressed.

    Raises
    ------
    InputError
        If the run was not recorded, or the file cannot be written.
    """
    text = "".join(_lines(view_of(content, option), _setup(content))).encode()
    with replacing(path, option) as draft:
        draft.write_bytes(gzip.compress(text, mtime=0) if path.endswith(".gz") else text)
    return [path]


def _setup(content: Result | JobsResult) -> str:
    """Say in a line what was run."""
    if isinstance(content, JobsResult):
        return scene_of_jobs(content).setup
    return setup_of(content.scenario)


def _lines(view: MachineView, setup: str) -> Iterator[str]:
    """Yield the lines of the file: an event each."""
    board = Board()
    said = {"run": setup, **_fill(board, view)}
    yield f'{{"displayTimeUnit": "ms", "otherData": {json.dumps(said)}, "traceEvents": ['
    before, encode = "\n", json.JSONEncoder(separators=(",", ":")).encode
    for event in board.events():
        yield before + encode(event)
        before = ",\n"
    yield "\n]}\n"


def _fill(board: Board, view: MachineView) -> dict[str, Any]:
    """Put everything on the board; return what is said of it."""
    recording = view.recording
    ranks, rpcs = sampled_ranks(view), sampled_rpcs(recording.rpcs)
    asked = lustre_requests(recording.requests)
    requests = sampled_requests(asked)
    add_counters(board, recording, end_of(view.result))
    add_ranks(board, view, ranks)
    add_rpcs(board, view, rpcs)
    add_requests(board, view, requests)
    return {
        "made by": f"xc40io {view.result.version}, a simulator",
        "time": "simulated",
        "ranks": _shown(len(ranks), len(ranks_of(view))),
        "bulk RPCs": _shown(len(rpcs), len(recording.rpcs)),
        "small requests": _shown(len(requests), len(asked)),
        "recorded until (s)": "the end" if recording.stopped is None else recording.stopped,
    }


def _shown(shown: int, there: int) -> str:
    """Say how many are shown, of how many."""
    return f"all {there:,}" if shown == there else f"{shown:,} of {there:,}, evenly spread"


def every(total: int, room: int) -> int:
    """Return the smallest n such that every n-th of so many fits into the room."""
    return max(-(-total // room), 1)


def sampled_rpcs(rpcs: Records) -> Records:
    """Return RPCs that have ended: all, or every n-th of them."""
    done = rpcs[np.isfinite(rpcs["ended"])]
    sample: Records = done[:: every(len(done), _OF_RPCS // _AN_RPC)]
    return sample


def sampled_requests(requests: Records) -> Records:
    """Return small requests that have ended: all, or every n-th of them."""
    done = requests[np.isfinite(requests["ended"])]
    sample: Records = done[:: every(len(done), _OF_REQUESTS)]
    return sample


def ranks_of(view: MachineView) -> Integers:
    """Return the programs that are ranks of jobs, and not threads of them: int64, ascending."""
    return np.flatnonzero((view.job_of_program >= 0) & (view.thread == 0))


def sampled_ranks(view: MachineView) -> Integers:
    """Return the ranks that are shown: all, or every n-th, with all that is recorded of each.

    Returns
    -------
    Integers
        int64: the programs of these ranks, ascending; one at least.
    """
    ranks = ranks_of(view)
    each = np.zeros(len(ranks), np.int64)
    place = np.searchsorted(ranks, np.arange(len(view.rank)), "right") - 1  # threads follow ranks
    for records in (view.recording.calls, view.recording.spans):
        own = view.of_jobs(records)
        each += np.bincount(place[own["program"]], minlength=len(ranks))
    step = every(int(each.sum()), _OF_RANKS)
    while step < len(ranks) and each[::step].sum() > _OF_RANKS:
        step += 1
    return ranks[:: min(step, len(ranks))]


def of_ranks(view: MachineView, records: Records, shown: Integers) -> Records:
    """Return the calls or spans of some ranks and their threads, the first ones if too many."""
    jobs_and_ranks = np.stack([view.job_of_program, view.rank])
    whole = np.isin(_keys(jobs_and_ranks), _keys(jobs_and_ranks[:, shown]))
    own: Records = records[whole[records["program"]] & (view.rank[records["program"]] >= 0)]
    return own[:_OF_RANKS]


def _keys(jobs_and_ranks: Integers) -> Integers:
    """Return a number for each pair of job and rank."""
    keys: Integers = jobs_and_ranks[0] * (1 << 32) + jobs_and_ranks[1]
    return keys


def add_ranks(board: Board, view: MachineView, shown: Integers) -> None:
    """Add the calls and the waits of some ranks, each of their programs in a lane of its own."""
    calls = of_ranks(view, view.recording.calls, shown)
    calls = calls[~np.isin(calls["op"], _BOOKKEEPING) & (calls["end"] > calls["start"])]
    spans = of_ranks(view, view.recording.spans, shown)
    calls_of, spans_of = parts_by(calls, calls["program"]), parts_by(spans, spans["program"])
    words = words_of(view.result.machine, AT_WORDS)
    for program in sorted({*calls_of, *spans_of}):
        node = int(view.node[program])
        lane = board.lane(NODES + node, client_host(node), 1 + program, _name(view, program))
        own = calls_of.get(program, calls[:0])
        start, end = nanoseconds(own["start"]), nanoseconds(own["end"])
        for call, begin, stop in zip(own, start.tolist(), end.tolist(), strict=True):
            board.add(_call(lane, call, begin, stop, view.file_names))
        borders = np.unique(np.concatenate([start, end]))
        _add_spans(board, lane, spans_of.get(program, spans[:0]), borders, words)


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


def _add_spans(board: Board, lane: Lane, spans: Records, borders: Integers, words: Words) -> None:
    """Add what a program waited for, cut where calls begin and end."""
    start, end = nanoseconds(spans["since"]), nanoseconds(spans["until"])
    for cause, since, until in zip(spans["cause"], start.tolist(), end.tolist(), strict=True):
        what = Cause(int(cause))
        for begin, stop in cut(since, until, borders):
            name = f"waits: {what.name.lower()}"
            board.add(slice_event(lane, name, "wait", begin, stop, {"for": words[what]}))
