"""Changes that may make a run faster: of the job's settings, its program, or the machine.

A change of a job is one knob turned (:mod:`xc40io.studies.advice.job_knobs`), or two; those of the
machine follow from what the ranks waited for. Nothing here says that a change helps: a study runs
it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import zip_longest
from operator import attrgetter
from types import MappingProxyType
from typing import Any, NamedTuple

from xc40io.config.asked_workload import Workload
from xc40io.config.errors import InputError
from xc40io.config.job_form import HINTS
from xc40io.config.scenario import Scenario
from xc40io.config.units import MIB, SHORT_SIZES, format_bytes
from xc40io.plane.causes import Cause
from xc40io.run.result import Result
from xc40io.studies.advice.job_knobs import (
    BLOCK,
    LAYOUT,
    NAMES,
    OWN_FILES,
    SPREAD,
    idle_osts,
    knobs_of,
)
from xc40io.studies.advice.job_nature import JobNature
from xc40io.studies.advice.knobs import COUNT, SIZE, Knob, Setting, Who
from xc40io.studies.advice.space import Space
from xc40io.studies.case import Case
from xc40io.workloads.catalogue import PROGRAMS

_LONG = 120  # characters of hints that are printed in full
_LARGE = 8 * MIB  # bytes of a stripe, as the sites' guides have them for large files
_FEWER, _MORE = 1 / 16, 2  # times as many nodes: a job pays for each, and waits longer for them
_CLIMBERS = Who.SETTINGS, Who.SCRIPT, Who.PROGRAM  # of whom a search for the best goes on


class Change(NamedTuple):
    """A change, and the run with it."""

    words: str  # what is changed, behind the word "with"
    typed: str  # how it is asked for on the command line
    case: Case  # with the change made
    who: Who  # who can make it
    job: str = ""  # of which job; empty where there is only one, or it is one of the machine
    turned: Setting = MappingProxyType({})  # knobs that are turned; none of the machine
    nodes: tuple[int, int] = (0, 0)  # of the job, before and after; none of the machine

    @property
    def effort(self) -> tuple[int, int, int]:
        """How much there is to change, to be compared: who must do it, nodes, OSTs of a file."""
        scenario = self.case.scenario
        nodes = scenario.nodes if isinstance(scenario, Scenario) else 0
        return self.who.place, nodes, int(self.turned.get(COUNT, 0))

    def nodes_beyond(self, other: Change | None = None) -> float:
        """Return how many times as many nodes it takes as another change, or the job now.

        1 where it takes no more. What settings bring on more nodes only must be worth those.
        """
        before = self.nodes[0] if other is None else other.nodes[1]
        return max(self.nodes[1] / before, 1.0) if before else 1.0


class JobChanges:
    """The changes of one job's settings and program.

    Parameters
    ----------
    name
        Of the job; empty where there is only one.
    case
        The run.
    nature
        What the job is, by what came of it.

    Attributes
    ----------
    name
        Of the job.
    """

    def __init__(self, name: str, case: Case, nature: JobNature) -> None:
        self.name = name
        self._case = case
        self._space = Space(nature, tuple(knobs_of(nature, tuple(NAMES))))
        self._knobs = {knob.name: knob for knob in self._space.knobs}

    def single(self) -> Iterator[Change]:
        """Yield a change for each other value of each knob, and those that belong together."""
        for knob in self._space.knobs:
            for value in knob.values:
                if value != knob.present and self._near(knob, value):
                    yield from self._change({knob.name: value, **self._with(knob, value)})
        yield from self._wide()

    def of_idle_aggregators(self) -> tuple[str, Change] | None:
        """Return which OSTs a collective call leaves out, in words, and the change that ends it."""
        idle = idle_osts(self._space.nature) if BLOCK in self._knobs else None
        if idle is None:
            return None
        words = f"idle aggregators (a call of all ranks meets {idle[0]:,} of {idle[1]:,} OSTs)"
        call = self._knobs[BLOCK].values[-1]
        return next(((words, one) for one in self._change({BLOCK: call})), None)

    def _wide(self) -> Iterator[Change]:
        """Yield all OSTs with large stripes, where ranks share a file."""
        osts = self._space.nature.machine.lustre.osts
        if {COUNT, SIZE} <= self._knobs.keys() and not self._space.nature.own_files:
            yield from self._change({COUNT: osts, SIZE: _LARGE})

    def cheap(self) -> Iterator[Change]:
        """Yield few changes of what who submits the job can set, those that differ most first.

        All OSTs with large stripes, then of each knob in turn a value: of those in an order the
        most, the least and the one in the middle.
        """
        yield from self._wide()
        knobs = [knob for knob in self._space.knobs if knob.who is Who.SETTINGS]
        for values in zip_longest(*(_far_apart(knob) for knob in knobs), fillvalue=None):
            for knob, value in zip(knobs, values, strict=True):
                if value is not None and value != knob.present:
                    yield from self._change({knob.name: value})

    @property
    def who(self) -> tuple[Who, ...]:
        """Who can change the job: who only runs it, and who can do most of those that turn knobs.

        Not who copies its files elsewhere, nor who installs its MPI library.
        """
        able = [knob.who for knob in self._space.knobs if knob.who in _CLIMBERS]
        most = max(able, key=attrgetter("place"), default=Who.SETTINGS)
        return tuple(dict.fromkeys((Who.SETTINGS, most)))

    def further(self, change: Change, who: Who, *, far: bool) -> Iterator[Change]:
        """Yield a change with one knob more turned, or one of its own turned to another value.

        Parameters
        ----------
        change
            Of this job.
        who
            Can turn the knobs, or somebody who has less to change.
        far
            Turn knobs to any value; else those whose values have an order to the next ones alone.
        """
        for knob in self._space.knobs:
            idle = knob.idles({**self._space.present, **change.turned})
            if idle or knob.who.place > who.place:
                continue
            now = change.turned.get(knob.name, knob.present)
            for value in knob.values if far or not knob.ordered else _next(knob, now):
                if self._near(knob, value) and value != now:
                    more = {knob.name: value, **self._with(knob, value)}
                    yield from self._change({**change.turned, **more})

    def most_further(self, *, far: bool) -> int:
        """Return how many changes :meth:`further` yields at most."""
        return sum(
            2 if knob.ordered and not far and knob.present in knob.values else len(knob.values)
            for knob in self._space.knobs
        )

    def together(self, one: Change, other: Change) -> Iterator[Change]:
        """Yield two changes of this job made together, if they turn different knobs."""
        if not one.turned.keys() & other.turned.keys():
            yield from self._change({**one.turned, **other.turned})

    def _with(self, knob: Knob, value: Any) -> dict[str, Any]:
        """Return what a knob's value brings along: one stripe, where each rank has a file."""
        alone = knob.name == LAYOUT and value == OWN_FILES and COUNT in self._knobs
        return {COUNT: 1} if alone else {}

    def _near(self, knob: Knob, value: Any) -> bool:
        """Tell whether a value is worth a run: nodes are doubled at most, as a user would."""
        if knob.name != SPREAD:
            return True
        return bool(_FEWER <= self._space.nature.scenario.ppn / value <= _MORE)

    def _change(self, turned: Setting) -> Iterator[Change]:
        """Yield the change of some knobs, unless the job cannot have it, or has it."""
        chosen = {**self._space.present, **turned}
        left = {  # in one order, so that the same change is the same whatever was turned first
            knob.name: turned[knob.name]
            for knob in self._space.knobs
            if knob.name in turned and not knob.idles(chosen)
            if not (knob.name == SIZE and self._one_stripe(chosen))
            if turned[knob.name] != knob.present
        }
        scenario = self._space.scenario({**self._space.present, **left}) if left else None
        before = self._space.nature.scenario
        if scenario is None or scenario == before:
            return
        words = self._words(left)
        typed = asked_for(before, scenario)
        if self.name:  # what describes one of several jobs stands in the scenario alone
            words, typed = f"{words}, for job {self.name}", f"like {typed} for a job by itself"
        who = max((self._knobs[name].who for name in left), key=attrgetter("place"))
        case = self._case.with_job(self.name, scenario)
        nodes = before.nodes, scenario.nodes
        yield Change(words, typed, case, who, self.name, left, nodes)

    def _one_stripe(self, setting: Setting) -> bool:
        """Tell whether files have one stripe: its size says nothing, but to aggregators."""
        return setting.get(COUNT) == 1 and not self._space.nature.collective

    def _words(self, turned: Setting) -> str:
        """Say which knobs are turned, behind the word "with"."""
        knobs = [self._knobs[name] for name in turned]
        then = " and ".join(knob.phrase(turned[knob.name]) for knob in knobs)
        known = [knob.phrase(knob.present) for knob in knobs if knob.present is not None]
        return f"{then} in place of {' and '.join(known)}" if known else then


