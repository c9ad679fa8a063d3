"""Parameters of a machine as claims name them: ``lustre.capacity``.

A parameter is a product of numbers and of values of the machine by their dotted paths, as
``lustre.osts * lustre.oss_rate``; what the machine derives from its values (``network.routers``)
counts as one.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from simpleeval import SimpleEval

from xc40io.config.errors import InputError, nearest
from xc40io.config.machine import Machine
from xc40io.config.text.expressions import Expression, Grammar
from xc40io.validation.quantity import NUMBER, PRODUCTS, Quantity, parse_quantity


@dataclass(frozen=True)
class Parameter:
    """A product of values of a machine."""

    # As written and as parsed: a dotted path is one name, with ``__`` for its dots.
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
        paths = {name: name.replace(_DOT, ".") for name in self.expression.names()}
        if list(paths.values()) == [self.text.strip()]:
            value = _value(machine, self.text.strip())
            if isinstance(value, str | bool):
                return value
        found = {name: _quantity(machine, path) for name, path in paths.items()}
        base = self._evaluated({name: quantity.base for name, quantity in found.items()})
        dimension = self._evaluated({name: one.dimension for name, one in found.items()})
        return Quantity(float(base), "", 1.0, NUMBER * dimension)

    def _evaluated(self, names: Mapping[str, Any]) -> Any:
        return self.expression.value(SimpleEval(PRODUCTS, {}, names))


def parse_parameter(text: object) -> Parameter:
    """Read a parameter; whether a machine has it, :meth:`Parameter.of` says; else InputError."""
    if isinstance(text, Parameter):
        return text
    expression = _PARAMETERS.parse(text)
    if not all(_DOT in name for name in expression.names()):
        raise _PARAMETERS.refusal(text)
    return Parameter(expression)


_DOT = "__"
_PARAMETERS = Grammar(
    noun="a parameter",
    example="lustre.capacity or lustre.osts * lustre.oss_rate",
    operators=PRODUCTS,
    parts=(ast.Name,),
    spell=partial(re.compile(r"(?<=[a-z0-9])\.(?=[a-z])").sub, _DOT),
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
