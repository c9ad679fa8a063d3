"""Arithmetic of expressions in which a name may stand for an array: a value for each rank.

Operators, functions and conditions work element by element. No result is larger than 2^62: int64
arrays would overflow without a word, and Python's own integers would grow without end.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from functools import partial, reduce
from typing import Any

import numpy as np
from simpleeval import SimpleEval

from xc40io.config.text.expressions import ARITHMETIC

_LARGEST = 2**62
_LARGEST_POWER = 64


class Arithmetic(SimpleEval):
    """An evaluator of expressions with arrays.

    Parameters
    ----------
    names
        The values of the names: numbers, words, or arrays of one shape.
    """

    def __init__(self, names: Mapping[str, Any]) -> None:
        super().__init__(operators=_OPERATORS, functions=_FUNCTIONS, names=names)

    def _eval_boolop(self, node: ast.BoolOp) -> Any:
        join = np.logical_and if isinstance(node.op, ast.And) else np.logical_or
        return _plain(reduce(join, [self._eval(part) for part in node.values]))

    def _eval_ifexp(self, node: ast.IfExp) -> Any:
        condition = self._eval(node.test)
        if isinstance(condition, np.ndarray):
            return np.where(condition, self._eval(node.body), self._eval(node.orelse))
        return self._eval(node.body if condition else node.orelse)


def _plain(value: Any) -> Any:
    """Return an array of no dimensions as Python's own number."""
    return value if np.ndim(value) else np.asarray(value).item()


def _number(value: Any) -> Any:
    """Return a value to calculate with: truth values of arrays are 0 and 1, as Python's own."""
    if isinstance(value, str):
        raise TypeError("words can be compared, not calculated with")
    return value.astype(np.int64) if getattr(value, "dtype", None) == np.bool_ else value


def _bounded(calculate: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
    """Calculate, after a look in floating point at how large the result will be."""
    left, right = _number(left), _number(right)
    about = np.asarray(left, np.float64), np.asarray(right, np.float64)
    if calculate is operator.pow and np.abs(about[1]).max() > _LARGEST_POWER:
        raise OverflowError(f"a power of more than {_LARGEST_POWER}")
    with np.errstate(all="raise", under="ignore"):
        if not np.abs(calculate(*about)).max() <= _LARGEST:
            raise OverflowError("it is larger than 2^62")
        return calculate(left, right)


def _signed(sign: Callable[[Any], Any], value: Any) -> Any:
    return sign(_number(value))


def _not(value: Any) -> Any:
    return _plain(np.logical_not(value))


def _extreme(choose: np.ufunc, *values: Any) -> Any:
    return _plain(choose.reduce(np.broadcast_arrays(*values)))


def _function(calculate: np.ufunc, value: Any) -> Any:
    with np.errstate(all="raise"):
        return _plain(calculate(value))


def _whole(calculate: np.ufunc, value: Any) -> Any:
    with np.errstate(all="raise"):
        return _plain(np.asarray(calculate(value)).astype(np.int64))


def _meaning(kind: type[ast.AST], does: Callable[..., Any]) -> Callable[..., Any]:
    """Return what an operator does, given what it does with Python's own numbers."""
    if kind is ast.Not:
        return _not
    if issubclass(kind, ast.cmpop):
        return does
    return partial(_bounded if issubclass(kind, ast.operator) else _signed, does)


_OPERATORS = {kind: _meaning(kind, does) for kind, does in ARITHMETIC.operators.items()}
_FUNCTIONS = {
    "min": partial(_extreme, np.minimum),
    "max": partial(_extreme, np.maximum),
    "ceil": partial(_whole, np.ceil),
    "floor": partial(_whole, np.floor),
    "round": partial(_whole, np.rint),
    "sqrt": partial(_function, np.sqrt),
    "log2": partial(_function, np.log2),
    "abs": partial(_function, np.abs),
}
