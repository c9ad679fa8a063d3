"""The tool ``machine``: what a machine consists of."""

from __future__ import annotations

from sim.assistant.answers import Fact, MachineAnswer, Value
from sim.assistant.questions import MachineQuestion
from sim.config.machine import Machine, load_machine
from sim.results.machine_text import format_machine, machine_sections
from sim.run.fabric import fabric_of
from sim.serving.worker import Desk


def answer(question: MachineQuestion, desk: Desk) -> MachineAnswer:  # noqa: ARG001 - as all others
    """Describe a machine.

    Raises
    ------
    InputError
        If there is none, or it cannot be changed so.
    """
    machine = load_machine(question.name)
    if question.changes:
        machine = machine.with_changes(question.changes)
    fabric = fabric_of(machine)
    return MachineAnswer(
        summary=format_machine(machine, fabric),
        name=machine.name,
        title=machine.title,
        description=machine.description,
        facts=[
            Fact(section=section, what=what, value=value)
            for section, rows in machine_sections(machine, fabric).items()
            for what, value in rows
        ],
        values=_values(machine) if question.values else [],
    )


def _values(machine: Machine) -> list[Value]:
    """Return every value of a machine with its source."""
    found = []
    for path, value in machine.values(units=True).items():
        origin = machine.provenance.get(path)
        firm, source = ("", "") if origin is None else (origin.firm, origin.source)
        found.append(Value(path=path, value=value, firm=firm, source=source))
    return found
