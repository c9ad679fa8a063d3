"""Parameters of a machine as claims name them: ``lustre.capacity``.

A parameter is a product of numbers and of values of the machine by their dotted paths, as
``lustre.osts * lustre.oss_rate``; what the machine derives from its values (``network.routers``)
counts as one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from simpleeval import SimpleEval

from sim.config.errors import InputError
from sim.config.expressions import Expression, Grammar
from sim.config.files import nearest
from sim.config.machine import Machine
from validation.quantity import NUMBER, PRODUCTS, Quantity, parse_quantity


@dataclass(frozen=True)
class Parameter:
    """A product of values of a machine.

    Attributes
    ----------
    expression
        As written and as parsed: every dotted path is an argument of a function ``value``.
    """

    expression: Expression

    @property
    def text(self) -> str:
        """The parameter as written."""
        return self.expression.text

    def of(self, machine: Machine) -> Quantity | str | bool:
        """Return what it is on a machine; a word or a truth value as it stands there.

        Raises
        ------
        InputError
            If the machine has no such value.
        """
        paths = [path for _, (path,) in self.expression.calls()]
        if paths == [self.text.strip()]:
            value = _value(machine, paths[0])
            if isinstance(value, str | bool):
                return value
        found = {path: _quantity(machine, path) for path in paths}
        base = self._evaluated({path: quantity.base for path, quantity in found.items()})
        dimension = self._evaluated({path: one.dimension for path, one in found.items()})
        return Quantity(float(base), "", 1.0, NUMBER * dimension)

    def _evaluated(self, values: Mapping[str, Any]) -> Any:
        return self.expression.value(SimpleEval(PRODUCTS, {"value": values.__getitem__}, {}))


def parse_parameter(text: object) -> Parameter:
    """Read a parameter; whether a machine has it, :meth:`Parameter.of` says; else InputError."""
    return text if isinstance(text, Parameter) else Parameter(_PARAMETERS.parse(text))


_PATH = re.compile(r"[a-z_][a-z_0-9]*(\.[a-z_][a-z_0-9]*)+")

_PARAMETERS = Grammar(
    noun="a parameter",
    example="lustre.capacity or lustre.osts * lustre.oss_rate",
    operators=PRODUCTS,
    functions={"value": range(1, 2)},
    spell=partial(_PATH.sub, r"value('\g<0>')"),
)


def _value(machine: Machine, path: str) -> object:
    """Return a value of a machine, or what it derives from its values."""
    found: object = machine
    for name in path.split("."):
        if not hasattr(found, name):
            hint = nearest(path, machine.values())
            raise InputError(f"{path}: {machine.name} has no such value{hint}")
        found = getattr(found, name)
    return found


def _quantity(machine: Machine, path: str) -> Quantity:
    """Return a value, its dimension as its unit in the machine file says."""
    return parse_quantity(machine.values(units=True).get(path, _value(machine, path)))
