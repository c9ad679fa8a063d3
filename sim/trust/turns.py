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
from xc40io.config.units import SHORT_SIZES, is_count
from xc40io.mpi.hint_text import read_patterns
from xc40io.trust.run_kind import layout_of
from xc40io.workloads.catalogue import traits_if_known
from xc40io.workloads.traits import COLLECTIVE, OWN, SHARED, Traits

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
    def words(self) -> str:
        """What is turned: ``stripe-size 8m in place of 1m``."""
        after, before = map(self._written, (self.after, self.before))
        return f"{self.knob} {after} in place of {before}"

    def _written(self, value: Value) -> str:
        if isinstance(value, str):
            return value
        return SHORT_SIZES.write(int(value)) if self.knob in SIZES else f"{value:g}"

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
        If a machine is none.
    """
    traits, others = traits_if_known(after), traits_if_known(before)
    if not _same_job(before, after) or _data(others) != _data(traits):
        return ()
    then, now = _settings(before, others), _settings(after, traits)
    turned = [name for name in then if name in now and then[name] != now[name]]
    if LAYOUT in turned:
        turned = [name for name in turned if name not in _OF_LAYOUT]
    layout, op = layout_of(traits), str(traits.of(phase).access)
    sharing = "own" if layout == OWN else "shared"
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
    """Tell whether two runs have the same ranks and machine."""
    if before.nodes * before.ppn != after.nodes * after.ppn:
        return False
    return (before.machine, before.changes) == (after.machine, after.changes)


def _data(traits: Traits) -> list[tuple[int | None, int]]:
    """Return the bytes of a rank in each part, one behind the other and in all."""
    return [(part.block, part.bytes_a_rank) for part in traits.parts]


def _settings(scenario: Scenario, traits: Traits) -> dict[str, Value]:
    """Return the values of the knobs of a job; those that are not known are left out."""
    machine = changed_machine(scenario.machine, scenario.changes, scenario.rpcs_as_one)
    hints = read_patterns(scenario.environment.get(HINTS, ""), HINTS, "").layer.values
    layout, parts = layout_of(traits), traits.parts
    found: dict[str, Value] = {"ranks-per-node": scenario.ppn, "target": scenario.target.kind}
    if layout in (COLLECTIVE, SHARED):
        found[CALLS] = "collective" if layout == COLLECTIVE else "independent"
    if layout in (OWN, COLLECTIVE, SHARED) and parts:
        found[LAYOUT] = OWN if layout == OWN else SHARED
        found[CALL_SIZE] = parts[0].call or 0
        found["direct"] = "direct" if traits.direct else "buffered"
    if scenario.striping.setstripe is None:
        found |= _stripes(scenario, machine, hints, traits)
    if layout == COLLECTIVE:
        found |= _buffers(hints, found.get(COUNT))
    return found


def _stripes(
    scenario: Scenario, machine: Machine, hints: Mapping[str, str], traits: Traits
) -> dict[str, Value]:
    """Return stripe count and size, asked for by a program, a hint, the user, or the site."""
    own = next(((one.stripe_count, one.stripe_size) for one in traits.parts), (0, 0))
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
