"""The knobs that a job has on its machine, and the choices of each.

Which apply follows from the job: no aggregators where nobody calls MPI-IO together, no group lock
where ranks also read or write by themselves, no other layout of a kernel, which has its own, and of
a replayed log only what its what-ifs can change.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from sim.config.errors import InputError
from sim.config.files import nearest
from sim.config.scenario import Scenario, Target, Workload
from sim.config.units import parse_bytes
from sim.studies.axes import Axis
from sim.studies.tune.job_nature import JobNature
from sim.studies.tune.knobs import (
    AGGREGATORS,
    BUFFERING,
    COUNT,
    LOCKS,
    SIZE,
    Knob,
    Turner,
    aggregation_knobs,
    count_knob,
    size_knob,
)
from sim.studies.variation import varied

CALLS, LAYOUT, SPREAD, TARGET = "collective", "layout", "ranks-per-node", "target"

NAMES: Mapping[str, Turner] = {
    COUNT: Turner.USER,
    SIZE: Turner.USER,
    AGGREGATORS: Turner.USER,
    LOCKS: Turner.USER,
    BUFFERING: Turner.USER,
    SPREAD: Turner.JOB,
    TARGET: Turner.JOB,
    CALLS: Turner.PROGRAM,
    LAYOUT: Turner.PROGRAM,
}
"""All knobs by name, with who can turn them."""

BY_DEFAULT = tuple(name for name, turner in NAMES.items() if turner is Turner.USER)
"""What is turned unless something else is allowed: neither program, nodes nor target change."""

EVERYTHING = "all"

_OF_AXIS = {"striping.count": COUNT, "striping.size": SIZE, "target": TARGET}
"""Axes that are other names of knobs."""

OWN_FILES, _SHARED = "own files", "shared file"
_TOGETHER, _ALONE = "collective", "independent"


def read_allowed(text: str | None) -> tuple[str, ...]:
    """Read which knobs may be turned: names with commas between them, or ``all``.

    Raises
    ------
    InputError
        If one of them is no knob.
    """
    if text is None:
        return BY_DEFAULT
    names = tuple(name.strip() for name in text.split(",")) if text.strip() else ()
    if names == (EVERYTHING,):
        return tuple(NAMES)
    for name in names:
        if name not in NAMES:
            raise InputError(
                f"--allow {name}: there is no such knob{nearest(name, NAMES)}; there are "
                f"{', '.join(NAMES)}, and {EVERYTHING}"
            )
    return tuple(dict.fromkeys(names))


def knobs_of(nature: JobNature, allowed: Iterable[str], axes: Iterable[Axis] = ()) -> list[Knob]:
    """Return the knobs of a job that may be turned, in the order in which they are turned.

    Parameters
    ----------
    nature
        What the job is.
    allowed
        Names of :data:`NAMES`; those that the job has not are left out.
    axes
        Fields that take values of the user's own: of a knob that there is in place of its choices,
        else as a knob more.

    Raises
    ------
    InputError
        If an axis names no field of the scenario, or a value that it cannot have.
    """
    asked = {_OF_AXIS.get(axis.path, axis.path): axis for axis in axes}
    wanted = {*allowed, *(name for name in asked if name in NAMES)}
    found = [knob for knob in _all(nature, wanted) if knob.name in wanted and len(knob.values) > 1]
    knobs = []
    for knob in found:
        axis = asked.pop(knob.name, None)
        knobs.append(knob if axis is None else _restricted(knob, axis))
    for axis in asked.values():
        if _OF_AXIS.get(axis.path) is not None:
            raise InputError(f"--over {axis.path}: the job has no such choice")
        knobs.append(_of_axis(axis, nature.scenario))
    return knobs


def _all(nature: JobNature, wanted: set[str]) -> Iterator[Knob]:
    """Yield every knob that a job has; the later ones are turned after the earlier ones."""
    if not nature.replays:
        yield _target(nature)
        if nature.tests and not nature.has_script:
            yield _layout(nature)
        if (nature.over_mpi and not nature.has_script) or "collective" in nature.options:
            yield _calls(nature)
    if nature.scenario.placement.policy != "list":
        yield _spread(nature)
    if nature.scenario.target.kind == "lustre" or TARGET in wanted:
        yield count_knob(nature)
        yield size_knob(nature)
    if nature.collective or (CALLS in wanted and (nature.over_mpi or nature.options)):
        yield from aggregation_knobs(nature)


def _target(nature: JobNature) -> Knob:
    machine = nature.machine
    there = {"lustre": True, "ssd": machine.ssd, "bb": machine.burst_buffer}
    kind = nature.scenario.target.kind

    def change(scenario: Scenario, value: str) -> Scenario:
        return scenario.model_copy(update={"target": Target.model_validate({"kind": value})})

    values = tuple(name for name, part in there.items() if part)
    return Knob(TARGET, "where the files are", Turner.JOB, values, change, kind, ordered=False)


def _layout(nature: JobNature) -> Knob:
    def change(scenario: Scenario, value: str) -> Scenario:
        return _with_switch(scenario, "F", on=value == OWN_FILES)

    present = OWN_FILES if nature.own_files else _SHARED
    words = "one file, or a file for each rank"
    return Knob(LAYOUT, words, Turner.PROGRAM, (_SHARED, OWN_FILES), change, present, ordered=False)


def _calls(nature: JobNature) -> Knob:
    def change(scenario: Scenario, value: str) -> Scenario:
        on = value == _TOGETHER
        if scenario.workload.ior is not None:
            return _with_switch(scenario, "c", on=on)
        return varied(scenario, {"kernel.collective": on})

    kernel = nature.scenario.workload.kernel or {}
    together = nature.collective if nature.tests else kernel.get("collective", nature.collective)
    return Knob(
        CALLS,
        "collective or independent calls",
        Turner.PROGRAM,
        (_ALONE, _TOGETHER),
        change,
        _TOGETHER if together else _ALONE,
        ordered=False,
        idle={LAYOUT: frozenset({OWN_FILES})},
    )


def _with_switch(scenario: Scenario, letter: str, *, on: bool) -> Scenario:
    """Return an IOR command with an option on or off, written as a person would."""
    words, option = scenario.workload.ior or (), f"-{letter}"
    without = tuple(word for word in words if word != option)
    if on:
        words = (*without, option)
    elif without != words:
        words = without
    else:
        return varied(scenario, {f"ior.{letter}": False})
    return scenario.model_copy(update={"workload": Workload(ior=words)})


def _spread(nature: JobNature) -> Knob:
    """Return the knob of the ranks on each node: the same ranks on fewer nodes, or on more."""
    cores = nature.machine.nodes.cores - nature.scenario.cores.system
    ranks, present = nature.ranks, nature.scenario.ppn
    doubled = [present * 2**power for power in range(-8, 9) if power >= 0]
    halved = [present // 2**power for power in range(1, 9) if present % 2**power == 0]
    values = sorted(
        ppn
        for ppn in {*doubled, *halved}
        if ppn <= cores and ranks % ppn == 0 and ranks // ppn <= nature.machine.nodes.count
    )

    def change(scenario: Scenario, value: int) -> Scenario:
        return scenario.model_copy(update={"nodes": ranks // value, "ppn": value})

    words = "ranks on each node"
    return Knob(SPREAD, words, Turner.JOB, tuple(values), change, present)


def _restricted(knob: Knob, axis: Axis) -> Knob:
    """Return a knob with values of the user's own."""
    values = axis.values
    if knob.name == SIZE:
        values = tuple(
            value if isinstance(value, int) else parse_bytes(str(value)) for value in values
        )
    return replace(knob, values=tuple(values))


def _of_axis(axis: Axis, scenario: Scenario) -> Knob:
    """Return a knob for any other field; raise InputError if there is none, or no such value."""

    def change(scenario: Scenario, value: Any) -> Scenario:
        return varied(scenario, {axis.path: value})

    for value in axis.values:
        change(scenario, value)
    ordered = axis.numbers is not None
    return Knob(axis.path, axis.path, Turner.ANYBODY, axis.values, change, ordered=ordered)
