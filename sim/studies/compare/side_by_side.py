"""Runs side by side: each with the same seeds, and how many times as fast each is as the first."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from xc40io.config.errors import InputError
from xc40io.config.jobs import JobsScenario
from xc40io.config.scenario import Scenario, load_scenario
from xc40io.engine.processors import processors
from xc40io.findings.waits import Wait
from xc40io.run.jobs import JobsResult
from xc40io.run.result import Result
from xc40io.studies.case import Case, Phase, foretell, titles
from xc40io.studies.compare.reasons import said, touched_by
from xc40io.studies.compare.side import (
    AS_IT_IS,
    PhaseOfSide,
    Side,
    side_of_content,
    sides_of,
    told_apart,
)
from xc40io.studies.measurement import MeasuredRun, Measurement, measure
from xc40io.studies.processes import Crew, Failure, each
from xc40io.studies.ratio import Ratio, paired
from xc40io.studies.simulations import Progress, seeds_of
from xc40io.studies.study_result import StudyResult
from xc40io.telling.answer import Column, Table, To
from xc40io.telling.units import (
    ANY,
    BYTES,
    CELL,
    FACTOR,
    FLAG,
    GIGABYTES,
    NUMBER,
    RECORD,
    ROWS,
    SECONDS,
    SHARE,
    WORDS,
)
from xc40io.trust.sureness import (
    Sureness,
    chance_column,
    chance_faster,
    gigabytes,
    real_columns,
    simulated,
    span,
)

Comparable: TypeAlias = Scenario | JobsScenario | Result | JobsResult | str | Path
"""What can be compared: something to run, itself or by its name or path, or a run's result."""


class PhaseOfSides(NamedTuple):
    """A kind of phase of all sides that have it."""

    title: str
    phase: Phase
    sides: tuple[PhaseOfSide, ...]


@dataclass(frozen=True)
class SideBySide(StudyResult):
    """The results of several runs."""

    sides: tuple[Side, ...]  # the runs; the first is what the others are compared with
    seeds: tuple[tuple[int, ...], ...]  # with which each was run, side by side
    # what came of each kind of phase, side by side: of those that have it
    phases: Mapping[Phase, tuple[PhaseOfSide, ...]]
    # what went wrong, and in which run: bytes that found no room, or that were lost
    troubles: tuple[str, ...] = ()

    def __repr__(self) -> str:
        """Return a line: what stands side by side."""
        return f"<SideBySide of {', '.join(repr(side.name) for side in self.sides)}>"

    @property
    def common_seeds(self) -> bool:
        """Whether all sides were run with the same seeds."""
        return len(set(self.seeds)) == 1

    def exactly(self) -> SideBySide:
        """Return the same without how sure its figures are."""
        phases = {
            phase: tuple(replace(one, real=None, chance=None) for one in sides)
            for phase, sides in self.phases.items()
        }
        return replace(self, phases=phases, exact=True)

    @property
    def rows(self) -> list[PhaseOfSides]:
        """Its kinds of phases, each with its title."""
        named = titles(self.phases)
        return [
            PhaseOfSides(named[phase][:1].upper() + named[phase][1:], phase, sides)
            for phase, sides in self.phases.items()
        ]

    @property
    def table(self) -> Table:
        """A row for each phase of each run; seconds, bytes, bytes/s, ``busy`` from 0 to 1."""
        return Table(PHASES, lambda: self.rows)


def _of(record: str, name: str) -> Callable[[Any], Any]:
    """Return a getter of one value of a phase's load or ratio; None where there is none."""
    return lambda one: getattr(getattr(one, record), name, None)


