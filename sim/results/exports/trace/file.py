"""A trace as a file."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from typing import Any

from sim.archive.files import replacing
from sim.findings.servers import end_of
from sim.results.exports.machine_view import MachineView, view_of
from sim.results.exports.trace.events import Board
from sim.results.exports.trace.ranks import add_ranks
from sim.results.exports.trace.rpcs import add_counters, add_requests, add_rpcs, lustre_requests
from sim.results.exports.trace.sampling import (
    ranks_of,
    sampled_ranks,
    sampled_requests,
    sampled_rpcs,
)
from sim.results.pictures.scene import scene_of_jobs, setup_of
from sim.run.jobs import JobsResult
from sim.run.result import Result


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