def _far_apart(knob: Knob) -> tuple[Any, ...]:
    """Return the most, the least and the middle of values that have an order; else all."""
    values = knob.values
    if not knob.ordered:
        return values
    return tuple(dict.fromkeys((values[-1], values[0], values[len(values) // 2])))


def _next(knob: Knob, value: Any) -> tuple[Any, ...]:
    """Return the values on both sides of one; all where it is none of the choices."""
    if value not in knob.values:
        return knob.values
    place = knob.values.index(value)
    return (*knob.values[max(place - 1, 0) : place], *knob.values[place + 1 : place + 2])


def asked_for(before: Scenario, after: Scenario) -> str:
    """Return how a changed job is asked for on the command line: the options that differ."""
    asked: list[str] = []
    if (after.nodes, after.ppn) != (before.nodes, before.ppn):
        asked.append(f"--nodes {after.nodes} --ppn {after.ppn}")
    if after.striping.setstripe not in (None, before.striping.setstripe):
        asked.append(f"--setstripe '{after.striping.setstripe}'")
    for name in ("count", "size") if after.striping.setstripe is None else ():
        value = getattr(after.striping, name)
        if value != getattr(before.striping, name):
            typed = SHORT_SIZES.write(value) if name == "size" else value
            asked.append(f"--stripe-{name} {typed}")
    if after.target != before.target:
        asked.append(f"--target {after.target.kind}")
    asked += _environment(before.environment, after.environment)
    kernel, now = after.workload.options, before.workload.options
    asked += [_option(key, kernel[key]) for key in kernel if kernel[key] != now.get(key)]
    options = [" ".join(asked)] if asked else []
    if after.workload.words != before.workload.words:
        options.append(_words(before.workload, after.workload))
    return ", ".join(options)


def _option(name: str, value: Any) -> str:
    """Return an option of a kernel as it is typed: ``--flush level``, ``--no-collective``."""
    dashed = name.replace("_", "-")
    if isinstance(value, bool):
        return f"--{dashed}" if value else f"--no-{dashed}"
    return f"--{dashed} {value}"


def _environment(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[str]:
    for name, value in after.items():
        if value == before.get(name):
            continue
        if name != HINTS:
            yield f"--env {name}={value}"
        elif len(value) <= _LONG:
            yield f'--hints "{value}"'
        else:
            present = before.get(HINTS, "")
            more = value.removeprefix(present).strip(":, ")
            yield f"hints {more}, appended to each pattern of --hints"


def _words(before: Workload, after: Workload) -> str:
    """Return the options that a command has more, and those that it has no more."""
    now, then = _options(before.words), _options(after.words)
    title = PROGRAMS[after.program].title
    more = [option for option in then if option not in now]
    letters = {option.split()[0] for option in then}
    less = [f"no {option}" for option in now if option.split()[0] not in letters]
    return ", ".join([*([f"{title} with {' '.join(more)}"] if more else []), *less])


def _options(words: tuple[str, ...]) -> list[str]:
    """Return words as options, each with its values."""
    found: list[str] = []
    for word in words:
        if word.startswith("-") or not found:
            found.append(word)
        else:
            found[-1] += f" {word}"
    return found


def changes_of_machine(case: Case, result: Result, causes: Collection[Cause]) -> list[Change]:
    """Return the changes of the machine that may help a job whose ranks waited for some causes."""
    if result.scenario.target.kind != "lustre":
        return []
    return [
        change
        for on, make in _OF_MACHINE
        if on.intersection(causes)
        for change in make(case, result)
    ]


def _changed(case: Case, words: str, changes: dict[str, Any]) -> Change:
    """Return the change of some values of the machine."""
    typed = " ".join(f"--set {name}={value}" for name, value in changes.items())
    return Change(words, typed, case.with_machine(changes, {}), Who.MACHINE)


def _client(case: Case, result: Result) -> Iterator[Change]:
    """Yield other limits of the client."""
    lustre = result.machine.lustre
    flight, dirty = 4 * lustre.max_rpcs_in_flight, 4 * lustre.max_dirty
    yield _changed(
        case,
        f"{flight} RPCs in flight to an OST in place of {lustre.max_rpcs_in_flight}",
        {"lustre.max_rpcs_in_flight": flight},
    )
    yield _changed(
        case,
        f"room for {format_bytes(dirty)} of dirty pages an OST in place of "
        f"{format_bytes(lustre.max_dirty)}",
        {"lustre.max_dirty": format_bytes(dirty).replace(" ", "")},
    )


def _hardware(case: Case, result: Result) -> Iterator[Change]:
    """Yield twice the OSTs, and twice the LNET routers, or as many routers as fit."""
    lustre, lnet = result.machine.lustre, result.machine.lnet
    osts = {"lustre.osts": 2 * lustre.osts}
    more = _changed(case, f"{2 * lustre.osts} OSTs in place of {lustre.osts}", osts)
    scenario = result.scenario
    on_all = scenario.striping.count in (-1, lustre.osts) and scenario.striping.setstripe is None
    if on_all and isinstance(case.scenario, Scenario):
        striping = replace(scenario.striping, count=-1, offset=-1)
        wider = case.with_job("", scenario.model_copy(update={"striping": striping}))
        more = more._replace(case=wider.with_machine(osts, {}))
    yield more
    if lnet is None:
        return
    for each in range(2 * lnet.routers_per_group, lnet.routers_per_group, -1):
        changes = {"lnet.routers_per_group": each}
        with suppress(InputError):  # the machine has no room for so many on its service blades
            result.machine.with_changes(changes)
            words = f"{each * lnet.groups} LNET routers for data in place of {lnet.data_routers}"
            yield _changed(case, words, changes)
            return


def _mdts(case: Case, result: Result) -> Iterator[Change]:
    """Yield four times the MDTs; directories spread their names over all of them (DNE)."""
    mdts = result.machine.lustre.mds.mdts
    more = _changed(case, f"{4 * mdts} MDTs in place of {mdts}", {"lustre.mds.mdts": 4 * mdts})
    if isinstance(case.scenario, Scenario):
        striping = replace(result.scenario.striping, mdts=-1)
        dealt = more.case.scenario.model_copy(update={"striping": striping})
        case = replace(more.case, scenario=dealt)
        more = more._replace(typed=f"{more.typed} --mdt-count -1", case=case)
    yield more


_BULK = {
    *(Cause.NIC, Cause.LINK, Cause.LNET, Cause.IB, Cause.OSS, Cause.OST, Cause.OSC),
    *(Cause.TRANSFER, Cause.FLUSH, Cause.MUTEX, Cause.LOCK, Cause.CACHE, Cause.SYNC),
}

_OF_MACHINE: tuple[tuple[set[Cause], Callable[[Case, Result], Iterator[Change]]], ...] = (
    ({Cause.OSC, Cause.CACHE, Cause.FLUSH}, _client),
    (_BULK, _hardware),
    ({Cause.MDS}, _mdts),
)