SIDES = (
    Column("side", WORDS, lambda one: one.name, head="", most=44, help="The run."),
    Column("seeds", NUMBER, lambda one: len(one.seconds), to=To.PANDAS, help="How many."),
    Column("seconds", ROWS, to=To.JSON, help="Simulated seconds, by seed."),
    Column("seconds", SECONDS, lambda one: one.mean, to=To.PEOPLE | To.PANDAS, least=10),
    Column("bytes", BYTES, to=To.DATA, help="Read or written by all ranks."),
    Column(
        "real",
        WORDS,
        lambda one: span(one.real, gigabytes) if one.real is not None and one.rate else None,
        head="real GB/s",
        to=To.PEOPLE,
        optional=True,
    ),
    Column("rate", GIGABYTES, to=To.JSON),
    Column(
        "rate",
        CELL,
        lambda one: simulated(one.rate, one.real, gigabytes) if one.rate else None,
        head="GB/s",
        to=To.PEOPLE,
        least=8,
    ),
    Column("bandwidth", GIGABYTES, lambda one: one.rate, to=To.PANDAS),
    Column(
        "times_as_fast",
        RECORD,
        lambda one: one.ratio,
        to=To.JSON,
        help="As the first run: value, and the bounds low and high of the 95 % interval.",
    ),
    Column(
        "times_as_fast",
        WORDS,
        lambda one: "1" if one.side == 0 else _of("ratio", "words")(one),
        head="times as fast",
        to=To.PEOPLE,
    ),
    Column("times_as_fast", FACTOR, _of("ratio", "value"), to=To.PANDAS, help="As the first run."),
    chance_column(
        attrgetter("chance"), "That it really is faster than the first run.", head="chance"
    ),
    *real_columns(attrgetter("real"), ANY),
    Column("low", FACTOR, _of("ratio", "low"), to=To.PANDAS, help="Bound of the 95 % interval."),
    Column("high", FACTOR, _of("ratio", "high"), to=To.PANDAS, help="The upper one."),
    Column(
        "bound_by",
        WORDS,
        lambda one: one.load.name if one.load is not None and one.load.binds else None,
        to=To.JSON,
        help="The station that bound it; null where none did.",
    ),
    Column(
        "busiest",
        RECORD,
        lambda one: one.load and {"name": one.load.name, "busy": one.load.busy},
        to=To.JSON,
        help="The busiest station, and the share of the time in which it was so.",
    ),
    Column("station", WORDS, lambda one: _of("load", "name")(one) or "", to=To.PANDAS),
    Column("busy", SHARE, _of("load", "busy"), to=To.PANDAS),
    Column("binds", FLAG, _of("load", "binds"), to=To.PANDAS),
    Column("waits", ROWS, to=To.JSON, help="What a rank waited for on average, longest first."),
    Column("wait", WORDS, lambda one: one.waits[0].words if one.waits else "", to=To.PANDAS),
    Column("said", WORDS, to=To.JSON, help="What bound it, and why it differs: sentences."),
)

PHASES = (
    Column("title", WORDS, to=To.PEOPLE),
    Column("job", WORDS, lambda row: row.phase.job, to=To.DATA),
    Column("part", NUMBER, lambda row: row.phase.part, to=To.DATA, help="Of the workload, from 0."),
    Column("name", WORDS, lambda row: row.phase.name, to=To.JSON),
    Column("phase", WORDS, lambda row: row.phase.name, to=To.PANDAS),
    Column("sides", ROWS, inner=SIDES),
)


