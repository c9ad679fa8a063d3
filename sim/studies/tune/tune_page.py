"""The page of a tuning: what to set and what it brings, the landscape, and how to do it again."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from textwrap import dedent

from sim.config.scenario import machine_of
from sim.config.units import format_seconds
from sim.results.run_answer import complete_parts
from sim.studies.tune.tune_plot import tuning_figure
from sim.studies.tune.tune_text import tuning_parts
from sim.studies.tune.tuning import Tuning
from sim.telling.answer import Answer, Block, Card, Listing, Picture, Section, Text


def tuning_page(title: str, found: Tuning, command: str) -> Answer:
    """Return the page of a tuning; `command` as it was typed."""
    lines = tuning_parts(found)

    def said(*names: str) -> list[Block]:
        return [Text(" ".join(map(str.strip, lines[name]))) for name in names if lines[name]]

    def listing(title: str, told: Sequence[str]) -> Listing:
        return Listing(title, dedent("\n".join(told)))

    paste, *pasted = lines["paste"]
    settings = listing("The best, those behind it, and the present ones", lines["table"])
    binding = listing("Each kind of phase", lines["binding"])
    scenario = found.present.scenario
    machine = machine_of(scenario)
    command_parts = [Listing("Command", command, typed=True)]
    seconds = {"now": found.present, "best": found.best}
    return Answer(
        title=title,
        setup=f"Simulated on {machine.name}, seeds {found.seeds[0]} to {found.seeds[-1]}",
        cards=[
            Card("as fast as now", f"{found.gain.value:.3g} times"),
            *(Card(name, format_seconds(one.mean, 4)) for name, one in seconds.items()),
        ],
        blocks=[
            Section(
                "answer",
                "What to set",
                [*said("answer"), listing(paste.rstrip(":"), pasted), *said("trust")],
            ),
            Section(
                "pictures", "Picture", [Picture("landscape", lambda: tuning_figure(title, found))]
            ),
            Section("settings", "Settings", [settings, *said("searched", "importance")]),
            Section("why", "What binds now, and with the best", [binding, *said("failures")]),
            Section(
                "again", "To run it again", [*command_parts, *complete_parts(scenario, machine)]
            ),
        ],
        version=version("xc40io"),
    )
