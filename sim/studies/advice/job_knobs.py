"""The knobs that a job has on its machine, and the choices of each.

Which apply follows from the job: no aggregators where nobody calls MPI-IO together, no group lock
where ranks also read or write by themselves, no other layout of a kernel, which has its own, and of
a replayed log only what its what-ifs can change.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from xc40io.config.errors import InputError, nearest
from xc40io.config.scenario import Scenario, Target
from xc40io.config.units import MIB, SHORT_SIZES, format_bytes, parse_bytes
from xc40io.engine.page import PAGE
from xc40io.findings.triggers_of_ranks import IDLE_CALLS
from xc40io.libraries.hdf5_subfiles import IOC_PER_NODE, Subfiling
from xc40io.studies.advice.composites import COMPOSITE
from xc40io.studies.advice.job_nature import JobNature
from xc40io.studies.advice.knobs import (
    AGGREGATORS,
    BUFFERING,
    COUNT,
    LOCKS,
    SIZE,
    Knob,
    Who,
    aggregation_knobs,
    composite_knob,
    count_knob,
    size_knob,
    stripe_count_of,
    stripe_size_of,
    with_hints,
)
from xc40io.studies.axes import Axis
from xc40io.studies.variation import varied
from xc40io.topology.text import format_count
from xc40io.workloads.catalogue import PROGRAMS, workload_of

CALLS, LAYOUT, SPREAD, TARGET = "collective", "layout", "ranks-per-node", "target"
CALL_SIZE, DIRECT, EXCHANGE = "call-size", "direct", "exchange"
BLOCK, OPTIONS, _SEGMENTS = "block", "options", "segments"

NAMES: Mapping[str, Who] = {
    COUNT: Who.SETTINGS,
    SIZE: Who.SETTINGS,
    COMPOSITE: Who.SETTINGS,
    AGGREGATORS: Who.SETTINGS,
    LOCKS: Who.SETTINGS,
    BUFFERING: Who.SETTINGS,
    SPREAD: Who.SCRIPT,
    TARGET: Who.PLACE,
    CALLS: Who.PROGRAM,
    LAYOUT: Who.PROGRAM,
    CALL_SIZE: Who.PROGRAM,
    BLOCK: Who.PROGRAM,
    DIRECT: Who.PROGRAM,
    OPTIONS: Who.PROGRAM,
    EXCHANGE: Who.LIBRARY,
}
"""All knobs by name, with who can turn them."""

BY_DEFAULT = tuple(name for name, who in NAMES.items() if who is Who.SETTINGS)
"""What is turned unless something else is allowed: neither program, nodes nor target change."""

EVERYTHING = "all"

_OF_AXIS = {
    "striping.count": COUNT,
    "striping.size": SIZE,
    "striping.setstripe": COMPOSITE,
    "target": TARGET,
}
"""Axes that are other names of knobs."""

OWN_FILES, _SHARED = "own files", "shared file"
TOGETHER, _ALONE = "collective", "independent"
_BUFFERED, _DIRECT = "buffered", "direct"
_TWO_PHASE, _ONE_SIDED, _TAM = "two-phase", "one-sided", "within the nodes first"

_EXCHANGES = {
    _TWO_PHASE: "two-phase messages",
    _ONE_SIDED: "one-sided puts into the aggregators' buffers",
    _TAM: "data brought together within each node first (TAM)",
}
_PLACES = {
    "lustre": "files on Lustre",
    "ssd": "files on the nodes' own SSDs (copying them to Lustre is not counted)",
    "bb": "files in the burst buffer (staging is not counted)",
    "home": "files in the home directories",
}
_METHOD = "ROMIO_WRITE_AGGMETHOD"
_SUBFILING, _CONCENTRATORS = "subfiling", "concentrators"
_MOST_CONCENTRATORS = 8
_INTRA_NODE = "xc40io_intra_node_aggregation"
_LARGEST_CALL = 64 * MIB


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
    wanted |= {*nature.tried, _CONCENTRATORS} if OPTIONS in wanted else set()
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
        makers = {LAYOUT: _layout, CALL_SIZE: _call_size, BLOCK: _block, DIRECT: _direct}
        yield from (make(nature) for name, make in makers.items() if name in nature.switches)
        if (nature.over_mpi and CALLS in nature.switches) or CALLS in nature.options:
            yield _calls(nature)
        yield from (_option(nature, *each) for each in nature.tried.items())
        if _SUBFILING in nature.tried:
            yield _concentrators(nature)
    if nature.scenario.placement.policy != "list":
        yield _spread(nature)
    if nature.scenario.target.kind == "lustre" or TARGET in wanted:
        yield composite_knob(nature)
        yield count_knob(nature)
        yield size_knob(nature)
    if nature.collective or (CALLS in wanted and (nature.over_mpi or nature.options)):
        yield from aggregation_knobs(nature)
    if nature.collective:
        yield _exchange(nature)


def _target(nature: JobNature) -> Knob:
    machine = nature.machine
    alone = nature.own_files and not any(part.shifted for part in nature.parts)
    there = {"lustre": True, "ssd": machine.ssd and alone, "bb": machine.burst_buffer}
    kind = nature.scenario.target.kind

    def change(scenario: Scenario, value: str) -> Scenario:
        return scenario.model_copy(update={"target": Target.model_validate({"kind": value})})

    values = tuple(name for name, part in there.items() if part)
    return Knob(
        TARGET,
        "where the files are",
        Who.PLACE,
        values,
        change,
        kind,
        ordered=False,
        phrase=_PLACES.__getitem__,
    )


def _layout(nature: JobNature) -> Knob:
    def change(scenario: Scenario, value: str) -> Scenario:
        return _with_switch(scenario, LAYOUT, on=value == OWN_FILES)

    present = OWN_FILES if nature.own_files else _SHARED
    words = "one file, or a file for each rank"
    phrases = {_SHARED: "one file for all ranks", OWN_FILES: "a file for each rank"}
    return Knob(
        LAYOUT,
        words,
        Who.PROGRAM,
        (_SHARED, OWN_FILES),
        change,
        present,
        ordered=False,
        phrase=phrases.__getitem__,
    )


def _call_size(nature: JobNature) -> Knob:
    """Return the knob of the bytes of a call: calls of four, 16... times as many bytes."""
    present, block = nature.parts[0].call or 0, nature.parts[0].block or 0
    larger = (present << power for power in (2, 4, 6, 8))
    values = (present, *(size for size in larger if size <= _LARGEST_CALL and block % size == 0))

    def change(scenario: Scenario, value: int) -> Scenario:
        return _with_option(scenario, nature.switches[CALL_SIZE], SHORT_SIZES.write(value))

    return Knob(
        CALL_SIZE,
        "bytes of a read or write call",
        Who.PROGRAM,
        values,
        change,
        present,
        label=SHORT_SIZES.write,
        phrase=lambda value: f"calls of {format_bytes(value)}",
    )


def _block(nature: JobNature) -> Knob:
    """Return the knob of how far the calls of two ranks are apart: a block, or nothing.

    Only where few of the OSTs, and of the aggregators, have anything to do in a collective call.
    """
    part = nature.parts[0]
    block, call = part.block or 0, part.call or 0
    apart = idle_osts(nature) is not None and block % call == 0

    def change(scenario: Scenario, value: int) -> Scenario:
        segments = part.bytes_a_rank // value
        changed = _with_option(scenario, nature.switches[BLOCK], SHORT_SIZES.write(value))
        return _with_option(changed, nature.switches[_SEGMENTS], segments)

    return Knob(
        BLOCK,
        "bytes of a rank one behind the other in a shared file",
        Who.PROGRAM,
        (block, call) if apart else (),
        change,
        block,
        ordered=False,
        label=SHORT_SIZES.write,
        idle={CALLS: frozenset({_ALONE}), LAYOUT: frozenset({OWN_FILES})},
        phrase=lambda value: (
            f"a block of {format_bytes(value)} for each rank"
            if value == block
            else "the calls of all ranks side by side in the file"
        ),
    )


def idle_osts(nature: JobNature) -> tuple[int, int] | None:
    """Return on how many OSTs a collective call lies, and of how many, if that is half or fewer.

    None where there is too little in a call for all of them, and where calls are not known.
    """
    count, size = stripe_count_of(nature), stripe_size_of(nature)
    if not nature.collective or not nature.parts or not count or not size:
        return None
    met = nature.parts[0].osts_met(nature.ranks, size, count)
    enough = (nature.call or 0) >= count * size
    return (met, count) if enough and met <= IDLE_CALLS * count else None


def _direct(nature: JobNature) -> Knob:
    def change(scenario: Scenario, value: str) -> Scenario:
        return _with_switch(scenario, DIRECT, on=value == _DIRECT)

    aligned = not any((part.call or 0) % PAGE for part in nature.parts)
    return Knob(
        DIRECT,
        "through the page cache, or past it (O_DIRECT)",
        Who.PROGRAM,
        (_BUFFERED, _DIRECT) if aligned and not nature.over_mpi else (),
        change,
        _DIRECT if nature.traits.direct else _BUFFERED,
        ordered=False,
        phrase=lambda value: f"{value} I/O",
    )


def _exchange(nature: JobNature) -> Knob:
    """Return the knob of how data and aggregators come together in collective writes."""

    def change(scenario: Scenario, value: str) -> Scenario:
        if value == _TAM:
            return with_hints(scenario, {_INTRA_NODE: "enable"})
        environment = {**scenario.environment, _METHOD: "1" if value == _ONE_SIDED else "0"}
        return scenario.model_copy(update={"environment": environment})

    one_sided = nature.scenario.environment.get(_METHOD, "0") != "0"
    tam = nature.hints.get(_INTRA_NODE) == "enable"
    present = _ONE_SIDED if one_sided else _TAM if tam else _TWO_PHASE
    others = () if present != _TWO_PHASE else (_ONE_SIDED, _TAM)
    return Knob(
        EXCHANGE,
        "how ranks and aggregators exchange data",
        Who.LIBRARY,
        (present, *others),
        change,
        present,
        ordered=False,
        idle={CALLS: frozenset({_ALONE}), LAYOUT: frozenset({OWN_FILES})},
        phrase=_EXCHANGES.__getitem__,
    )


def _calls(nature: JobNature) -> Knob:
    def change(scenario: Scenario, value: str) -> Scenario:
        on = value == TOGETHER
        if CALLS in nature.switches:
            return _with_switch(scenario, CALLS, on=on)
        return _with_option(scenario, CALLS, on)

    together = nature.scenario.workload.options.get(CALLS, nature.collective)
    return Knob(
        CALLS,
        "collective or independent calls",
        Who.PROGRAM,
        (_ALONE, TOGETHER),
        change,
        TOGETHER if together else _ALONE,
        ordered=False,
        idle={LAYOUT: frozenset({OWN_FILES})},
        phrase=lambda value: f"{value} calls",
    )


def _option(nature: JobNature, name: str, choices: tuple[Any, ...]) -> Knob:
    """Return the knob of an option of a kernel that says that it is to be tried otherwise."""
    words = name.replace("_", " ")

    def phrase(value: Any) -> str:
        return (
            f"{words} {value}" if not isinstance(value, bool) else words if value else f"no {words}"
        )

    return Knob(
        name,
        words,
        Who.PROGRAM,
        choices,
        lambda scenario, value: _with_option(scenario, name, value),
        workload_of(nature.scenario.workload).options()[name],
        ordered=False,
        phrase=phrase,
    )


def _concentrators(nature: JobNature) -> Knob:
    """Return the knob of how many ranks of a node read and write HDF5's subfiles."""

    def change(scenario: Scenario, value: int) -> Scenario:
        environment = {**scenario.environment, IOC_PER_NODE: str(value)}
        return scenario.model_copy(update={"environment": environment})

    told = Subfiling.told(nature.scenario.environment)
    most = min(nature.scenario.ppn, _MOST_CONCENTRATORS)
    fixed = told.every or told.total
    return Knob(
        _CONCENTRATORS,
        "I/O concentrators of a node for subfiles of HDF5",
        Who.LIBRARY,
        () if fixed else tuple(2**power for power in range(most.bit_length())),
        change,
        None if fixed else told.per_node,
        idle={_SUBFILING: frozenset({False})},
        phrase=lambda value: f"{format_count(value, 'concentrator')} a node",
    )


def _with_option(scenario: Scenario, option: str, value: object) -> Scenario:
    """Return a scenario with an option of its program set."""
    return varied(scenario, {f"{scenario.workload.program}.{option}": value})


def _with_switch(scenario: Scenario, name: str, *, on: bool) -> Scenario:
    """Return a command with the option of a knob on or off, written as a person would."""
    letter = PROGRAMS[scenario.workload.program].switches[name]
    words, option = scenario.workload.words, f"-{letter}"
    without = tuple(word for word in words if word != option)
    if on:
        words = (*without, option)
    elif without != words:
        words = without
    else:
        return _with_option(scenario, letter, value=False)
    return scenario.model_copy(update={"workload": scenario.workload.having(words)})


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
    return Knob(
        SPREAD,
        words,
        Who.SCRIPT,
        tuple(values),
        change,
        present,
        phrase=lambda value: f"{format_count(ranks // value, 'node')}, {value} ranks on each",
    )


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
    return Knob(axis.path, axis.path, Who.ANYBODY, axis.values, change, ordered=ordered)
