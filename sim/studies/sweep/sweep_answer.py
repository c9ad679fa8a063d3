"""What a sweep tells: the answer, for text, JSON and a page."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, TypeAlias

from xc40io.config.errors import InputError
from xc40io.config.machine import Machine
from xc40io.config.scenario import Scenario, machine_of
from xc40io.results.machine_text import machine_parts
from xc40io.results.run_page import complete_parts
from xc40io.studies.sweep.crossings import Race, race_of
from xc40io.studies.sweep.points import PhaseFigure, Point
from xc40io.studies.sweep.sweep import Sweep
from xc40io.studies.sweep.sweep_plot import check_plot, sweep_figure
from xc40io.studies.variation import varied
from xc40io.telling.answer import (
    Answer,
    Block,
    Column,
    Listing,
    Picture,
    Points,
    Section,
    Table,
    Text,
    Values,
    plain_table,
)
from xc40io.telling.units import ANY, NUMBER, RECORD, ROWS, WORDS
from xc40io.trust.how_sure import Interval
from xc40io.trust.sureness import Sureness, digits_within, plain, sure_words

_WIDEST = 12
"""Columns of values that fit side by side."""

_TOLD = ("bandwidth", "seconds", "bytes", "station")
_VARIED = "Each run is the scenario below with other values of {}."


def _points_document(done: Sweep) -> list[dict[str, Any]]:
    """Return the JSON of the points."""
    return [{"values": dict(one.values), "phases": _phases(done, one)} for one in done.points]


def _phases(done: Sweep, point: Point) -> dict[str, Any]:
    """Return the JSON of the phases of a point: a figure for each seed."""
    names = dict.fromkeys(name for totals in point.totals for name in totals)

    def by_seed(phase: str, told: str) -> list[Any]:
        return [getattr(of[phase], told) if phase in of else None for of in point.totals]

    found: dict[str, Any] = {
        phase: {told: by_seed(phase, told) for told in _TOLD} for phase in names
    }
    if names and not done.exact:
        sureness = Sureness(varied(done.scenario, point.values))
        for phase, told in found.items():
            real = [sureness.interval(phase, rate) for rate in told["bandwidth"]]
            told["real"] = [None if one is None else one._asdict() for one in real]
    return found


POINTS = (
    Column("values", ANY),
    Column("phases", ANY, help="For each seed; bytes/s, seconds, bytes."),
)

SWEEP = (
    Column("axes", ROWS, inner=(Column("path", WORDS), Column("values", ANY))),
    Column("sampled", ANY),
    Column("seeds", ROWS, help="With which each combination was run."),
    Column("points", ROWS, _points_document, inner=POINTS),
    Column(
        "failures",
        ROWS,
        lambda done: [
            dict(zip(("values", "seed", "reason"), failed, strict=True))
            for failed in done.failures()
        ],
        inner=(Column("values", RECORD), Column("seed", NUMBER), Column("reason", WORDS)),
        help="What could not be run, with which seed, and why.",
    ),
)


def sweep_answer(title: str, done: Sweep, command: str | None = None) -> Answer:
    """Return the answer on a sweep.

    With a `command`, as it was typed, a page of it also has the machine and the whole scenario,
    which by itself need not be one that can be run.
    """
    said, wrong, raced = list(fastest(done)), list(not_run(done)), races(done)
    crossings = [one for race in raced for one in race.documents()]
    columns = [Column("title", WORDS, lambda _: title), *SWEEP]
    columns += [Column("crossings", ANY, lambda _: crossings)] if raced else []
    result: list[Block] = [Points(wrong, alert=True)] if wrong else []
    result += [Points(said)] if said else []
    return Answer(
        title=title,
        setup=f"Simulated on {_machine_name(done.scenario)}: {done.words}",
        blocks=[
            Section("", "", list(_text_blocks(title, done, [*said, *wrong])), on="text"),
            Section("result", "Which is the fastest", result, on="page"),
            Section("pictures", "Picture", _pictures(title, done)),
            Section("runs", "Runs", [_all_points(done)], on="page"),
            *(() if command is None else _how(done, command)),
        ],
        values=Values("sweep", tuple(columns), done),
        table=done.table,
        failed=any(True for _ in done.failures()),
    )


def sweep_note(done: Sweep) -> Answer:
    """Return the answer on a sweep below what it varied and how."""
    return sweep_answer(f"{', '.join(axis.path for axis in done.several)}: {done.words}", done)


def _machine_name(scenario: Scenario) -> str:
    machine = scenario.machine
    return machine.name if isinstance(machine, Machine) else machine


def title_of(scenario: Scenario, varied: Collection[str] = ()) -> str:
    """Say in a line what is run; ``varied``: paths of values that are not the same in all runs."""
    what, kernel = scenario.workload.command, scenario.workload.options
    if isinstance(kernel.get("trace"), str):
        what = f"replay of {Path(kernel['trace']).name}"
    said = {"nodes": f"{scenario.nodes} nodes", "ppn": f"{scenario.ppn} ranks a node"}
    shape = [words for path, words in said.items() if path not in varied]
    if len(shape) == len(said):
        shape = [f"{scenario.nodes} nodes x {scenario.ppn} ranks"]
    where = "" if "machine" in varied else f" on {_machine_name(scenario)}"
    return ", ".join([f"{what}{where}", *shape])


def _text_blocks(title: str, done: Sweep, said: Sequence[str]) -> Iterator[Block]:
    """Yield medians over the seeds by the values of the axes, which is best, and what failed."""
    gigabytes = any(shown.unit == "GB/s" for shown in done.shown)
    yield Listing("", f"{title}\n{done.words}{'; GB = 10^9 bytes' if gigabytes else ''}")
    if len(done.axes) == len(done.several) == 2 and not done.sampled:
        yield from (_grid(done, shown) for shown in done.shown)
        yield Listing("", "\n".join(_spreads(done)))
    else:
        heads, rows = _points(done)
        yield plain_table("", heads, rows, words=range(len(heads)), note=_medians(done))
    yield Listing("", "\n".join(said))


def _pictures(title: str, done: Sweep) -> list[Block]:
    """Return the picture of a sweep; none if it has too many axes, or no run."""
    try:
        check_plot(done.axes, sampled=done.sampled)
    except InputError:
        return []
    return [Picture("sweep", partial(sweep_figure, title, done))] if done.shown else []


def _how(done: Sweep, command: str) -> Iterator[Section]:
    """Yield the parts of a page that say what was run."""
    scenario, machine = done.scenario, machine_of(done.scenario)
    changed = machine_parts(machine, scenario.changes, scenario.slow, scenario.faults)
    yield Section("machine", "Machine", changed, on="page")
    again: list[Block] = [
        Listing("Command", command, typed=True),
        Text(_VARIED.format(", ".join(axis.path for axis in done.axes))),
        *complete_parts(scenario, machine),
    ]
    yield Section("again", "To run it again", again, on="page")


def _grid(done: Sweep, shown: PhaseFigure) -> Table:
    """Return a table of two axes; the longer one goes down if there is no room."""
    down, across = range(2)
    if len(done.axes[1].values) > _WIDEST >= len(done.axes[0].values):
        down, across = across, down
    rows, columns = done.axes[down], done.axes[across]
    sure_of = list(_sure(done))
    cells = {
        (point.labels[down], point.labels[across]): _median(shown, point, sure)
        for point, sure in sure_of
    }
    left = max(map(len, (rows.path, *rows.labels, shown.head))) + 2
    wide = max(7, *map(len, (*columns.labels, *cells.values())))
    return plain_table(
        f"{shown.head:<{left}}  {columns.path}",
        [f"{rows.path:<{left}}", *(f"{label:>{wide}}" for label in columns.labels)],
        [[row, *(cells[row, column] for column in columns.labels)] for row in rows.labels],
    )


def _all_points(done: Sweep) -> Table:
    note = f"GB/s: 10^9 bytes a second. {_medians(done)}".rstrip()
    return plain_table("All points", *_points(done), words=range(len(done.axes)), note=note)


def _points(done: Sweep) -> tuple[list[str], list[list[str]]]:
    """Return the heads of a table of all points, and its rows."""
    heads = [*(axis.path for axis in done.axes), *(shown.head for shown in done.shown)]
    rows = [
        [*point.labels, *(_with_range(shown, point, sure) for shown in done.shown)]
        for point, sure in _sure(done)
    ]
    return heads, rows


def _medians(done: Sweep) -> str:
    if len(done.seeds) == 1:
        return ""
    return f"Medians of {len(done.seeds)} seeds; in brackets the least and the most."


def _spreads(done: Sweep) -> Iterator[str]:
    """Say of each phase how far the seeds are apart."""
    if len(done.seeds) == 1:
        return
    for shown in done.shown:
        most, where = max(
            ((_spread(shown.of(point)), point.words) for point in done.points),
            key=lambda pair: pair[0],
        )
        yield (
            f"{shown.phase}: medians of {len(done.seeds)} seeds; the seeds differ by at most "
            f"{most:.1%} of the median ({where})."
        )


def _spread(values: Sequence[float]) -> float:
    middle = median(values) if values else 0.0
    return (max(values) - min(values)) / middle if middle else 0.0


_Known: TypeAlias = Sureness | None


def _sure(done: Sweep) -> Iterator[tuple[Point, _Known]]:
    """Yield the points, each with how sure its rates are; None where nothing ran, or is exact."""
    for point in done.points:
        told = any(point.totals) and not done.exact
        yield point, Sureness(varied(done.scenario, point.values)) if told else None


def _real(shown: PhaseFigure, value: float, sure: _Known) -> Interval | None:
    return None if sure is None or shown.unit == "s" else sure.interval(shown.phase, value)


def _digits(shown: PhaseFigure, middle: float, sure: _Known) -> int:
    """Return how many digits of a figure count: four where nothing is known of real ones."""
    real = _real(shown, middle, sure)
    return 4 if real is None else digits_within(middle, real)


def _median(shown: PhaseFigure, point: Point, sure: _Known) -> str:
    values = shown.of(point)
    return plain(median(values), _digits(shown, median(values), sure)) if values else "-"


def _with_range(shown: PhaseFigure, point: Point, sure: _Known) -> str:
    values = shown.of(point)
    if len(values) < 2:
        return _median(shown, point, sure)
    digits = _digits(shown, median(values), sure)
    middle, low, high = (plain(of, digits) for of in (median(values), min(values), max(values)))
    return f"{middle} ({low} to {high})"


def races(done: Sweep) -> list[Race]:
    """Return the races of choices along an axis of numbers, one for each phase that has a rate."""
    if done.sampled:
        return []
    found = []
    for shown in done.shown:
        measured = {point.labels: shown.of(point) for point in done.points}
        rates = {labels: median(values) if values else None for labels, values in measured.items()}
        race = race_of(shown.phase, done.axes, rates)
        if race is not None and shown.unit != "s":
            found.append(race)
    return found


def fastest(done: Sweep) -> Iterator[str]:
    """Say of each phase that has a rate where it is fastest, and which choice overtakes which."""
    for shown in done.shown:
        measured = [(point, shown.of(point)) for point in done.points]
        found = [(median(values), point) for point, values in measured if values]
        if shown.unit != "s" and len(found) > 1:
            rate, point = max(found, key=lambda pair: pair[0])
            sure = None if done.exact else Sureness(varied(done.scenario, point.values))
            told = sure_words(rate, _real(shown, rate, sure), partial(_with_unit, shown.unit))
            yield f"Fastest {shown.phase}: {point.words}. {told[:1].upper()}{told[1:]}."
    for race in races(done):
        yield from race.words()


def _with_unit(unit: str, rate: float, digits: int) -> str:
    return f"{plain(rate, digits)} {unit}"


def not_run(done: Sweep) -> Iterator[str]:
    """Say which points could not be run; where no seed could, once."""
    for point in done.points:
        reasons = [getattr(ended, "reason", None) for ended in point.ended]
        if len(set(reasons)) == 1 and reasons[0] is not None:
            yield f"NOT RUN ({point.words}): {reasons[0]}"
            continue
        for seed, reason in zip(done.seeds, reasons, strict=True):
            if reason is not None:
                yield f"NOT RUN ({point.words}, seed {seed}): {reason}"
