"""Knobs: the settings of a job that a user can change, striping and collective buffering.

Striping: the stripe count and the stripe size. Collective buffering: whether there are
aggregators, how many, and how they lock.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial
from typing import Any

from xc40io.config.job_form import HINTS
from xc40io.config.scenario import Scenario
from xc40io.config.units import MIB, SHORT_SIZES, format_bytes
from xc40io.mpi.hint_text import with_more_hints
from xc40io.studies.advice.composites import COMPOSITE, PLAIN, composite_layouts, with_layout
from xc40io.studies.advice.job_nature import JobNature
from xc40io.studies.case import GROUP_LOCK
from xc40io.topology.text import format_count
from xc40io.workloads.catalogue import PROGRAMS

AS_IT_IS = "as it is"
"""How the value of a knob is called that has not been turned."""

Setting = Mapping[str, Any]
"""Values of knobs by their names; a knob that is not there is left as it is."""


class Who(StrEnum):
    """Who can change something; the earlier ones have the least to change."""

    SETTINGS = "settings"  # whoever submits the job: lfs setstripe, hints
    SCRIPT = "the job script"  # likewise, with other nodes
    PROGRAM = "the program"  # whoever wrote it
    PLACE = "the place of the files"  # whoever submits the job, and copies them to and fro
    LIBRARY = "the MPI library"  # whoever installs it
    MACHINE = "the machine"  # whoever buys it, or runs it
    ANYBODY = "--over"  # whoever named the field

    @property
    def place(self) -> int:
        """How many have less to change."""
        return list(Who).index(self)


@dataclass(frozen=True)
class Knob:
    """Something that can be turned."""

    name: str  # as --allow and the table of results have it: "stripe-count"
    words: str  # what it is
    who: Who
    values: tuple[Any, ...]  # its choices, in order if they have one
    change: Callable[[Scenario, Any], Scenario]  # returns a scenario with one of them
    present: Any = None  # what it is now, or None where that is none of the choices
    ordered: bool = True  # whether near choices do alike
    label: Callable[[Any], str] = str  # writes a value for a person
    idle: Mapping[str, frozenset[Any]] = field(default_factory=dict)  # values of other knobs
    phrase: Callable[[Any], str] = str  # a value behind the word "with": "48 stripes"

    def written(self, setting: Setting) -> str:
        """Return its value in a setting, for a person."""
        value = setting.get(self.name, self.present)
        return AS_IT_IS if value is None else self.label(value)

    def idles(self, setting: Setting) -> bool:
        """Tell whether turning it does nothing beside the other values of a setting."""
        return any(setting.get(name) in values for name, values in self.idle.items())


COUNT, SIZE = "stripe-count", "stripe-size"

ELSEWHERE = {"target": frozenset({"ssd", "bb", "home"})}
"""Where files have no stripes."""

_SIZES = tuple(mebibytes * MIB for mebibytes in (1, 2, 4, 8, 16, 32))
_SMALLEST_BLOCK, _LARGEST_BLOCK = MIB, 64 * MIB
_FEW_OBJECTS = 8
"""Most stripes of a file that one rank has for itself."""

AGGREGATORS, LOCKS, BUFFERING = "aggregators", "lock-mode", "buffering"

_GROUP = {name: value for name, _, value in (hint.partition("=") for hint in GROUP_LOCK)}
_ROMIO_AHEAD = "romio_lustre_cb_lock_ahead_write"
_ON, _OFF = "on", "off"
_LOCK_WORDS = {"extent": "extent locks", "group": "one group lock", "ahead": "locks ahead"}
_IDLE: Mapping[str, frozenset[Any]] = {
    **ELSEWHERE,
    "layout": frozenset({"own files"}),
    "collective": frozenset({"independent"}),
}
"""Where nobody aggregates."""


def count_knob(nature: JobNature) -> Knob:
    """Return the knob of the OSTs of a file: doublings, three quarters of one more, and all."""
    osts = nature.machine.lustre.osts
    most = min(_FEW_OBJECTS, osts) if nature.own_files else osts
    values = {2**power for power in range(most.bit_length())}
    if not nature.own_files:
        values |= {osts, _three_quarters(osts)}
    present = stripe_count_of(nature)
    if present is not None:
        values.add(present)

    choices = tuple(sorted(values))
    words = "OSTs of a file"
    return Knob(
        COUNT,
        words,
        Who.SETTINGS,
        choices,
        _with_count,
        present,
        idle=_beside_layouts(nature),
        phrase=lambda value: format_count(value, "stripe"),
    )


def _three_quarters(osts: int) -> int:
    """Return the largest count between two doublings that there are OSTs for: 48 of 56."""
    return max(
        (3 * 2**power for power in range(osts.bit_length()) if 3 * 2**power <= osts), default=1
    )


def size_knob(nature: JobNature) -> Knob:
    """Return the knob of the bytes of a stripe: 1 to 32 MiB, and the block of a rank."""
    values = set(_SIZES)
    block = nature.block
    if block is not None and _SMALLEST_BLOCK <= block <= _LARGEST_BLOCK and block % MIB == 0:
        values.add(block)
    present = stripe_size_of(nature)
    if present is not None:
        values.add(present)

    choices, words = tuple(sorted(values)), "bytes of a stripe"
    return Knob(
        SIZE,
        words,
        Who.SETTINGS,
        choices,
        _with_size,
        present,
        label=SHORT_SIZES.write,
        idle=_beside_layouts(nature),
        phrase=lambda value: f"stripes of {format_bytes(value)}",
    )


def composite_knob(nature: JobNature) -> Knob:
    """Return the knob of layouts that have more than a count and a size."""
    present = nature.scenario.striping.setstripe or PLAIN
    return Knob(
        COMPOSITE,
        "the layout of a file, as lfs setstripe takes it",
        Who.SETTINGS,
        tuple(dict.fromkeys((PLAIN, present, *composite_layouts(nature)))),
        with_layout,
        present,
        ordered=False,
        idle=ELSEWHERE,
        phrase=lambda value: "stripes alone" if value == PLAIN else f"the layout {value}",
    )


def _beside_layouts(nature: JobNature) -> Mapping[str, frozenset[Any]]:
    """Return beside what a count and a size of stripes do nothing."""
    others = {*composite_layouts(nature), nature.scenario.striping.setstripe} - {None}
    return {**ELSEWHERE, COMPOSITE: frozenset(others)}


def striping_of(nature: JobNature, scenario: Scenario) -> tuple[int | None, int | None]:
    """Return stripe count and size of the files of a job with other settings."""
    changed = replace(nature, scenario=scenario)
    return stripe_count_of(changed), stripe_size_of(changed)


def stripe_count_of(nature: JobNature) -> int | None:
    """Return the stripe count of a job's files; None where its files ask for their own."""
    osts = nature.machine.lustre.osts
    own = nature.parts[0].stripe_count if nature.parts else 0
    hint = nature.hints.get("striping_factor") if nature.collective or nature.over_mpi else None
    asked = own or int(hint or 0) or nature.scenario.striping.count or 0
    if not asked and nature.lays_out:
        return None
    count = asked or nature.machine.lustre.default_stripe_count
    return osts if count == -1 else count


