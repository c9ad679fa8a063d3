"""The page of a stream of jobs: how its jobs fared, the picture, and how to do it again."""

from __future__ import annotations

from importlib.metadata import version

from sim.studies.stream.stream_draws import Draws
from sim.studies.stream.stream_plot import stream_figure
from sim.studies.stream.stream_table import job_row
from sim.studies.stream.stream_text import format_stream
from sim.telling.answer import Answer, Listing, Picture, Section, plain_table
from topology.text import format_count


def stream_page(found: Draws, command: str) -> Answer:
    """Return the page of a stream of jobs; `command` as it was typed."""
    result = found.first
    rows = [job_row(found, job) for job in result.jobs]
    heads = [name for name in rows[0] if any(row[name] is not None for row in rows)]
    cells = [[_cell(row[name]) for name in heads] for row in rows]
    note = "Times in seconds, what was read and written in bytes."
    jobs = format_count(len(rows), "job")
    return Answer(
        title=f"{jobs} on {format_count(result.nodes, 'node')} of {result.machine.name}",
        setup=f"Simulated on {result.machine.name}, seed {result.scenario.seed}",
        blocks=[
            Section("result", "How the jobs fared", [Listing("Answer", format_stream(found))]),
            Section("pictures", "Picture", [Picture("stream", lambda: stream_figure(result))]),
            Section("jobs", "Jobs", [plain_table("All jobs", heads, cells, note=note)]),
            Section("again", "To run it again", [Listing("Command", command, typed=True)]),
        ],
        version=version("xc40io"),
    )


def _cell(value: object) -> str:
    """Return a value of the row of a job; numbers of any kind with four digits that count."""
    if isinstance(value, float):
        return f"{value:,.4g}" if abs(value) < 1e4 else f"{value:,.0f}"
    return "" if value is None else f"{value:,}" if isinstance(value, int) else str(value)
