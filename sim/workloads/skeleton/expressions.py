"""Expressions of a skeleton: arithmetic that a file of a stranger may be trusted with.

``8 * particles / ranks`` is read by Python's own parser and then worked out node by node; what is
not in the short list below (attributes, calls of anything but a few functions, indices...) is
refused when the file is read. Where a name stands for something that each rank has its own of, such
as ``rank``, it is an array, and so is the value.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias
from warnings import catch_warnings, simplefilter

from sim.config.errors import InputError
from sim.config.files import nearest

if TYPE_CHECKING:  # --help of a skeleton must not wait for NumPy
    from sim.engine.types import Floats, Integers

    Value: TypeAlias = int | float | bool | str | Integers | Floats

_LONGEST = 500
_LARGEST = 2**62

_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
FUNCTIONS = {"min": 2, "max": 2, "ceil": 1, "floor": 1, "round": 1, "sqrt": 1, "log2": 1, "abs": 1}
"""The functions there are, and how many arguments each takes at least."""


@dataclass(frozen=True)
class Expression:
    """An expression that was read and found harmless.

    Attributes
    ----------
    text
        As written.
    tree
        As parsed.
    """

    text: str
    tree: ast.expr

    def names(self) -> Iterator[str]:
        """Return the names whose values it needs."""
        called = {id(node.func) for node in ast.walk(self.tree) if isinstance(node, ast.Call)}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Name) and id(node) not in called:
                yield node.id

    def value(self, names: Mapping[str, Value]) -> Value:
        """Work it out.

        Raises
        ------
        InputError
            If a name has no value, or an operation no result that a file could have.
        """
        try:
            value: Value = _Evaluation(names, self.text).of(self.tree)
        except (TypeError, ZeroDivisionError, OverflowError, ValueError, FloatingPointError) as why:
            raise InputError(f"{self.text!r} cannot be worked out: {why}") from None
        return value


def parse(text: str) -> Expression:
    """Read an expression.

    Raises
    ------
    InputError
        If it is none, or holds something that is not allowed.
    """
    right = "right would be numbers, names, + - * / // % **, comparisons, A if B else C, " + (
        ", ".join(FUNCTIONS)
    )
    if len(text) > _LONGEST:
        raise InputError(f"an expression of {len(text)} characters; at most {_LONGEST} are right")
    try:
        with catch_warnings():
            simplefilter("ignore")  # as of 1if, which is read as 1 if
            tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise InputError(f"{text!r} is no expression; {right}") from None
    for node in ast.walk(tree):
        if not _is_harmless(node):
            raise InputError(f"{text!r} has what an expression must not have; {right}")
    return Expression(text, tree)


def constant(number: float | str) -> Expression:
    """Return the expression of a number or, as a Python literal, of a word."""
    return Expression(str(number), ast.Constant(number))


def _is_harmless(node: ast.AST) -> bool:
    """Tell whether a node is in the list of what may be."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, bool | int | float | str)
    if isinstance(node, ast.Call):
        if not isinstance(node.func, ast.Name) or node.func.id not in FUNCTIONS:
            return False
        return not node.keywords and len(node.args) >= FUNCTIONS[node.func.id]
    if isinstance(node, ast.BinOp):
        return type(node.op) in _BINARY
    if isinstance(node, ast.Compare):
        return len(node.ops) == 1 and type(node.ops[0]) in _COMPARE
    allowed = (ast.Name, ast.UnaryOp, ast.BoolOp, ast.IfExp, ast.operator, ast.unaryop, ast.boolop)
    return isinstance(node, (*allowed, ast.cmpop, ast.expr_context)) and not isinstance(
        node, ast.Invert
    )


class _Evaluation:
    """Working out one expression."""

    def __init__(self, names: Mapping[str, Value], text: str) -> None:
        self._names = names
        self._text = text

    def of(self, node: ast.expr) -> Any:
        """Return the value of a part."""
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name):
            return self._named(node.id)
        if isinstance(node, ast.BinOp):
            return self._combined(_BINARY[type(node.op)], self.of(node.left), self.of(node.right))
        if isinstance(node, ast.Compare):
            compare = _COMPARE[type(node.ops[0])]
            return compare(self.of(node.left), self.of(node.comparators[0]))
        if isinstance(node, ast.UnaryOp):
            return self._turned(node)
        if isinstance(node, ast.BoolOp):
            return self._joined(node)
        if isinstance(node, ast.IfExp):
            return self._chosen(node)
        assert isinstance(node, ast.Call)
        return self._called(node)

    def _named(self, name: str) -> Any:
        if name not in self._names:
            raise InputError(f"{self._text!r}: there is no {name}{nearest(name, self._names)}")
        return self._names[name]

    def _combined(self, operation: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
        """Do an operation; what comes out must be a number below 2^62, also in int64 arrays."""
        import numpy as np

        if any(isinstance(side, str) for side in (left, right)):
            raise TypeError("words can be compared, not calculated with")
        if operation is operator.pow and np.abs(right).max() > 64:
            raise OverflowError("a power of more than 64")
        with np.errstate(all="raise", under="ignore"):
            about = operation(_floating(left), _floating(right))
            if np.size(about) and not np.abs(about).max() <= _LARGEST:
                raise OverflowError("it is larger than 2^62")
            return operation(left, right)

    def _turned(self, node: ast.UnaryOp) -> Any:
        import numpy as np

        value = self.of(node.operand)
        if isinstance(node.op, ast.Not):
            return np.logical_not(value) if isinstance(value, np.ndarray) else not value
        return -value if isinstance(node.op, ast.USub) else +value

    def _joined(self, node: ast.BoolOp) -> Any:
        import numpy as np

        combine = np.logical_and if isinstance(node.op, ast.And) else np.logical_or
        value = self.of(node.values[0])
        for part in node.values[1:]:
            value = combine(value, self.of(part))
        return value if isinstance(value, np.ndarray) else bool(value)

    def _chosen(self, node: ast.IfExp) -> Any:
        import numpy as np

        condition = self.of(node.test)
        if not isinstance(condition, np.ndarray):
            return self.of(node.body if condition else node.orelse)
        return np.where(condition, self.of(node.body), self.of(node.orelse))

    def _called(self, node: ast.Call) -> Any:
        import numpy as np

        assert isinstance(node.func, ast.Name)
        values = [self.of(argument) for argument in node.args]
        if node.func.id in ("min", "max"):
            combine = np.minimum if node.func.id == "min" else np.maximum
            return _plain(combine.reduce(np.broadcast_arrays(*values)))
        function = {
            "ceil": np.ceil,
            "floor": np.floor,
            "round": np.rint,
            "sqrt": np.sqrt,
            "log2": np.log2,
            "abs": np.abs,
        }[node.func.id]
        with np.errstate(all="raise"):
            value = function(values[0])
        if node.func.id in ("ceil", "floor", "round"):
            value = np.asarray(value).astype(np.int64)
        return _plain(value)


def _floating(value: Any) -> Any:
    """Return a number or an array as floating-point, to see whether int64 would do."""
    import numpy as np

    return value.astype(np.float64) if isinstance(value, np.ndarray) else float(value)


def _plain(value: Any) -> Any:
    """Return an array of no dimensions as a number."""
    import numpy as np

    return value if isinstance(value, np.ndarray) and value.ndim else np.asarray(value).item()
