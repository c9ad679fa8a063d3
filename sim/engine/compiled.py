"""What is compiled, and how: the decorators that mark functions of the data plane.

A marked function stays plain Python: tests call it, a debugger steps through it, and with
``NUMBA_DISABLE_JIT=1`` whole simulations run on it. :mod:`xc40io.compiler` makes machine code of
all that an *entry* calls, before it is needed, and binds the entry to it. Numba is not imported
here.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from enum import Enum
from typing import Any, Generic, ParamSpec, TypeVar

import numpy as np

Function = TypeVar("Function", bound=Callable[..., Any])
Parameters = ParamSpec("Parameters")
Answer = TypeVar("Answer")

_MARK = "__compiled__"


class How(Enum):
    """What the compiler makes of a function."""

    SPECIALISED = "for the types of each of its callers"
    INLINED = "copied into each of its callers"
    OUTLINED = "once, with a symbol of its own"
    PRIMITIVE = "what the compiler knows under this name"


def njit(function: Function) -> Function:
    """Mark a small helper: compiled with each of its callers, for the types that these have."""
    return _marked(function, How.SPECIALISED)


def inlined(function: Function) -> Function:
    """Mark a function to be copied into each caller: for what happens at every hop.

    Makes the loop about 15 % faster, and compiling slower: for small functions only.
    """
    return _marked(function, How.INLINED)


def outlined(function: Function) -> Function:
    """Mark what a component does: compiled once, for the types that its annotations say.

    Those are a component, ``int``, ``float``, ``bool``, and for what it returns also ``None`` and
    a tuple of these. Its callers know nothing of it but that: an edit in it compiles it alone.
    """
    return _marked(function, How.OUTLINED)


def primitive(function: Function) -> Function:
    """Mark a function that has no form in Python (``xc40io.compiler.primitives``)."""
    return _marked(function, How.PRIMITIVE)


def _marked(function: Function, how: How) -> Function:
    setattr(function, _MARK, how)
    return function


def how_compiled(function: Any) -> How | None:
    """Tell what the compiler makes of a function; None if it is not marked."""
    return getattr(function, _MARK, None)


class _Answer(ctypes.Structure):
    """What machine code returns (:mod:`xc40io.compiler.convention`)."""

    _fields_ = (("value", ctypes.c_int64), ("failed", ctypes.c_int32))


class NoCodeError(RuntimeError):
    """An entry was called before machine code was bound to it."""


class Entry(Generic[Parameters, Answer]):
    """A function of the data plane that Python calls.

    ``function`` takes components, ``int``, ``float``, ``bool`` and int64 arrays of one dimension,
    and returns an ``int`` or nothing; ``raises`` is the one error that compiled code below it
    raises.

    Raises
    ------
    NoCodeError
        If it is called before it is bound; with ``NUMBA_DISABLE_JIT=1`` it needs no code.
    """

    def __init__(self, function: Callable[Parameters, Answer], raises: type[Exception]) -> None:
        self.function = function
        self._raises = raises
        self._address: int | None = None
        self._compiled: Callable[..., _Answer] | None = None
        self.__name__ = function.__name__
        self.__module__ = function.__module__
        self.__doc__ = function.__doc__

    @property
    def symbol(self) -> str:
        """The name of its machine code."""
        return symbol_of(self.function)

    def bind(self, address: int) -> None:
        """Have calls go to the machine code at an address."""
        self._address, self._compiled = address, None

    def __call__(self, *given: Parameters.args, **named: Parameters.kwargs) -> Answer:
        """Call the machine code, or the function where nothing is compiled."""
        if not is_compiling():
            return self.function(*given, **named)
        words = [word for value in given for word in _argument(value)]
        if self._compiled is None:
            if self._address is None:
                raise NoCodeError(f"{self.symbol} is called before its machine code is bound")
            kinds = (type(word) for word in words)
            self._compiled = ctypes.CFUNCTYPE(_Answer, *kinds)(self._address)
        answer = self._compiled(*words)
        if answer.failed:
            raise self._raises
        return answer.value


def entry(
    raises: type[Exception],
) -> Callable[[Callable[Parameters, Answer]], Entry[Parameters, Answer]]:
    """Mark a function that Python calls (:class:`Entry`)."""

    def mark(function: Callable[Parameters, Answer]) -> Entry[Parameters, Answer]:
        return Entry(outlined(function), raises)

    return mark


def symbol_of(function: Callable[..., Any]) -> str:
    """Return the symbol of a function's machine code: its module's name and its own.

    Written as compilers of C++ do (Itanium C++ ABI, 5.1), so that tools show it in plain.
    """
    names = [*function.__module__.split("."), function.__name__]
    return f"_ZN{''.join(f'{len(name)}{name}' for name in names)}Ev"


def _argument(value: Any) -> list[Any]:
    """Return the words that machine code gets for an argument."""
    if isinstance(value, np.ndarray):
        # No owner: compiled code borrows arrays and never frees one, nor does it look at steps.
        assert value.flags.c_contiguous, "compiled code takes arrays that lie in one piece"
        size = ctypes.c_int64(value.size)
        data = ctypes.c_void_p(value.ctypes.data)
        step = ctypes.c_int64(value.itemsize)
        return [ctypes.c_void_p(0), ctypes.c_void_p(0), size, step, data, size, step]
    if isinstance(value, bool):
        return [ctypes.c_bool(value)]
    if isinstance(value, float):
        return [ctypes.c_double(value)]
    if isinstance(value, int | np.integer):
        return [ctypes.c_int64(int(value))]
    return [ctypes.c_void_p(value.address)]


def is_compiling() -> bool:
    """Tell whether functions are compiled at all; not with ``NUMBA_DISABLE_JIT=1``."""
    return os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0")
