"""What an outlined function takes and returns, as its annotations say."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeAlias, get_args, get_origin, get_type_hints

import numpy as np

from xc40io.engine.component import Array, Component, Kind, Layout, kind_text
from xc40io.engine.types import Integers

Layouts: TypeAlias = Mapping[type, Layout]
"""Where the fields of each class of components lie."""

_NUMBERS = (int, float, bool)
_INTEGERS = Array(np.dtype(np.int64), 1, "C")


class Signature(NamedTuple):
    """The kinds of what a function takes, and returns: nothing, one, or those of a tuple."""

    takes: tuple[Kind, ...]
    returns: tuple[Kind, ...]

    def __str__(self) -> str:
        takes = ", ".join(map(kind_text, self.takes))
        return f"({takes}) -> ({', '.join(map(kind_text, self.returns))})"


def layouts_of(*roots: Component) -> dict[type, Layout]:
    """Return the layouts of components, and of all that they use."""
    found: dict[type, Layout] = {}
    left = list(roots)
    while left:
        part = left.pop()
        if type(part) not in found:
            found[type(part)] = part.layout
            left += part.uses().values()
    return found


def signature_of(function: Callable[..., Any], layouts: Layouts) -> Signature:
    """Return the signature of an outlined function.

    Raises
    ------
    TypeError
        If an annotation is missing, or says something that such a function cannot take or return.
    """
    hints = get_type_hints(function)
    returned = hints.pop("return", Any)
    code = function.__code__
    names = code.co_varnames[: code.co_argcount]
    takes = tuple(_kind(function, name, hints.get(name, Any), layouts) for name in names)
    parts = get_args(returned) if get_origin(returned) is tuple else (returned,)
    returns = tuple(_kind(function, "return", part, {}) for part in parts if part is not type(None))
    return Signature(takes, returns)


def _kind(function: Callable[..., Any], name: str, annotation: Any, layouts: Layouts) -> Kind:
    """Return the kind that an annotation of a parameter, or of what is returned, stands for."""
    if annotation in _NUMBERS:
        kind: type = annotation
        return kind
    if annotation == Integers and name != "return":
        return _INTEGERS
    if annotation in layouts:
        return layouts[annotation]
    raise TypeError(
        f"{function.__module__}.{function.__name__} is outlined, and its {name} is annotated with "
        f"{annotation}; right would be a component of the data plane, int, float or bool"
    )