def compare(
    runs: Comparable | Mapping[str, Comparable],
    what_ifs: Sequence[str] = (),
    *,
    repeat: int = 1,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> SideBySide:
    """Compare runs with the first of them, all with the same seeds.

    Parameters
    ----------
    runs
        One, or several by names of your own. Of a result nothing is run again that it has.
    what_ifs
        The first of them with other values is a run, too: ``"lustre.osts=112"``, or
        ``"striping.count=8,striping.size=8m"``, both together. The form is that of ``--what-if``.
    repeat
        Seeds to run each with: that of the first run, and those that follow it. From two on, ratios
        have intervals.
    jobs
        Processes; one a processor unless given. The answer does not depend on it.
    progress
        Told how many runs are done, and of how many.

    Raises
    ------
    InputError
        If one of the runs cannot be, or there is nothing to compare with.

    Examples
    --------
    >>> from xc40io import Scenario, compare
    >>> scenario = Scenario(
    ...     machine="theta", nodes=1, ppn=2, workload={"ior": "-F -w -e -b 1m -t 1m"}
    ... )
    >>> found = compare(scenario, ["ppn=1"], jobs=1)
    >>> [side.name for side in found.sides]
    ['as it is', 'ppn=1']
    """
    named = runs if isinstance(runs, Mapping) else {AS_IT_IS: runs}
    given = [_side(name, run) for name, run in named.items()]
    if len(given) + len(what_ifs) < 2:
        raise InputError(
            "compare: there is nothing to compare with; right would be two runs or more, or a "
            "what-if"
        )
    first, *others = given
    same, *changed = sides_of(first, what_ifs)
    sides = told_apart([same, *others, *changed])
    return run_side_by_side(sides, repeat=repeat, jobs=jobs or processors(), progress=progress)


def _side(name: str, run: Comparable) -> Side:
    """Return a run as a side, with its known results."""
    if isinstance(run, str | Path):
        run = load_scenario(run)
    if isinstance(run, Scenario | JobsScenario):
        return Side(name, run)
    return side_of_content(name, run)


def run_side_by_side(
    sides: Sequence[Side],
    *,
    repeat: int = 1,
    jobs: int = 1,
    progress: Progress | None = None,
) -> SideBySide:
    """Run several sides with the same seeds, and compare them with the first.

    ``repeat``, ``jobs`` and ``progress``: as in :func:`compare`. With one seed, the kept result of
    a side is used, with the seed that it had.

    Raises
    ------
    InputError
        If one of the runs cannot be.
    """
    common = seeds_of(sides[0].scenario.seed, repeat)
    seeds = tuple(
        (side.scenario.seed,) if repeat == 1 and side.kept is not None else common for side in sides
    )
    found: dict[tuple[int, int], MeasuredRun] = {}
    missing: dict[str, tuple[int, int]] = {}
    for place, side in enumerate(sides):
        for seed in seeds[place]:
            known = side.known(seed)
            if known is None:
                missing[f"{side.name}, seed {seed}"] = place, seed
            else:
                found[place, seed] = known
    cases = {name: sides[place].case(seed) for name, (place, seed) in missing.items()}
    foretell(cases.values(), jobs, progress)
    for done, (name, outcome) in enumerate(each(measure, cases, Crew(jobs), size=Case.size), 1):
        if isinstance(outcome, Failure):
            raise InputError(f"{name}: {outcome.reason}")
        found[missing[name]] = outcome
        if progress is not None:
            progress(done, len(cases))
    runs = [[found[place, seed].phases for seed in seeds[place]] for place in range(len(sides))]
    troubles = tuple(
        f"({sides[place].name}, seed {seed}): {text}"
        for (place, seed), measured in sorted(found.items(), key=lambda item: item[0])
        for text in measured.troubles
    )
    return SideBySide(tuple(sides), seeds, _phases(sides, runs), troubles)


def _phases(
    sides: Sequence[Side], runs: Sequence[Sequence[Mapping[Phase, Measurement]]]
) -> dict[Phase, tuple[PhaseOfSide, ...]]:
    """Compare the phases of runs: by side, then by seed."""
    found = {}
    parts = [
        touched_by(side.values, Case(side.scenario).machine.network.interconnect) for side in sides
    ]
    for phase in dict.fromkeys(phase for side in runs for phase in side[0]):
        # A phase of a side by seed; nothing where one of its runs lacks it.
        measured = [
            [run[phase] for run in side] if all(phase in run for run in side) else []
            for side in runs
        ]
        of_sides = [
            _sure(_phase(place, sides[place].name, of_side, measured[0]), phase, sides)
            for place, of_side in enumerate(measured)
            if of_side
        ]
        found[phase] = tuple(
            replace(one, said=said(of_sides[0], one, parts[one.side])) for one in of_sides
        )
    return found


def _phase(
    place: int, name: str, runs: Sequence[Measurement], base: Sequence[Measurement]
) -> PhaseOfSide:
    """Put the runs of one side with all seeds together."""
    seconds = tuple(run.seconds for run in runs)
    ratio = _ratio(base, runs) if base and place > 0 else None
    first = runs[0]
    waits = _mean_waits(runs)
    return PhaseOfSide(
        place, seconds, first.bytes, ratio, first.load, waits, first.osts, first.items, name
    )


def _sure(one: PhaseOfSide, phase: Phase, sides: Sequence[Side]) -> PhaseOfSide:
    """Add how sure the figures of a phase are; of several jobs only which side is faster."""
    first, own = sides[0].scenario, sides[one.side].scenario
    real = None
    if isinstance(own, Scenario):
        sure = Sureness(own)
        real = sure.interval(phase.name, one.rate) or sure.seconds(phase.name, one.mean)
    chance = None if one.ratio is None else chance_faster(one.ratio.value, first, own, phase.name)
    return replace(one, real=real, chance=chance)


def _ratio(base: Sequence[Measurement], runs: Sequence[Measurement]) -> Ratio:
    """Compare the seconds of a byte where both move bytes, else of an item; or of the whole."""
    both = (*base, *runs)
    by_bytes = all(run.bytes > 0 for run in both)
    by_items = not by_bytes and all(run.items > 0 for run in both)
    before, after = (
        [run.seconds / (run.bytes if by_bytes else run.items if by_items else 1) for run in side]
        for side in (base, runs)
    )
    return paired(before, after)


def _mean_waits(runs: Sequence[Measurement]) -> tuple[Wait, ...]:
    """Return a rank's waits, longest first: mean seconds of all seeds, and shares of the time."""
    total = sum(run.seconds for run in runs)
    seconds: dict[tuple[str, str], float] = {}
    for run in runs:
        for wait in run.load.waits if run.load is not None else ():
            key = wait.cause, wait.words
            seconds[key] = seconds.get(key, 0.0) + wait.seconds
    waits = [
        Wait(cause, words, value / len(runs), value / total)
        for (cause, words), value in seconds.items()
    ]
    return tuple(sorted(waits, key=lambda wait: -wait.seconds))
