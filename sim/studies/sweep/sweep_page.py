"""The page of a sweep: which values are the best, the picture, all points, how to run it again."""

from __future__ import annotations

from functools import partial
from importlib.metadata import version

from sim.config.errors import InputError
from sim.config.scenario import machine_of
from sim.results.machine_text import machine_parts
from sim.results.run_answer import complete_parts
from sim.studies.sweep.sweep import Sweep
from sim.studies.sweep.sweep_plot import check_plot, sweep_figure
from sim.studies.sweep.sweep_text import describe_sweep, fastest, not_run, point_rows, shown_phases
from sim.telling.answer import Answer, Block, Listing, Picture, Points, Section, Text, plain_table

_VARIED = "Each run is the scenario below with other values of {}."


def sweep_pictures(title: str, done: Sweep) -> list[Picture]:
    """Return the picture of a sweep; none if it has too many axes, or no run."""
    try:
        check_plot(done.axes, sampled=done.sampled)
    except InputError:
        return []
    return [Picture("sweep", partial(sweep_figure, title, done))] if shown_phases(done) else []


def sweep_page(title: str, done: Sweep, command: str) -> Answer:
    """Return the page of a sweep; `command` as it was typed."""
    scenario, machine = done.scenario, machine_of(done.scenario)
    heads, *rows = point_rows(done)
    note = "GB/s: 10^9 bytes a second."
    if len(done.seeds) > 1:
        note += f" Medians of {len(done.seeds)} seeds; in brackets the least and the most."
    said, wrong = list(fastest(done)), list(not_run(done))
    answer: list[Block] = [Points(wrong, alert=True)] if wrong else []
    answer += [Points(said)] if said else []
    again: list[Block] = [
        Listing("Command", command, typed=True),
        Text(_VARIED.format(", ".join(axis.path for axis in done.axes))),
        *complete_parts(scenario, machine),
    ]
    changed = machine_parts(machine, scenario.changes, scenario.slow, scenario.faults)
    words = range(len(done.axes))
    return Answer(
        title=title,
        setup=f"Simulated on {machine.name}: {describe_sweep(done)}",
        blocks=[
            Section("result", "Which is the fastest", answer),
            Section("pictures", "Picture", sweep_pictures(title, done)),
            Section("runs", "Runs", [plain_table("All points", heads, rows, words, note=note)]),
            Section("machine", "Machine", changed),
            Section("again", "To run it again", again),
        ],
        version=version("xc40io"),
    )
