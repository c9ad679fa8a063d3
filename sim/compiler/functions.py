"""Which functions an entry calls, and what the machine code of each depends on."""

from __future__ import annotations

import hashlib
import types
from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from typing import Any

import numpy as np

from xc40io.compiler.signature import Layouts, Signature, signature_of
from xc40io.engine.compiled import Entry, How, how_compiled, symbol_of


def reached_from(
    entries: Iterable[Entry[..., Any]], layouts: Layouts
) -> dict[Callable[..., Any], Signature]:
    """Return the outlined functions that entries call, directly or not, and these themselves.

    Raises
    ------
    TypeError
        If a function has no proper signature (``signature_of``).
    """
    found: dict[Callable[..., Any], Signature] = {}
    seen: set[Callable[..., Any]] = set()
    left: list[Callable[..., Any]] = [entry.function for entry in entries]
    while left:
        function = left.pop()
        if function in seen:
            continue
        seen.add(function)
        if how_compiled(function) is How.OUTLINED:
            found[function] = signature_of(function, layouts)
        left += (value for _, value in _globals_of(function) if how_compiled(value))
    return found


def _globals_of(function: Callable[..., Any]) -> Iterator[tuple[str, Any]]:
    """Yield the globals that a function names, in the order of its code."""
    known = function.__globals__
    for code in _codes(function.__code__):
        for name in code.co_names:
            if name in known:
                yield name, known[name]


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """Yield the code of a function, and of what is defined in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


class Keys:
    """Names what the machine code of a function depends on, without where it comes from.

    Two functions with one key have the same machine code: that is their code, what they take and
    return, the constants that they name, and the helpers that are copied into them. Of other
    outlined functions it is only what these take and return. Comments do not count.
    """

    def __init__(self, signatures: dict[Callable[..., Any], Signature], base: str) -> None:
        self._signatures = signatures
        self._base = base  # what all code depends on: the compiler, and the processor
        self._helpers: dict[Callable[..., Any], str] = {}

    def key(self, function: Callable[..., Any]) -> str:
        """Return the key of an outlined function."""
        return _digest([self._base, self._declared(function), self._body(function)])

    def _declared(self, function: Callable[..., Any]) -> str:
        return f"{symbol_of(function)}{self._signatures[function]}"

    def _body(self, function: Callable[..., Any]) -> str:
        """Describe the code of a function and all that it names."""
        parts = []
        for code in _codes(function.__code__):
            constants = [one for one in code.co_consts if not isinstance(one, types.CodeType)]
            if constants and constants[0] == function.__doc__:
                constants[0] = None
            parts.append(f"{code.co_code.hex()} {constants!r} {code.co_names} {code.co_varnames}")
        parts += [f"{name} {self._value(value)}" for name, value in _globals_of(function)]
        return _digest(parts)

    def _value(self, value: Any) -> str:
        """Describe a global."""
        how = how_compiled(value)
        if how is How.OUTLINED:
            return self._declared(value)
        if how is not None:
            if value not in self._helpers:
                self._helpers[value] = ""  # if it calls itself
                self._helpers[value] = _digest([how.name, self._body(value)])
            return self._helpers[value]
        if isinstance(value, np.ndarray):
            return f"{value.dtype} {value.shape} {value.tobytes().hex()}"
        if isinstance(value, type):
            members = list(value) if issubclass(value, Enum) else getattr(value, "_fields", ())
            return f"{value.__module__}.{value.__qualname__} {members!r}"
        if isinstance(value, types.ModuleType):
            return value.__name__
        if isinstance(value, types.FunctionType):  # of Python alone: an attribute has its name
            return f"{value.__module__}.{value.__qualname__}"
        return repr(value)


def _digest(parts: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:32]
