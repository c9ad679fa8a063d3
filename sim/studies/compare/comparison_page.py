"""The page of a comparison of targets: rates, what bound each run, and how to run it again."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from importlib.metadata import version

from sim.config.scenario import Scenario, machine_of
from sim.results.machine_text import machine_parts
from sim.results.run_answer import complete_parts
from sim.studies.compare.comparison import NAMES, troubles, verdicts
from sim.studies.compare.comparison_plot import comparison_figure
from sim.studies.compare.targets import ACCESSES, Cell, Crossing
from sim.telling.answer import (
    Answer,
    Block,
    Card,
    Fold,
    Listing,
    Picture,
    Points,
    Section,
    Text,
    plain_table,
)
from topology.text import format_count

_GB = 1e9


def comparison_page(
    scenario: Scenario,
    title: str,
    command: str,
    cells: Sequence[Cell],
    found: Sequence[Crossing],
) -> Answer:
    """Return the page of a comparison.

    Parameters
    ----------
    scenario
        What was run on each target.
    title
        In one line.
    command
        As it was typed.
    cells, found
        The runs, and where one target overtakes another.
    """
    machine = machine_of(scenario)
    runs = format_count(len(cells), "run")
    accesses = [access for access in ACCESSES if any(access in cell.rates for cell in cells)]
    picture = Picture("comparison", partial(comparison_figure, title, cells, found))
    drawn = [picture] if accesses else []
    return Answer(
        title=title,
        setup=f"Simulated on {machine.name}: {runs}, seed {scenario.seed}",
        description="",
        cards=_cards(cells),
        blocks=[
            Section("result", "Which is the fastest", _result(cells, found)),
            Section("pictures", "Pictures", drawn),
            Section("runs", "Runs", _runs(cells)),
            Section(
                "machine",
                "Machine",
                machine_parts(machine, scenario.changes, scenario.slow, scenario.faults),
            ),
            Section("scenario", "To run it again", _again(scenario, command)),
        ],
        version=version("xc40io"),
    )


def _cards(cells: Sequence[Cell]) -> list[Card]:
    """Return the best rate of each access."""
    cards = []
    for access in ACCESSES:
        rated = [cell for cell in cells if access in cell.rates]
        if rated:
            best = max(rated, key=lambda cell: cell.rates[access])
            rate, where = (
                best.rates[access],
                f"{NAMES[best.kind]}, {format_count(best.nodes, 'node')}",
            )
            cards.append(Card(f"best {access.value}", f"{rate / _GB:,.4g} GB/s", where))
    return cards


def _result(cells: Sequence[Cell], found: Sequence[Crossing]) -> list[Block]:
    parts: list[Block] = []
    wrong, said = list(troubles(cells)), list(verdicts(cells, found))
    if wrong:
        parts.append(Points(wrong, alert=True))
    return [*parts, Points(said)] if said else parts


def _runs(cells: Sequence[Cell]) -> list[Block]:
    """Return the rates of all runs, and what bound each."""
    accesses = [access for access in ACCESSES if any(access in cell.rates for cell in cells)]
    rates, bound = [], []
    for cell in cells:
        where = [NAMES[cell.kind], f"{cell.nodes:,}"]
        found = [cell.rates.get(access) for access in accesses]
        rates.append([*where, *("" if rate is None else f"{rate / _GB:,.4g}" for rate in found)])
        bound += [[*where, sentence] for sentence in cell.bound]
    heads = ["files on", "nodes", *(f"{access.value} (GB/s)" for access in accesses)]
    note = "Of several repetitions the best rate."
    told = plain_table("What bound each run", ["files on", "nodes", "what bound it"], bound, (0, 2))
    return [
        plain_table("All runs", heads, rows=rates, note=note),
        Fold("What bound each run", [told]),
    ]


def _again(scenario: Scenario, command: str) -> list[Block]:
    return [
        Listing("Command", command, typed=True),
        Text(
            "Each run is the scenario below on another number of nodes and with its files on "
            "another target: nodes and target are to be changed to have one by itself."
        ),
        *complete_parts(scenario, machine_of(scenario)),
    ]
