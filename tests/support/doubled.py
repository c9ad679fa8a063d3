"""What is told of runs and streams, of one size and of twice the size: the cost may but double."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from xc40io.config.scenario import Scenario
from xc40io.config.stream import checked_stream
from xc40io.findings.critical_path import critical_paths
from xc40io.results.animation.document import animation_html
from xc40io.results.exports.html_file import page_of
from xc40io.results.run_text import format_run
from xc40io.run.result import Result
from xc40io.run.simulate import simulate
from xc40io.studies.stream.stream_answer import stream_answer
from xc40io.studies.stream.stream_draws import Draws, run_stream
from xc40io.telling.data import document_of
from xc40io.telling.html import render
from xc40io.telling.text import text_of

Told = Callable[[], object]
"""Tells something that is there already."""


def _run(ior: str, nodes: int = 4) -> Result:
    """Return a recorded run of IOR on some nodes, four ranks on each."""
    job = {"machine": "theta", "nodes": nodes, "ppn": 4, "workload": {"ior": ior}}
    return simulate(Scenario.model_validate(job), record=True)


def _path(size: int) -> Told:
    result = _run(f"-a POSIX -w -e -b {64 * size}k -t 64k")
    return lambda: critical_paths(result)


def _replayed_path(size: int) -> Told:
    rows = [
        f"{rank},write,f,{(rank + 16 * call) << 16},65536"
        for call in range(size)
        for rank in range(16)
    ]
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder, "trace.csv")
        trace.write_text("\n".join(("rank,op,file,offset,length", *rows, "")), encoding="utf-8")
        kernel = {"name": "replay", "trace": str(trace)}
        job = {"machine": "theta", "nodes": 4, "ppn": 4, "workload": {"kernel": kernel}}
        result = simulate(Scenario.model_validate(job), record=True)
    return lambda: critical_paths(result)


def _animation(size: int) -> Told:
    result = _run(f"-a POSIX -F -w -e -b {size}m -t 1m")
    return lambda: animation_html(result)


def _text(size: int) -> Told:
    result = _run("-a POSIX -w -e -b 64k -t 64k", nodes=size)
    return lambda: format_run(result, lustre_stats=True)


def _page(size: int) -> Told:
    result = _run(f"-a POSIX -w -e -b {64 * size}k -t 64k")
    return lambda: render(page_of(result))


_STREAM: Mapping[str, Any] = {
    "machine": "theta",
    "queue": {"policy": "easy"},
    "population": {"name": "theta", "jobs": 4, "interval": "60 s"},
    "most_ranks_per_node": 1,
    "most_calls": 1,
    "rpcs_as_one": 32,
}


def _stream(size: int) -> Told:
    few = run_stream(checked_stream(_STREAM, "a test"), draws=2)
    results = [
        replace(one, jobs=tuple(replace(one.jobs[i % 4], name=f"j{i}") for i in range(size)))
        for one in few.results
    ]
    draws = Draws(tuple(results), few.notes, few.records)
    answer = stream_answer(draws, "xc40io stream")
    return lambda: (text_of(answer), document_of(answer))


class Case:
    """Something that is told, and how it is made ready in a size."""

    def __init__(self, made: Callable[[int], Told], size: int) -> None:
        self.made, self.size = made, size


CASES = {
    "critical path, by calls": Case(_path, 64),
    "critical path of a replay, by calls": Case(_replayed_path, 128),
    "animation, by RPCs": Case(_animation, 16),
    "text, by nodes": Case(_text, 16),
    "page, by calls": Case(_page, 64),
    "text and JSON of a stream, by jobs": Case(_stream, 50),
}
"""What is told of large runs, with a size that can be doubled twice."""


def calls(of: Told) -> int:
    """Return how many functions are called, of Python and of C: the same whatever the machine."""
    count = 0

    def called(_frame: object, event: str, _what: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(called)
    try:
        of()
    finally:
        sys.setprofile(before)
    return count
