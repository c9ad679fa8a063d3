"""Plans: changes of the hardware of a machine against a workload mix."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

from xc40io.config.errors import InputError
from xc40io.config.machine import Machine
from xc40io.config.scenario import Scenario
from xc40io.config.workload_mix import SEEDS, MixJob, Option, WorkloadMix, check_costs, load_mix
from xc40io.run.fabric import check_network
from xc40io.studies.axes import Axis, Over, axes_of
from xc40io.studies.plan.gains import SETTINGS, chance_faster, surely_faster
from xc40io.studies.plan.hardware import Hardware, doubled_and_halved, hardware_of
from xc40io.studies.plan.mix_runs import (
    JobRuns,
    MixResult,
    Refusal,
    Setting,
    bottlenecks,
    job_ratio,
    jobs_of_weights,
    mix_ratio,
    mix_title,
    run_mix,
    throughput,
    usable,
)
from xc40io.studies.plan.money import Goal, bought, read_budget, read_goal
from xc40io.studies.processes import Failure
from xc40io.studies.ratio import Ratio
from xc40io.studies.simulations import Progress, Simulations, seeds_of
from xc40io.studies.study_result import KeptStudy
from xc40io.telling.answer import Column, Table, Unit
from xc40io.telling.units import ANY, FACTOR, FLAG, RATE, SECONDS, WORDS
from xc40io.topology.text import format_count
from xc40io.trust.differences import differences

_MACHINE = "machine."
_MOST = 10_000
"""Configurations of a plan: more are a slip of the hand."""


@dataclass(frozen=True)
class Configuration:
    """A possible machine, and the result of the mix on it."""

    # what is changed, as asked for, by path, and the names of options; empty: as it is
    values: Mapping[str, Any]
    machine: Machine | None = None  # with what follows from the changes; None if there can be none
    runs: tuple[JobRuns, ...] = ()  # what each job came to; empty if it could not run
    rate: float | None = None  # bytes/s of the mix; None if it could not run
    ratio: Ratio | None = None  # how many times as fast the mix is as on the machine as it is
    cost: float | None = None  # None where some of what is changed has none, or nothing could run
    reason: str = ""  # why it could not run
    efficient: bool = False  # certain to be faster than all that cost less
    options: tuple[Option, ...] = ()  # those of its values

    @property
    def words(self) -> str:
        """What is changed, as it is typed."""
        return ", ".join(map(self.word, self.values)) or "as it is"

    def word(self, name: str) -> str:
        """Return one of the changes, as it is typed."""
        is_option = any(option.name == name for option in self.options)
        return name if is_option else f"{name}={self.values[name]}"

    @property
    def changes(self) -> dict[str, Any]:
        """What is changed of the machine, by path: also what options set."""
        return _changes_of(self.values, self.options)

    def run_of(self, job: MixJob) -> Scenario | None:
        """Return a job as it is run with the options; None of several at the same time."""
        if not isinstance(job.run, Scenario):
            return None
        return job.run.model_copy(update=job.otherwise(self.options))


@dataclass(frozen=True)
class Plan(KeptStudy):
    """A finished plan: what :func:`plan` returns."""

    mix: WorkloadMix  # the jobs, with their weights
    axes: tuple[Axis, ...]  # what was changed, by paths in the machine
    counts: tuple[float, ...]  # how many of each job there are, up to a common factor
    seeds: tuple[int, ...]  # with which each job was run
    # the machine as it is, then each change alone, then all combinations
    configurations: tuple[Configuration, ...]
    costs: Mapping[str, float]  # of one unit more, by path
    budget: float | None = None  # what a configuration may cost; None: anything
    goal: Goal | None = None  # what is to be reached at the least cost; None: nothing
    refused: tuple[Refusal, ...] = ()  # jobs that cannot use an option

    def __repr__(self) -> str:
        """Return a line: of which mix, and how many machines were tried."""
        count = format_count(len(self.configurations), "configuration")
        return f"<Plan for {mix_title(self.mix)!r}: {count}>"

    @property
    def is_priced(self) -> bool:
        """Whether anything has a cost."""
        return bool(self.costs) or any(one.cost is not None for one in self.mix.options)

    @property
    def currency(self) -> str:
        """What costs are counted in."""
        return self.mix.currency or "units"

    @property
    def present(self) -> Configuration:
        """The machine as it is."""
        return self.configurations[0]

    def differing(self, each: Configuration) -> set[str]:
        """Return in what a configuration differs from the machine as it is, and its jobs."""
        found = {SETTINGS} if each.changes else set()
        for job in self.mix.jobs if each.options else ():
            run = each.run_of(job)
            if run is not None and isinstance(job.run, Scenario):
                found.update(differences(job.run, run))
        return found

    def chance(self, each: Configuration) -> float | None:
        """Return the chance that a configuration really is faster than the machine as it is."""
        if each.ratio is None or self.exact:
            return None
        return chance_faster(each.ratio, self.differing(each))

    def pays(self, each: Configuration) -> bool:
        """Tell whether a configuration is faster than the machine as it is by more than may be."""
        return surely_faster(each.ratio, self.differing(each))

    @property
    def alone(self) -> Iterator[Configuration]:
        """The configurations in which one thing is changed."""
        return (each for each in self.configurations if len(each.values) == 1)

    def hardware(self, path: str) -> Hardware:
        """Return the kind of hardware that a value of the machine is of."""
        return hardware_of(path, self.mix.machine)

    def units(self, configuration: Configuration, path: str) -> float:
        """Return how many more units a configuration has; a unit of rate is 10^9 bytes/s.

        What is not counted, as a release, has none.
        """
        assert configuration.machine is not None
        before, after = (each.value(path) for each in (self.mix.machine, configuration.machine))
        if before is None or isinstance(before, str):
            return 0.0
        more: float = (after - before) / self.hardware(path).scale
        return more

    def find(self, values: Mapping[str, Any]) -> Configuration | None:
        """Return the configuration with these values, if it was asked for."""
        return next((each for each in self.configurations if each.values == values), None)

    @property
    def table(self) -> Table:
        """A row for each job on each configuration, and one for the mix.

        A column for each value that was changed, with the number that the machine had, and one
        for each option, whether it was there; ``job``,
        which is ``mix`` for the mix; ``bandwidth`` (bytes/s), ``seconds``, ``bytes``,
        ``times_as_fast``, ``bound_by``; ``cost``, ``efficient`` and ``failure``.
        """
        names = *(axis.path for axis in self.axes), *(one.name for one in self.mix.options)
        columns = *(Column(name, ANY) for name in names), *_TOLD
        return Table(
            columns, lambda: [row for each in self.configurations for row in _rows(self, each)]
        )


_TOLD = (
    Column("job", WORDS),
    Column("bandwidth", RATE),
    Column("times_as_fast", FACTOR),
    Column("cost", FACTOR),
    Column("efficient", FLAG),
    Column("failure", WORDS),
    Column("seconds", SECONDS),
    Column("bytes", Unit("bytes", float)),
    Column("bound_by", WORDS),
)


def plan(
    mix: WorkloadMix | str | Path,
    over: Over = (),
    *,
    costs: Mapping[str, float] | None = None,
    budget: str | float | None = None,
    goal: str | None = None,
    repeat: int = SEEDS,
    jobs: int | None = None,
    scheduler: str | None = None,
    store: str | Path | None = None,
    progress: Progress | None = None,
) -> Plan:
    """Run a mix on all combinations of changes of its machine.

    Every run that has finished is kept at once, and found again by whatever needs it next.

    Parameters
    ----------
    mix
        As :func:`~xc40io.config.workload_mix.load_mix` returns it, its name or its path.
    over
        The values of the machine by path, ``{"lustre.osts": [56, 112]}``, or as text, as a sweep
        takes them. All combinations are run, and each change alone. Without any, all kinds of
        hardware are doubled and halved, each alone, where the mix has no options; with a budget or
        a goal, more of all that has a cost is tried. Options are tried with all else.
    costs
        Of one unit more, by path, in place of those that the mix has for these paths.
    budget
        What a configuration may cost, as a number or as ``1 MUSD``; what costs more is not run.
    goal
        What is to be reached for the least cost: ``20 % more``, or ``20 % more for JOB``.
    repeat
        Seeds: that of the mix and those that follow.
    jobs, scheduler, store, progress
        As :meth:`~xc40io.studies.simulations.Simulations.of_study` takes them.

    Raises
    ------
    InputError
        If there is no such value, or none with which anything can be run: before anything is.
    """
    mix = load_mix(mix) if isinstance(mix, str | Path) else mix
    seeds = seeds_of(mix.seed, repeat)
    priced = {**mix.costs, **(costs or {})}
    check_costs(priced, mix.machine, "--cost")
    money = read_budget(budget, mix) if isinstance(budget, str) else budget
    aim = None if goal is None else read_goal(goal, mix)
    axes = tuple(Axis(one.path.removeprefix(_MACHINE), one.values) for one in axes_of(over))
    if not axes and (money is not None or aim is not None):
        axes = _bought(mix, priced, money)
    combinations = _combinations(axes, mix) if axes or mix.options else []
    if not combinations and not axes:
        axes = doubled_and_halved(mix)
        combinations = [{axis.path: value} for axis in axes for value in axis.values]
    made = [Configuration({}, mix.machine), *(_made(mix, each) for each in combinations)]
    _check(axes, made)
    made = [each for each in made if _within(each, mix.machine, priced, money)]
    simulations = Simulations.of_study(jobs, store, progress, scheduler)
    options, refused = usable(mix, simulations)
    made = [
        replace(each, options=tuple(one for one in options if one.name in each.values))
        for each in made
    ]
    counts, configurations = _run(mix, made, seeds, simulations, priced)
    made_plan = Plan(
        mix=mix,
        axes=axes,
        counts=counts,
        seeds=seeds,
        configurations=tuple(configurations),
        costs=priced,
        budget=money,
        goal=aim,
        refused=refused,
        **simulations.counted(),
    )
    return replace(made_plan, configurations=_marked(made_plan))


def _bought(mix: WorkloadMix, costs: Mapping[str, float], budget: float | None) -> tuple[Axis, ...]:
    """Return what is tried for a budget or a goal; nothing where that is what options are for."""
    try:
        return bought(mix, costs, budget)
    except InputError:
        if not mix.options:
            raise
        return ()


def _within(
    each: Configuration, machine: Machine, costs: Mapping[str, float], budget: float | None
) -> bool:
    """Tell whether a configuration costs no more than there is; one without a cost may be much."""
    if budget is None or not each.values or each.machine is None:
        return True
    cost = _cost(machine, each, costs)
    return cost is not None and cost <= budget


def _combinations(asked: Sequence[Axis], mix: WorkloadMix) -> list[dict[str, Any]]:
    """Return all combinations of changes, each change alone among them, and none twice.

    Of options that set the same value otherwise there is one at a time.
    """
    options = {option.name: option for option in mix.options}
    axes = [*asked, *(Axis(name, (False, True)) for name in options)]
    changes = {axis.path: _changes(axis, mix.machine) for axis in asked}
    changes |= {name: [True] for name in options}
    grids = [[*axis.values] for axis in axes]
    found: dict[tuple[tuple[str, str], ...], dict[str, Any]] = {}
    alone = [{axis.path: value} for axis in axes for value in axis.values]
    every = [dict(zip(changes, point, strict=True)) for point in product(*grids)]
    if len(every) > _MOST:
        raise InputError(
            f"the plan has {len(every):,} configurations; right would be {_MOST:,} at most"
        )
    for point in (*alone, *every):
        changed = {path: value for path, value in point.items() if value in changes[path]}
        if changed and _agree(changed, options):
            found.setdefault(tuple((path, str(value)) for path, value in changed.items()), changed)
    order = {axis.path: [*map(str, axis.values)] for axis in axes}
    return sorted(
        found.values(),
        key=lambda values: (
            len(values),
            [order[path].index(str(values[path])) if path in values else _MOST for path in order],
        ),
    )


def _agree(values: Mapping[str, Any], options: Mapping[str, Option]) -> bool:
    """Tell whether no value of the machine, and nothing of a job, is set in two ways."""
    sets = [options[name].set if name in options else {name: values[name]} for name in values]
    sets += [
        {f"{job} {field}": said}
        for name in values
        if name in options
        for field, said in options[name].of_jobs.items()
        for job in options[name].jobs or ("",)
    ]
    whole = {path: value for each in sets for path, value in each.items()}
    return all(whole[path] == value for each in sets for path, value in each.items())


def _changes_of(values: Mapping[str, Any], options: Iterable[Option]) -> dict[str, Any]:
    """Return what is changed of a machine: what options set, and what is asked for by itself."""
    chosen = {option.name: option for option in options if option.name in values}
    own = {path: value for path, value in values.items() if path not in chosen}
    return {path: value for one in chosen.values() for path, value in one.set.items()} | own


def _changes(axis: Axis, machine: Machine) -> list[Any]:
    """Return the values of an axis that the machine does not have today."""
    before = machine.value(axis.path)
    changed = []
    for value in axis.values:
        try:
            same = machine.with_changes({axis.path: value}).value(axis.path)
        except InputError as error:
            raise InputError(f"--over {axis.path}={value}: {error}") from error
        if same != before:
            changed.append(value)
    return changed


def _made(mix: WorkloadMix, values: Mapping[str, Any]) -> Configuration:
    """Return a configuration that has not been run."""
    options = tuple(option for option in mix.options if option.name in values)
    try:
        changed = mix.machine.with_changes(_changes_of(values, options))
        check_network(changed)
        return Configuration(values, changed, options=options)
    except InputError as error:
        return Configuration(values, reason=str(error), options=options)


def _check(axes: Sequence[Axis], made: Sequence[Configuration]) -> None:
    """Raise InputError if a value is possible in no configuration, or nothing is changed."""
    if len(made) == 1:
        names = ", ".join(axis.path for axis in axes)
        raise InputError(
            f"--over {names}: the machine already has these values; right would be others"
        )
    for each in made:
        if each.machine is None and len(each.values) == 1:
            place = f"option {each.words}" if each.options else f"--over {each.words}"
            raise InputError(f"{place}: {each.reason}")


def _run(
    mix: WorkloadMix,
    made: Sequence[Configuration],
    seeds: Sequence[int],
    simulations: Simulations,
    costs: Mapping[str, float],
) -> tuple[tuple[float, ...], list[Configuration]]:
    """Run the mix on configurations; return the number of each job, and the results."""
    possible = [each for each in made if each.machine is not None]
    settings = [
        Setting(each.machine, options=each.options) for each in possible if each.machine is not None
    ]
    outcomes = iter(run_mix(mix, settings, seeds, simulations))
    ended = [(each, next(outcomes) if each.machine is not None else None) for each in made]
    present = ended[0][1]
    if not isinstance(present, tuple):
        raise InputError(f"on the machine as it is: {present.reason if present else ''}")
    counts = jobs_of_weights(mix, present)
    found = []
    for each, outcome in ended:
        if outcome is None:
            found.append(each)
        elif isinstance(outcome, Failure):
            found.append(replace(each, reason=outcome.reason))
        else:
            assert each.machine is not None  # else it had not run
            both = MixResult(counts, present), MixResult(counts, outcome)
            found.append(
                replace(
                    each,
                    runs=outcome,
                    rate=throughput(counts, outcome),
                    ratio=mix_ratio(*both) if each.values else None,
                    cost=_cost(mix.machine, each, costs) if costs or mix.options else None,
                )
            )
    return counts, found


def _cost(before: Machine, each: Configuration, costs: Mapping[str, float]) -> float | None:
    """Return the extra cost of a configuration: of its options, and of what else is changed."""
    assert each.machine is not None
    priced = [option for option in each.options if option.cost is not None]
    paid = {path: value for option in priced for path, value in option.set.items()}
    asked = [path for path in each.changes if path not in paid]
    rest = cost_of(before.with_changes(paid), each.machine, asked, costs)
    return None if rest is None else rest + sum(option.cost or 0.0 for option in priced)


def cost_of(
    before: Machine, after: Machine, asked: Iterable[str], costs: Mapping[str, float]
) -> float | None:
    """Return the extra cost of a machine over another; None if a change has no cost per unit.

    Parameters
    ----------
    before, after
        The machines.
    asked
        The values that were to be changed: fewer of them cost less than nothing. What else is
        different has followed, and costs whether it is more, as service blades for LNET routers, or
        less, as the compute nodes that these displace.
    costs
        Of one unit more, by path.
    """
    old, new, chosen = before.values(), after.values(), set(asked)
    if not chosen <= costs.keys():
        return None
    total = 0.0
    for path, cost in costs.items():
        units = (new[path] - old[path]) / hardware_of(path, before).scale
        total += cost * (units if path in chosen else abs(units))
    return total


def _marked(plan: Plan) -> tuple[Configuration, ...]:
    """Mark the best for their cost: each certain to be faster than all of them that cost less."""
    configurations, counts = plan.configurations, plan.counts
    priced = [each for each in configurations if each.cost is not None and each.rate is not None]
    front: list[Configuration] = []
    for each in sorted(
        priced, key=lambda one: (one.cost or 0.0, len(one.values), -(one.rate or 0.0))
    ):
        if all(
            surely_faster(
                mix_ratio(MixResult(counts, cheaper.runs), MixResult(counts, each.runs)),
                plan.differing(cheaper) | plan.differing(each),
            )
            for cheaper in front
        ):
            front.append(each)
    return tuple(
        replace(each, efficient=any(each is one for one in front)) for each in configurations
    )


def _rows(plan: Plan, each: Configuration) -> Iterator[dict[str, Any]]:
    """Yield the rows of a configuration in a table of pandas."""
    machine = {} if each.machine is None else each.machine.values()
    changed = {one.path: machine.get(one.path, each.values.get(one.path)) for one in plan.axes}
    changed |= {one.name: one.name in each.values for one in plan.mix.options}
    costs = {"cost": each.cost, "efficient": each.efficient, "failure": each.reason}
    ratio = 1.0 if each.ratio is None else each.ratio.value
    yield {
        **changed,
        "job": "mix",
        "bandwidth": each.rate,
        "times_as_fast": None if each.rate is None else ratio,
        **dict.fromkeys(("seconds", "bytes", "bound_by")),
        **costs,
    }
    for job, runs, before in zip(plan.mix.jobs, each.runs, plan.present.runs, strict=False):
        yield {
            **changed,
            "job": job.name,
            "bandwidth": runs.rate,
            "seconds": runs.mean,
            "bytes": runs.bytes,
            "times_as_fast": job_ratio(before, runs).value,
            "bound_by": bottlenecks(runs),
            **costs,
        }
