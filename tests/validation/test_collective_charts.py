"""The charts of collective I/O: what is past the client's cache, and what is not."""

from __future__ import annotations

from typing import Any

from drawn_charts import drawn, invented
from run_records import phase, record

from xc40io.telling.sheet import Heading
from xc40io.validation.figures.chart import Chart
from xc40io.validation.figures.collective import CHARTS, draw_alone

ALONE, CACHED, SIZES = CHARTS


def options_of(chart: Chart) -> dict[Any, tuple[str, ...]]:
    return {key: run.workload.ior or () for key, run in chart.runs().items()}


def test_no_run_past_the_cache_reads_what_it_has_written() -> None:
    runs = options_of(ALONE)
    assert len(runs) == 72
    for (access, _), options in runs.items():
        assert "-c" in options
        assert ("-w" in options, "-r" in options) == (access == "write", access == "read")
        assert "-e" in options or access == "read"


def test_runs_with_the_cache_write_and_then_read() -> None:
    runs = options_of(CACHED)
    assert len(runs) == 36
    assert all({"-c", "-w", "-r"} <= set(words) and "-e" not in words for words in runs.values())


def test_each_bar_is_of_its_own_run() -> None:
    write = {("write", (8, 1)): record(3e9, phase("write", 3e9))}
    read = {("read", (8, 1)): record(7e9, phase("read", 7e9))}
    (axes,) = draw_alone(Heading(), {**write, **read}).axes
    assert [bar.get_height() for bar in axes.patches] == [3.0, 7.0]  # type: ignore[attr-defined]


def test_writes_and_reads_by_size_have_the_same_axis() -> None:
    left, right = drawn(SIZES).axes
    assert left.get_ylim() == right.get_ylim()
    assert invented(0).phases[0].bandwidth / 1e9 > left.get_ylim()[0]
