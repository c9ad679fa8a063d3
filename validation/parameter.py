"""Parameters of a machine as claims name them: ``lustre.capacity``.

A parameter is a product of numbers and of values of the machine by their dotted paths, as
``lustre.osts * lustre.oss_rate``; what the machine derives from its values (``network.routers``)
counts as one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from sim.config.errors import InputError
from sim.config.files import nearest
from sim.config.machine import Machine
from validation.quantity import NUMBER, Dimension, Quantity, parse_quantity

_PATH = re.compile(r"[a-z_][a-z_0-9]*(\.[a-z_][a-z_0-9]*)+")


@dataclass(frozen=True)
class Parameter:
    """A product of values of a machine.

    Attributes
    ----------
    text
        As written.
    factors
        Each a dotted path or a number, with its power: 1, or -1 where it is divided by.
    """

    text: str
    factors: tuple[tuple[str | float, int], ...]

    def of(self, machine: Machine) -> Quantity | str | bool:
        """Return what it is on a machine; a word or a truth value as it stands there.

        Raises
        ------
        InputError
            If the machine has no such value.
        """
        if len(self.factors) == 1 and isinstance(path := self.factors[0][0], str):
            value = _value(machine, path)
            if isinstance(value, str | bool):
                return value
        base, dimension = 1.0, NUMBER
        for factor, power in self.factors:
            found = _quantity(machine, factor)
            base *= found.base**power
            dimension = dimension.over(power, found.dimension)
        return Quantity(base, "", 1.0, dimension)


def parse_parameter(text: object) -> Parameter:
    """Read a parameter; whether a machine has it, :meth:`Parameter.of` says; else InputError."""
    if isinstance(text, Parameter):
        return text
    parts = re.split(r"\s*([*/])\s*", text.strip()) if isinstance(text, str) else [""]
    factors: list[tuple[str | float, int]] = []
    for operator, part in zip(["*", *parts[1::2]], parts[::2], strict=True):
        power = 1 if operator == "*" else -1
        if _PATH.fullmatch(part):
            factors.append((part, power))
        elif part.replace(".", "", 1).isdecimal():
            factors.append((float(part), power))
        else:
            raise InputError(
                f"{text!r} is not a parameter; right would be lustre.capacity or "
                "lustre.osts * lustre.oss_rate"
            )
    return Parameter(str(text), tuple(factors))


def _value(machine: Machine, path: str) -> object:
    """Return a value of a machine, or what it derives from its values."""
    found: object = machine
    for name in path.split("."):
        if not hasattr(found, name):
            hint = nearest(path, machine.values())
            raise InputError(f"{path}: {machine.name} has no such value{hint}")
        found = getattr(found, name)
    return found


def _quantity(machine: Machine, factor: str | float) -> Quantity:
    """Return a factor, its dimension as its unit in the machine file says."""
    if isinstance(factor, float):
        return parse_quantity(factor)
    written = machine.values(units=True).get(factor, _value(machine, factor))
    found = parse_quantity(written)
    dimension: Dimension = found.dimension
    return Quantity(found.base, "", 1.0, dimension)
