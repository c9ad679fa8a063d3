"""Which knobs two runs of a job are turned apart by, and of what kind each such change is.

What was measured of a change, and what guides say of it, is known by its kind: of more stripes of
a shared file, of more aggregators under one group lock. Knobs and their values are called as
``tune`` calls them (:mod:`xc40io.studies.advice.job_knobs`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

from xc40io.config.job_form import HINTS
from xc40io.config.machine import Machine
from xc40io.config.scenario import Scenario, changed_machine
from xc40io.config.units import is_count
from xc40io.mpi.hint_text import read_patterns
from xc40io.trust.run_kind import COLLECTIVE, METADATA, OWN, SHARED, access_of, layout_of, run_kind
from xc40io.workloads.catalogue import workload_of
from xc40io.workloads.ior.command import Ior
from xc40io.workloads.ior.parameters import IorTest

COUNT, SIZE, LAYOUT, CALLS = "stripe-count", "stripe-size", "layout", "collective"
CALL_SIZE = "call-size"
AGGREGATORS, LOCKS = "aggregators", "lock-mode"

SIZES = (SIZE, CALL_SIZE)
"""Knobs whose values are bytes."""

Value = float | str
"""Of a knob: a number where its values have an order, else a word."""

_OF_LAYOUT = (COUNT, SIZE)  # who writes a file for each rank stripes it otherwise
_APART = frozenset({LAYOUT, CALLS, "target"})  # how ranks share files differs from end to end
_LOCK_HINT, _LOCK_WORDS = "cray_cb_write_lock_mode", {"1": "group", "2": "ahead"}


class Turn(NamedTuple):
    """A knob that is turned.

    Attributes
    ----------
    knob
        Its name.
    before, after
        Its values; both are numbers, or both are words.
    sharing
        How the ranks share their files: ``shared``, or ``own``; empty of knobs that change that.
    op
        What the phase does that is looked at: ``write``, ``read``, ``metadata``.
    locks
        Of aggregators: how they lock; else empty.
    """

    knob: str
    before: Value
    after: Value
    sharing: str
    op: str
    locks: str = ""

    @property
    def kind(self) -> str:
        """What the change is one of, whichever way the knob is turned."""
        where = f"{self.sharing} files" if self.sharing else ""
        how = f"{self.locks} locks" if self.locks else ""
        return ", ".join(filter(None, (self.knob, where, how, self.op)))

    @property
    def upward(self) -> bool:
        """Whether it is turned to the larger number, or to the later word of the alphabet."""
        if isinstance(self.before, str) or isinstance(self.after, str):
            return str(self.after) > str(self.before)
        return self.after > self.before


def turns_of(before: Scenario, after: Scenario, phase: str) -> tuple[Turn, ...]:
    """Return the knobs that are turned from one run of a job to another.

    None where it is another job: other ranks, other data, another machine.

    Raises
    ------
    InputError
        If a machine or a workload is none.
    """
    if not _same_job(before, after):
        return ()
    then, now = _settings(before), _settings(after)
    turned = [name for name in then if name in now and then[name] != now[name]]
    if LAYOUT in turned:
        turned = [name for name in turned if name not in _OF_LAYOUT]
    layout, kind = layout_of(after), run_kind(after, phase)
    sharing = "own" if layout == OWN else "shared"
    op = METADATA if kind == METADATA else access_of(phase)
    locks = str(now[LOCKS]) if layout == COLLECTIVE else ""
    return tuple(
        Turn(
            name,
            then[name],
            now[name],
            sharing="" if name in _APART else sharing,
            op=op,
            locks=locks if name == AGGREGATORS else "",
        )
        for name in turned
    )


def _same_job(before: Scenario, after: Scenario) -> bool:
    """Tell whether two runs have the same ranks, data and machine."""
    if before.nodes * before.ppn != after.nodes * after.ppn:
        return False
    if (before.machine, before.changes) != (after.machine, after.changes):
        return False
    one, other = (
        [(test.block_size, test.segments) for test in _tests(scenario)]
        for scenario in (before, after)
    )
    return one == other


def _tests(scenario: Scenario) -> tuple[IorTest, ...]:
    workload = workload_of(scenario.workload)
    return tuple(workload.command.tests) if isinstance(workload, Ior) else ()


def _settings(scenario: Scenario) -> dict[str, Value]:
    """Return the values of the knobs of a job; those that are not known are left out."""
    machine = changed_machine(scenario.machine, scenario.changes, scenario.rpcs_as_one)
    hints = read_patterns(scenario.environment.get(HINTS, ""), HINTS, "").layer.values
    layout, tests = layout_of(scenario), _tests(scenario)
    found: dict[str, Value] = {"ranks-per-node": scenario.ppn, "target": scenario.target.kind}
    if layout in (COLLECTIVE, SHARED):
        found[CALLS] = "collective" if layout == COLLECTIVE else "independent"
    if layout in (OWN, COLLECTIVE, SHARED) and tests:
        found[LAYOUT] = OWN if layout == OWN else SHARED
        found[CALL_SIZE] = tests[0].transfer_size
        found["direct"] = "direct" if all(test.direct_io for test in tests) else "buffered"
    if scenario.striping.setstripe is None:
        found |= _stripes(scenario, machine, hints, tests)
    if layout == COLLECTIVE:
        found |= _buffers(hints, found.get(COUNT))
    return found


def _stripes(
    scenario: Scenario, machine: Machine, hints: Mapping[str, str], tests: tuple[IorTest, ...]
) -> dict[str, Value]:
    """Return stripe count and size, asked for by IOR, by a hint, by the user, or by the site."""
    own = (tests[0].stripe_count, tests[0].stripe_size) if tests else (0, 0)
    hinted = _number(hints, "striping_factor"), _number(hints, "striping_unit")
    asked = scenario.striping.count, scenario.striping.size
    lustre = machine.lustre
    usual = lustre.default_stripe_count, lustre.default_stripe_size
    count, size = (
        next(filter(None, values)) for values in zip(own, hinted, asked, usual, strict=True)
    )
    return {COUNT: lustre.osts if count == -1 else count, SIZE: size}


def _buffers(hints: Mapping[str, str], count: Value | None) -> dict[str, Value]:
    """Return how collective calls are buffered; aggregators are told for each OST of the file."""
    off = hints.get("romio_cb_write") == "disable" and hints.get("romio_cb_read") == "disable"
    locks = _LOCK_WORDS.get(hints.get(_LOCK_HINT, "0"), "extent")
    each: float = _number(hints, "cray_cb_nodes_multiplier") or 1
    nodes = _number(hints, "cb_nodes")
    if nodes and isinstance(count, int | float):
        each = nodes / count
    return {"buffering": "off" if off else "on", LOCKS: locks, AGGREGATORS: each}


def _number(hints: Mapping[str, str], name: str) -> int:
    """Return the number that a hint asks for; 0 where it asks for none."""
    text = hints.get(name, "")
    return int(text) if is_count(text) else 0


def crosses(turn: Turn, first: Value, last: Value) -> bool:
    """Tell whether a knob is turned against a way from one value to another.

    Numbers: downward where that way goes up, or upward where it goes down, over a part of it.
    """
    if isinstance(first, str) or isinstance(last, str):
        return (turn.before, turn.after) == (last, first)
    if isinstance(turn.before, str) or isinstance(turn.after, str):
        return False
    against = math.copysign(1, turn.after - turn.before) != math.copysign(1, last - first)
    low = max(min(turn.before, turn.after), min(first, last))
    return against and low < min(max(turn.before, turn.after), max(first, last))
