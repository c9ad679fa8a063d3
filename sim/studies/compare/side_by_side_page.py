"""The page of runs side by side: the table, the picture, what bound each and why it differs."""

from __future__ import annotations

from importlib.metadata import version

from sim.studies.case import Case
from sim.studies.compare.side_by_side import PhaseOfSide, SideBySide
from sim.studies.compare.side_by_side_plot import side_by_side_pictures
from sim.studies.compare.side_by_side_text import (
    figure_text,
    method,
    phase_title,
    ratio_text,
    said_of,
)
from sim.telling.answer import (
    Answer,
    Block,
    Listing,
    Points,
    Section,
    Table,
    Text,
    plain_table,
)
from topology.text import format_count

_HEADS = ("phase", "run", "seconds", "GB/s", "times as fast")
_GB = 1e9


def side_by_side_page(found: SideBySide, command: str) -> Answer:
    """Return the page of runs side by side; `command` as it was typed."""
    runs = format_count(sum(map(len, found.seeds)), "run")
    machine = Case(found.sides[0].scenario).machine.name
    return Answer(
        title=" / ".join(side.name for side in found.sides),
        setup=f"Simulated on {machine}: {runs} side by side",
        description=method(found),
        blocks=[
            Section("result", "Side by side", [*_troubles(found), _table(found)]),
            Section("pictures", "Picture", list(side_by_side_pictures(found))),
            Section("why", "What bound each, and why it differs", _why(found)),
            Section("again", "To run it again", [Listing("Command", command, typed=True)]),
        ],
        version=version("xc40io"),
    )


def _troubles(found: SideBySide) -> list[Block]:
    return [Points(found.troubles, alert=True)] if found.troubles else []


def _table(found: SideBySide) -> Table:
    rows = [
        [phase_title(found, phase), *_cells(found, one)]
        for phase, sides in found.phases.items()
        for one in sides
    ]
    note = "GB/s: 10^9 bytes a second."
    return plain_table("All runs", _HEADS, rows, words=(0, 1), note=note)


def _cells(found: SideBySide, one: PhaseOfSide) -> list[str]:
    rate = "" if one.rate is None else figure_text(one.rate / _GB)
    ratio = "1" if one.side == 0 else ratio_text(one.ratio)
    return [found.sides[one.side].name, figure_text(one.mean), rate, ratio]


def _why(found: SideBySide) -> list[Block]:
    parts: list[Block] = []
    for phase, sides in found.phases.items():
        for one in sides:
            said = " ".join(sentence for sentence in said_of(found, sides[0], one) if sentence)
            if said:
                name = f"{phase_title(found, phase)}, {found.sides[one.side].name}"
                parts.append(Text(f"{name}: {said}"))
    return parts
