"""Runs side by side: each with the same seeds, and how many times as fast each is as the first."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from sim.config.errors import InputError
from sim.config.jobs import JobsScenario
from sim.config.scenario import Scenario
from sim.engine.processors import processors
from sim.findings.bottlenecks import Load
from sim.findings.waits import Wait
from sim.run.jobs import JobsResult
from sim.run.result import Result
from sim.studies.case import Case, Phase
from sim.studies.compare.side import AS_IT_IS, Side, side_of_content, sides_of, told_apart
from sim.studies.measurement import Measured, Measurement, measure
from sim.studies.processes import Failure, each
from sim.studies.ratio import Ratio, paired

if TYPE_CHECKING:
    import pandas as pd

Progress = Callable[[int, int], None]

Comparable: TypeAlias = Scenario | JobsScenario | Result | JobsResult
"""What can be compared: what is to be run, or what came of it."""


@dataclass(frozen=True)
class PhaseOfSide:
    """One kind of phase of one side.

    Attributes
    ----------
    side
        Place of the side, from 0.
    seconds
        That it took, all its repetitions together, by seed.
    bytes
        What all ranks read or wrote in it, with the first seed; 0 where they moved nothing.
    ratio
        How many times as fast it is as that of the first side, by bytes/s where both move bytes;
        None where that one has none.
    load
        What bound it with the first seed; None for one kind of a replay's calls.
    waits
        What a rank waited for on average, longest first; the mean of all seeds.
    osts
        OSTs that hold any file of the job, with the first seed.
    """

    side: int
    seconds: tuple[float, ...]
    bytes: int
    ratio: Ratio | None
    load: Load | None
    waits: tuple[Wait, ...]
    osts: int = 0

    @property
    def mean(self) -> float:
        """Seconds on average over the seeds."""
        return sum(self.seconds) / len(self.seconds)

    @property
    def rate(self) -> float | None:
        """Bytes/s over this time; None where there are no bytes."""
        return self.bytes / self.mean if self.bytes else None


@dataclass(frozen=True)
class SideBySide:
    """What came of several runs.

    Attributes
    ----------
    sides
        The runs; the first is what the others are compared with.
    seeds
        With which each was run, side by side.
    phases
        What came of each kind of phase, side by side: of those that have it.
    troubles
        What went wrong, and in which run: bytes that found no room, or that were lost.
    """

    sides: tuple[Side, ...]
    seeds: tuple[tuple[int, ...], ...]
    phases: Mapping[Phase, tuple[PhaseOfSide, ...]]
    troubles: tuple[str, ...] = ()

    @property
    def common_seeds(self) -> bool:
        """Whether all sides were run with the same seeds."""
        return len(set(self.seeds)) == 1

    def to_pandas(self) -> pd.DataFrame:
        """Return a table with a row for each phase of each run: docs/python.md."""
        from sim.studies.compare.side_by_side_table import to_pandas

        return to_pandas(self)


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
    >>> from sim import Scenario, compare
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
    """Return a run as a side, with what is known of it already."""
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

    Parameters
    ----------
    sides
        At least one.
    repeat
        Seeds to run each with: that of the first side, and those that follow it. With one, what is
        kept of a side is taken with the seed that it had.
    jobs
        Processes to run in; the answer does not depend on it.
    progress
        Told how many runs are done, and of how many.

    Raises
    ------
    InputError
        If one of the runs cannot be.
    """
    if repeat < 1:
        raise InputError(f"repeat = {repeat}: right would be 1 or more")
    first = sides[0].scenario.seed
    common = tuple(range(first, first + repeat))
    seeds = tuple(
        (side.scenario.seed,) if repeat == 1 and side.kept is not None else common for side in sides
    )
    found: dict[tuple[int, int], Measured] = {}
    missing: dict[str, tuple[int, int]] = {}
    for place, side in enumerate(sides):
        for seed in seeds[place]:
            known = side.known(seed)
            if known is None:
                missing[f"{side.name}, seed {seed}"] = place, seed
            else:
                found[place, seed] = known
    cases = {name: sides[place].case(seed) for name, (place, seed) in missing.items()}
    for done, (name, outcome) in enumerate(each(measure, cases, jobs, size=Case.size), 1):
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
    return SideBySide(tuple(sides), seeds, _phases(runs), troubles)


def _phases(
    runs: Sequence[Sequence[Mapping[Phase, Measurement]]],
) -> dict[Phase, tuple[PhaseOfSide, ...]]:
    """Compare the phases of runs: by side, then by seed."""
    names = list(dict.fromkeys(phase for side in runs for phase in side[0]))
    return {
        phase: tuple(
            _phase(place, [run[phase] for run in side], _of_first(runs[0], phase))
            for place, side in enumerate(runs)
            if all(phase in run for run in side)
        )
        for phase in names
    }


def _of_first(side: Sequence[Mapping[Phase, Measurement]], phase: Phase) -> list[Measurement]:
    """Return a phase of the first side by seed; nothing where a run lacks it."""
    return [run[phase] for run in side] if all(phase in run for run in side) else []


def _phase(place: int, runs: Sequence[Measurement], base: Sequence[Measurement]) -> PhaseOfSide:
    """Put the runs of one side with all seeds together."""
    seconds = tuple(run.seconds for run in runs)
    ratio = _ratio(base, runs) if base and place > 0 else None
    first = runs[0]
    waits = _mean_waits(runs)
    return PhaseOfSide(place, seconds, first.bytes, ratio, first.load, waits, first.osts)


def _ratio(base: Sequence[Measurement], runs: Sequence[Measurement]) -> Ratio:
    """Compare the seconds; or those of a byte, where both move bytes, and not as many."""
    by_bytes = all(run.bytes > 0 for run in (*base, *runs))
    before, after = (
        [run.seconds / (run.bytes if by_bytes else 1) for run in side] for side in (base, runs)
    )
    return paired(before, after)


def _mean_waits(runs: Sequence[Measurement]) -> tuple[Wait, ...]:
    """Return what ranks waited for on average over the seeds, longest first."""
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
