"""The machine of a run in a page: what it consists of, and what the run changes of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sim.config.faults import Fault
from sim.config.machine import Machine
from sim.results.machine_text import machine_sections
from sim.run.fabric import fabric_of
from sim.telling.answer import Block, Fold, Text, plain_table


def machine_parts(
    machine: Machine,
    changes: Mapping[str, Any],
    slow: Mapping[str, float],
    faults: Sequence[Fault] = (),
) -> list[Block]:
    """Return what a machine is.

    Parameters
    ----------
    machine
        With the changes made.
    changes
        New values that the scenario gives it, by dotted path.
    slow
        How many times as long its slow parts take, by name.
    faults
        What happens to its parts.
    """
    parts: list[Block] = [Text(f"{machine.title}: {' '.join(machine.description.split())}")]
    if changes:
        rows = [[name, str(value)] for name, value in changes.items()]
        parts.append(
            plain_table("What the scenario changes of it", ["parameter", "value"], rows, (0, 1))
        )
    if slow:
        rows = [[name, f"{factor:g} times as long"] for name, factor in slow.items()]
        parts.append(plain_table("Its slow parts", ["part", "a service takes"], rows, (0, 1)))
    if faults:
        parts.append(
            plain_table("What happens to it", ["fault"], [[str(one)] for one in faults], (0,))
        )
    tables = [
        plain_table(title, ["what", "how much"], rows, (0, 1))
        for title, rows in machine_sections(machine, fabric_of(machine)).items()
    ]
    return [*parts, Fold("What it consists of", tables)]
