"""The order in which the phases of a skeleton come, its loops counted and its conditions met."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from sim.config.errors import InputError, naming
from sim.workloads.skeleton.model import Phase
from sim.workloads.skeleton.scope import Scope

_MOST_STEPS = 100_000


class Step(NamedTuple):
    """A phase whose turn it is.

    Attributes
    ----------
    phase
        What is to be done.
    label
        The present value of the outermost counter; ``-`` outside all loops.
    row
        What the table calls it.
    """

    phase: Phase
    label: str
    row: str


def walk(phases: list[Phase], scope: Scope, where: str) -> Iterator[Step]:
    """Return the phases in the order in which they come.

    The scope keeps the place and the counters.

    Raises
    ------
    InputError
        If there are too many.
    """
    for number, step in enumerate(_walk(phases, scope, where, None)):
        if number >= _MOST_STEPS:
            raise InputError(
                f"{where}: more than {_MOST_STEPS:,} phases, loops counted out; right would be "
                "fewer, with more calls in each"
            )
        yield step


def _walk(
    phases: list[Phase], scope: Scope, where: str, whole: tuple[str, str] | None
) -> Iterator[Step]:
    """Return phases; ``whole`` is the label and the row of the loop that is one row as a whole."""
    for index, phase in enumerate(phases):
        path = f"{where}.{index}"
        with naming(path):
            chosen = scope.holds(phase.when)
        if not chosen:
            continue
        label = next((str(value) for value in scope.counters.values()), "-")
        if phase.repeat is None:
            name = phase.row or f"{phase.verb} {getattr(phase.what, 'file', '')}".strip()
            scope.where = f"{path}.{phase.verb}"
            yield Step(phase, *(whole or (label, name)))
            continue
        with naming(f"{path}.repeat"):
            times = scope.one(phase.repeat.times)
        counter = phase.repeat.counter
        inner = whole or (None if phase.row is None else (label, phase.row))
        for turn in range(times):
            if counter is not None:
                scope.count(counter, turn)
            yield from _walk(phase.repeat.phases, scope, f"{path}.repeat.phases", inner)
        if counter is not None:
            scope.stop(counter)