def stripe_size_of(nature: JobNature) -> int | None:
    """Return the stripe size in bytes; None where its files ask for their own."""
    own = nature.parts[0].stripe_size if nature.parts else 0
    hint = nature.hints.get("striping_unit") if nature.collective or nature.over_mpi else None
    asked = own or int(hint or 0) or nature.scenario.striping.size or 0
    if not asked and nature.lays_out:
        return None
    return asked or nature.machine.lustre.default_stripe_size


def _with_count(scenario: Scenario, value: int) -> Scenario:
    striping = scenario.striping.having(count=value)
    changed = scenario.model_copy(update={"striping": striping})
    return _elsewhere_too(changed, "striping_factor", COUNT, value)


def _with_size(scenario: Scenario, value: int) -> Scenario:
    striping = scenario.striping.having(size=value)
    changed = scenario.model_copy(update={"striping": striping})
    return _elsewhere_too(changed, "striping_unit", SIZE, value)


def _elsewhere_too(scenario: Scenario, hint: str, knob: str, value: int) -> Scenario:
    """Return a scenario with a value of the striping also where a hint or a command asks for it."""
    if hint in scenario.environment.get(HINTS, ""):
        scenario = with_hints(scenario, {hint: str(value)})
    words = scenario.workload.words
    option = PROGRAMS[scenario.workload.program].switches.get(knob)
    if option is not None and any(option in word for word in words):
        workload = scenario.workload.having((*words, f"--{option}={value}"))
        scenario = scenario.model_copy(update={"workload": workload})
    return scenario


