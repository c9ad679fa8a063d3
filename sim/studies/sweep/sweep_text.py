"""A sweep as a table and as JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from sim.config.machine import Machine
from sim.config.scenario import Scenario
from sim.studies.sweep.crossings import Race, race_of
from sim.studies.sweep.phase_totals import PhaseTotal
from sim.studies.sweep.point import Point
from sim.studies.sweep.sweep import Sweep
from topology.text import format_count

_GB = 1e9
_WIDEST = 12
"""Columns of values that fit side by side."""


class Shown(NamedTuple):
    """What is shown of a phase: its items/s or its bandwidth, or its time where it has neither.

    Attributes
    ----------
    phase
        Its name.
    unit
        ``items/s``, ``GB/s``, of 10^9 bytes, or ``s``.
    measure
        Returns the number, in this unit.
    """

    phase: str
    unit: str
    measure: Callable[[PhaseTotal], float | None]

    def of(self, point: Point) -> list[float]:
        """Return the numbers of a point, one for each seed that has it."""
        return point.measured(self.phase, self.measure)


def shown_phases(done: Sweep) -> list[Shown]:
    """Return what is shown: the phases that count items, else those that move bytes, else all."""
    counting = [
        Shown(phase, "items/s", _items)
        for phase in done.phases
        if any(point.measured(phase, _items) for point in done.points)
    ]
    if counting:
        return counting
    moving = [
        Shown(phase, "GB/s", _gigabytes)
        for phase in done.phases
        if any(point.measured(phase, _gigabytes) for point in done.points)
    ]
    return moving or [Shown(phase, "s", lambda total: total.seconds) for phase in done.phases]


def _items(total: PhaseTotal) -> float | None:
    return total.item_rate


def _gigabytes(total: PhaseTotal) -> float | None:
    return None if total.bandwidth is None else total.bandwidth / _GB


def format_sweep(title: str, done: Sweep) -> str:
    """Print medians over the seeds by the values of the axes, which is best, and what failed."""
    gigabytes = any(shown.unit == "GB/s" for shown in shown_phases(done))
    lines = [title, f"{describe_sweep(done)}{'; GB = 10^9 bytes' if gigabytes else ''}", ""]
    several = [axis for axis in done.axes if len(axis.values) > 1]
    if len(done.axes) == len(several) == 2 and not done.sampled:
        for shown in shown_phases(done):
            lines += [*_grid(done, shown), ""]
        lines += _spreads(done)
    else:
        lines += [*_list(done), ""]
    lines += fastest(done)
    lines += not_run(done)
    return "\n".join(lines).rstrip("\n") + "\n"


def _grid(done: Sweep, shown: Shown) -> Iterator[str]:
    """Yield the rows of a table of two axes; the longer one goes down if there is no room."""
    down, across = range(2)
    if len(done.axes[1].values) > _WIDEST >= len(done.axes[0].values):
        down, across = across, down
    rows, columns = done.axes[down], done.axes[across]
    cells = {
        tuple(map(str, point.values.values())): _median(shown.of(point)) for point in done.points
    }
    heads = [rows.path, *rows.labels, f"{shown.phase} ({shown.unit})"]
    left = max(map(len, heads)) + 2
    wide = max(9, *(len(text) + 2 for text in (*columns.labels, *cells.values())))
    yield f"{f'{shown.phase} ({shown.unit})':<{left}}  {columns.path}"
    yield f"{rows.path:<{left}}" + "".join(f"{label:>{wide}}" for label in columns.labels)
    for row in rows.labels:
        places = ((row, column) if down == 0 else (column, row) for column in columns.labels)
        yield f"{row:<{left}}" + "".join(f"{cells[place]:>{wide}}" for place in places)


def _spreads(done: Sweep) -> Iterator[str]:
    """Say of each phase how far the seeds are apart."""
    if len(done.seeds) == 1:
        return
    for shown in shown_phases(done):
        most, where = max(
            ((_spread(shown.of(point)), words(point)) for point in done.points),
            key=lambda pair: pair[0],
        )
        yield (
            f"{shown.phase}: medians of {len(done.seeds)} seeds; from the least to the most it is "
            f"{most:.1%} of the median where it is most ({where})."
        )
    yield ""


def _spread(values: Sequence[float]) -> float:
    middle = median(values) if values else 0.0
    return (max(values) - min(values)) / middle if middle else 0.0


def point_rows(done: Sweep) -> list[list[str]]:
    """Return a table with a row for each point, its heads first."""
    phases = shown_phases(done)
    rows = [[axis.path for axis in done.axes] + [f"{p.phase} ({p.unit})" for p in phases]]
    for point in done.points:
        numbers = (_with_range(shown.of(point)) for shown in phases)
        rows.append([*map(str, point.values.values()), *numbers])
    return rows


def _list(done: Sweep) -> list[str]:
    """Return the lines of a table with a row for each point."""
    rows = point_rows(done)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    if len(done.seeds) > 1:
        lines.append(f"Medians of {len(done.seeds)} seeds; in brackets the least and the most.")
    return lines


def _median(values: Sequence[float]) -> str:
    return _digits(median(values)) if values else "-"


def _digits(value: float) -> str:
    """Return a number with four digits that count."""
    return f"{float(f'{value:.4g}'):,.0f}" if value >= 1e4 else f"{value:,.4g}"


def _with_range(values: Sequence[float]) -> str:
    if len(values) < 2:
        return _median(values)
    return f"{_median(values)} ({_digits(min(values))} to {_digits(max(values))})"


def races(done: Sweep) -> list[Race]:
    """Return the races of choices along an axis of numbers, one for each phase that has a rate."""
    if done.sampled:
        return []
    labels = [tuple(map(str, point.values.values())) for point in done.points]
    found = []
    for shown in shown_phases(done):
        measured = [shown.of(point) for point in done.points]
        rates = [median(values) if values else None for values in measured]
        race = race_of(shown.phase, done.axes, dict(zip(labels, rates, strict=True)))
        if race is not None and shown.unit != "s":
            found.append(race)
    return found


def fastest(done: Sweep) -> Iterator[str]:
    """Say of each phase that has a rate where it is fastest, and which choice overtakes which."""
    yield from _best(done)
    for race in races(done):
        yield from race.words()


def _best(done: Sweep) -> Iterator[str]:
    for shown in shown_phases(done):
        measured = [(point, shown.of(point)) for point in done.points]
        found = [(median(values), point) for point, values in measured if values]
        if shown.unit != "s" and len(found) > 1:
            rate, point = max(found, key=lambda pair: pair[0])
            yield f"Fastest {shown.phase}: {_digits(rate)} {shown.unit} with {words(point)}."


def words(point: Point) -> str:
    """Return the values of a point as they are typed: ``striping.count=8, ior.b=1m``."""
    return ", ".join(f"{path}={value}" for path, value in point.values.items())


def not_run(done: Sweep) -> Iterator[str]:
    """Say which points could not be run; where no seed could, once."""
    for point in done.points:
        reasons = [getattr(ended, "reason", None) for ended in point.ended]
        if len(set(reasons)) == 1 and reasons[0] is not None:
            yield f"NOT RUN ({words(point)}): {reasons[0]}"
            continue
        for seed, reason in zip(done.seeds, reasons, strict=True):
            if reason is not None:
                yield f"NOT RUN ({words(point)}, seed {seed}): {reason}"


def sweep_document(title: str, done: Sweep) -> dict[str, Any]:
    """Arrange a sweep for JSON: bytes/s, seconds, bytes; a number for each seed."""
    raced = races(done)
    crossed = {"crossings": [one for race in raced for one in race.documents()]} if raced else {}
    return {
        "title": title,
        "axes": [{"path": axis.path, "values": list(axis.values)} for axis in done.axes],
        "sampled": done.sampled,
        "seeds": list(done.seeds),
        "points": [_point_document(point) for point in done.points],
        "failures": [
            {"values": dict(values), "seed": seed, "reason": reason}
            for values, seed, reason in done.failures()
        ],
        **crossed,
    }


def _point_document(point: Point) -> Mapping[str, Any]:
    names = dict.fromkeys(name for totals in point.totals for name in totals)
    return {
        "values": dict(point.values),
        "phases": {
            name: {
                "bandwidth": [_number(totals, name, "bandwidth") for totals in point.totals],
                "seconds": [_number(totals, name, "seconds") for totals in point.totals],
                "bytes": [_number(totals, name, "bytes") for totals in point.totals],
                "station": [_number(totals, name, "station") for totals in point.totals],
            }
            for name in names
        },
    }


def _number(totals: Mapping[str, PhaseTotal], name: str, field: str) -> Any:
    return getattr(totals[name], field) if name in totals else None


def describe_sweep(done: Sweep) -> str:
    """Say in a line what was run: ``36 points, 5 seeds each``."""
    points = format_count(len(done.points), "point")
    drawn = "drawn from a Latin hypercube, " if done.sampled else ""
    count = len(done.seeds)
    each = f"seed {done.seeds[0]}" if count == 1 else f"seeds {done.seeds[0]} to {done.seeds[-1]}"
    return f"{points}, {drawn}{each}"


def title_of(scenario: Scenario) -> str:
    """Say in a line what is varied."""
    machine = scenario.machine
    name = machine.name if isinstance(machine, Machine) else machine
    what, kernel = scenario.workload.command, scenario.workload.kernel or {}
    if isinstance(kernel.get("trace"), str):
        what = f"replay of {Path(kernel['trace']).name}"
    return f"{what} on {name}, {scenario.nodes} nodes x {scenario.ppn} ranks"
