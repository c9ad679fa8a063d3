"""The page of a stream of jobs: how its jobs fared, the picture, and how to do it again."""

from __future__ import annotations

from importlib.metadata import version

from sim.studies.stream.stream_draws import Draws
from sim.studies.stream.stream_plot import stream_figure
from sim.studies.stream.stream_text import format_stream
from sim.telling.answer import Answer, Listing, Picture, Section
from topology.text import format_count


def stream_page(found: Draws, command: str) -> Answer:
    """Return the page of a stream of jobs; `command` as it was typed."""
    result = found.first
    jobs, nodes = format_count(len(result.jobs), "job"), format_count(result.nodes, "node")
    picture = Picture("stream", lambda: stream_figure(result))
    return Answer(
        title=f"{jobs} on {nodes} of {result.machine.name}",
        setup=f"Simulated on {result.machine.name}, seed {result.scenario.seed}",
        blocks=[
            Section("result", "How the jobs fared", [Listing("Answer", format_stream(found))]),
            Section("pictures", "Picture", [picture]),
            Section("again", "To run it again", [Listing("Command", command, typed=True)]),
        ],
        version=version("xc40io"),
    )
