"""What runs side by side tell: a table, a chart, and what bound each and why it differs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from xc40io.config.scenario import Scenario
from xc40io.config.units import format_bytes, parse_bytes
from xc40io.results.pictures.scene import setup_of, setup_of_jobs
from xc40io.studies.case import Case
from xc40io.studies.compare.side import AS_IT_IS, PhaseOfSide, Side
from xc40io.studies.compare.side_by_side import PHASES, PhaseOfSides, SideBySide
from xc40io.studies.ratio import CONFIDENCE, Ratio
from xc40io.telling.answer import (
    Answer,
    Block,
    Chart,
    Column,
    Listing,
    Points,
    Section,
    Table,
    Text,
    Values,
)
from xc40io.telling.sheet import PALETTE
from xc40io.telling.units import ANY, FACTOR, FLAG, ROWS, WORDS
from xc40io.topology.text import format_count

_CHANCE = (
    "Real GB/s: 9 of 10 real runs. Chance: that it really is faster, by how "
    "far simulated ratios of such runs were from measured ones."
)
_MOST = len(PALETTE)  # kinds of phases that are drawn

_RUNS = (
    Column("name", WORDS, lambda run: run[0].name),
    Column("values", ANY, lambda run: run[0].values, help="What a what-if changes, by path."),
    Column("seeds", ANY, lambda run: run[1]),
    Column("kept", FLAG, lambda run: run[0].kept is not None, help="Whether it was kept."),
)
SIDE_BY_SIDE = (
    Column(
        "sides", ROWS, lambda found: list(zip(found.sides, found.seeds, strict=True)), inner=_RUNS
    ),
    Column("method", WORDS, lambda found: method(found), help="How ratios were found, and bytes."),
    Column("confidence", FACTOR, lambda _: CONFIDENCE),
    Column("troubles", ROWS, help="Bytes that found no room, or were lost."),
    Column("phases", ROWS, lambda found: found.rows, inner=PHASES, help="Of each kind, in order."),
)


def side_by_side_answer(found: SideBySide, command: str = "") -> Answer:
    """Return the answer on runs side by side; ``command`` as it was typed."""
    values = Values("side-by-side", SIDE_BY_SIDE, found)
    told = [
        Points([(one.name, one.said) for one in row.sides if one.said], f"{row.title}:")
        for row in found.rows
    ]
    why = [points for points in told if points.points]
    wrong: list[Block] = []
    if found.troubles:
        wrong.append(Points([f"TROUBLE {text}" for text in found.troubles], alert=True))
    table = values.table("phases", title="All runs", note="GB/s: 10^9 bytes a second.")
    runs = format_count(sum(map(len, found.seeds)), "run")
    machine = Case(found.sides[0].scenario).machine.name
    return Answer(
        title=" / ".join(side.name for side in found.sides),
        setup=f"Simulated on {machine}: {runs} side by side",
        description=method(found),
        blocks=[
            Section("", "", [values.table("phases")], on="text"),
            Section("result", "Side by side", [*wrong, table], on="page"),
            Section("pictures", "Picture", list(_charts(found)), on="page"),
            Section("why", "What bound each, and why it differs", why),
            Section("", "", [Text(method(found)), *wrong], on="text"),
            Section("again", "To run it again", [Listing("Command", command, True)], on="page"),
        ],
        values=values,
        table=found.table,
        failed=bool(found.troubles),
    )


def method(found: SideBySide) -> str:
    """Say how the ratios were found, and how sure they are."""
    chance = "" if found.exact else f" {_CHANCE}"
    return f"{_ratios(found)}{chance}"


def _ratios(found: SideBySide) -> str:
    """Say how the ratios were found."""
    seeds = found.seeds[0]
    first = _first(found)
    if any(len({one.bytes for one in sides}) > 1 for sides in found.phases.values()):
        first += ", by GB/s where the bytes differ"
    if any(_differ_in_items(sides) for sides in found.phases.values()):
        first += ", by items a second where the items do"
    if not found.common_seeds:
        return (
            f"Times as fast as {first}. The seeds differ "
            f"({', '.join(str(each[0]) for each in found.seeds)}), so chance differs too; "
            "--repeat runs all with the same."
        )
    if len(seeds) == 1:
        return (
            f"Times as fast as {first}, all with seed {seeds[0]}. One seed gives no interval; "
            "--repeat N runs N seeds."
        )
    return (
        f"Times as fast as {first}: geometric means over seeds {seeds[0]} to {seeds[-1]}, the same "
        f"for all; in parentheses the {100 * CONFIDENCE:.0f} % interval (Student's t of the "
        "logarithms of the ratios seed by seed). Seconds and GB/s (10^9 bytes/s) are means."
    )


def _differ_in_items(sides: Sequence[PhaseOfSide]) -> bool:
    """Tell whether runs are about different numbers of items, and move no bytes."""
    return len({one.items for one in sides}) > 1 and not any(one.bytes for one in sides)


def _first(found: SideBySide) -> str:
    """Say what the ratios are about: ``the run as it is``, ``theta-headline``."""
    first = found.sides[0].name
    return f"the run {first}" if first == AS_IT_IS else first


_DRAWN = (
    Column("run", WORDS),
    Column("number", FACTOR),
    Column("phase", WORDS),
    Column("times", FACTOR, head="times as fast"),
    Column("low", FACTOR),
    Column("high", FACTOR),
)


def short(side: Side) -> str:
    """Return what a picture calls a run: its stripes in place of the paths of two values."""
    values = dict(side.values)
    if not values or values.keys() - {"striping.count", "striping.size"}:
        return side.name
    count, size = values.get("striping.count"), values.get("striping.size")
    if size is None:
        return format_count(count, "stripe") if isinstance(count, int) and count > 0 else side.name
    written = format_bytes(parse_bytes(size))
    return f"stripes of {written}" if count is None else f"{count} x {written}"


def _charts(found: SideBySide) -> Iterator[Chart]:
    """Yield how many times as fast each side is, phase by phase; nothing without ratios.

    Where all what-ifs are numbers of one value, a line for each kind of phase over that value, with
    ticks at the numbers that were run; else bars.
    """
    shown = _shown(found)
    if not shown:
        return
    numbers = numbers_of(found.sides)
    rows = [
        {"run": short(found.sides[one.side]), "phase": row.title}
        | {"number": None if numbers is None else numbers[one.side]}
        | dict(zip(("times", "low", "high"), one.ratio or Ratio(1.0), strict=True))
        for row in shown
        for one in row.sides
    ]
    run, number, *others = _DRAWN
    number = Column("number", FACTOR, head=next(iter(found.sides[1].values), ""))
    caption = "The same seeds on all sides." if found.common_seeds else "Seeds differ."
    if len(found.seeds[0]) > 1:
        caption += f" Lines: {100 * CONFIDENCE:.0f} % intervals over {len(found.seeds[0])} seeds."
    if len(shown) < len(found.phases):
        caption += f" The {len(shown)} longest kinds of phases."
    yield Chart(
        "side-by-side",
        Table((run, number, *others), lambda: rows),
        *(("bars", "times", "run") if numbers is None else ("lines", "number", "times")),
        "phase",
        interval=("low", "high"),
        rule=1.0,
        title=f"How many times as fast as {_first(found)}",
        setup=_setup(found.sides[0].scenario),
        caption=caption,
    )


def _shown(found: SideBySide) -> list[PhaseOfSides]:
    """Return the kinds of phases that have ratios; of many the longest."""
    rated = [row for row in found.rows if any(one.ratio is not None for one in row.sides)]
    longest = sorted(rated, key=lambda row: -row.sides[0].mean)[:_MOST]
    return [row for row in rated if row in longest]


def numbers_of(sides: Sequence[Side]) -> list[float] | None:
    """Return the number of each side, if the what-ifs are numbers of one value; else None."""
    paths = {path for side in sides[1:] for path in side.values}
    if len(paths) != 1 or any(len(side.values) != 1 for side in sides[1:]):
        return None
    (path,) = paths
    found = [_present(sides[0], path), *(side.values[path] for side in sides[1:])]
    if not all(type(value) in (int, float) for value in found) or len(set(found)) < len(found):
        return None
    return [float(value) for value in found]


def _present(side: Side, path: str) -> Any:
    """Return the value that a side has at a path; None where it is none of a number's."""
    known = Case(side.scenario).machine.values()
    path = path.removeprefix("machine.")
    if path in known:
        return known[path]
    part: Any = side.scenario
    for name in path.split("."):
        part = getattr(part, name, None)
    return part


def _setup(scenario: Any) -> str:
    """Say in a line what the first side runs."""
    if isinstance(scenario, Scenario):
        return setup_of(scenario)
    names = [job.name for job in scenario.jobs]
    return setup_of_jobs(scenario, Case(scenario).machine.name, names)