def with_hints(scenario: Scenario, hints: Mapping[str, str]) -> Scenario:
    """Return a scenario with hints for MPI-IO, in place of others of the same names."""
    present = scenario.environment.get(HINTS, "")
    text = ":".join(f"{name}={value}" for name, value in hints.items())
    environment = {**scenario.environment, HINTS: with_more_hints(present, text)}
    return scenario.model_copy(update={"environment": environment})


def aggregation_knobs(nature: JobNature) -> Iterator[Knob]:
    """Yield the knobs of collective buffering."""
    with_buffering = {**_IDLE, BUFFERING: frozenset({_OFF})}
    yield _buffering(nature)
    yield _aggregators(nature, with_buffering)
    yield _locks(nature, with_buffering)


def _buffering(nature: JobNature) -> Knob:
    def change(scenario: Scenario, value: str) -> Scenario:
        way = "enable" if value == _ON else "disable"
        hints = {"romio_cb_write": way, "romio_cb_read": way}
        if value == _OFF and "romio_no_indep_rw=true" in scenario.environment.get(HINTS, ""):
            # else nobody may write for himself
            hints |= {"cray_cb_write_lock_mode": "0", "romio_no_indep_rw": "false"}
        return with_hints(scenario, hints)

    off = {nature.hints.get(name) for name in ("romio_cb_write", "romio_cb_read")} == {"disable"}
    return Knob(
        BUFFERING,
        "collective buffering",
        Who.SETTINGS,
        (_ON, _OFF),
        change,
        _OFF if off else _ON,
        ordered=False,
        idle=_IDLE,
        phrase=lambda value: f"collective buffering {value}",
    )


def _aggregators(nature: JobNature, idle: Mapping[str, frozenset[Any]]) -> Knob:
    """Return the knob of the aggregators of a stripe object: a part of one, or several."""
    values: tuple[float, ...] = (1, 2, 4, 8) if nature.replays else (0.25, 0.5, 1, 2, 4, 8)
    named = nature.hints.keys() & {"cb_nodes", "cray_cb_nodes_multiplier", "cb_config_list"}
    cray = nature.machine.mpi.library == "cray"
    return Knob(
        AGGREGATORS,
        "aggregators for each OST of the file",
        Who.SETTINGS,
        values,
        partial(_with_aggregators, nature),
        1 if cray and not named else None,
        label=lambda value: f"{value:g} an OST",
        idle=idle,
        phrase=lambda value: f"{value:g} aggregator{'s' if value > 1 else ''} for each OST",
    )


def _with_aggregators(nature: JobNature, scenario: Scenario, value: float) -> Scenario:
    """Return a scenario with so many aggregators for each OST of the file."""
    count = stripe_count_of(replace(nature, scenario=scenario)) or 1
    total = max(1, round(count * value))
    if nature.machine.mpi.library == "romio":
        return with_hints(
            scenario,
            {
                "cb_nodes": str(total),
                "cb_config_list": f"#*:{-(-total // scenario.nodes)}#",
                "romio_lustre_co_ratio": str(max(1, round(value))),
            },
        )
    hints = {"cray_cb_nodes_multiplier": str(max(1, round(value)))}
    if value < 1 or "cb_nodes" in nature.hints:
        hints["cb_nodes"] = str(min(total, count))
    return with_hints(scenario, hints)


def aggregators_of(nature: JobNature, scenario: Scenario, value: float | None) -> int:
    """Return the number of aggregators, given the number for each OST of the file."""
    count = stripe_count_of(replace(nature, scenario=scenario)) or 1
    return max(1, round(count * (1 if value is None else value)))


def _locks(nature: JobNature, idle: Mapping[str, frozenset[Any]]) -> Knob:
    cray = nature.machine.mpi.library == "cray"
    hint, ahead = ("cray_cb_write_lock_mode", "2") if cray else (_ROMIO_AHEAD, "1")
    ways = {"extent": {hint: "0"}}
    if cray and nature.may_share_locks:
        ways["extent"] |= {"romio_no_indep_rw": "false"}
        ways["group"] = _GROUP
    if nature.machine.lustre.lock_ahead:
        ways["ahead"] = {hint: ahead}
    now = nature.hints.get(hint, "0")
    present = next((way for way, hints in ways.items() if hints.get(hint) == now), None)

    def change(scenario: Scenario, value: str) -> Scenario:
        return with_hints(scenario, ways[value])

    return Knob(
        LOCKS,
        "locks of aggregators",
        Who.SETTINGS,
        tuple(ways),
        change,
        present,
        ordered=False,
        idle=idle,
        phrase=lambda value: f"{_LOCK_WORDS[value]} of the aggregators",
    )
