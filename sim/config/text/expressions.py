"""Expressions in files: arithmetic that the file of a stranger may be trusted with.

``8 * particles / ranks`` of a skeleton, ``write(a) / write(b)`` of a claim: both are read by
Python's own parser and evaluated by simpleeval. A grammar lists what an expression of its kind may
have; all else (attributes, indices, calls of other functions, ...) is refused when the file is
read, long before anything is evaluated.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeGuard
from warnings import catch_warnings, simplefilter

from simpleeval import InvalidExpression, NameNotDefined, SimpleEval

from xc40io.config.errors import InputError, nearest

_LONGEST = 500
_UNFIT = (TypeError, ValueError, ArithmeticError, RecursionError, InvalidExpression)


@dataclass(frozen=True)
class Expression:
    """An expression that was read and found harmless."""

    text: str  # As written.
    tree: ast.expr = field(compare=False, repr=False)  # As parsed.
    place: str = ""  # The field that it stands in, for messages.

    def __str__(self) -> str:
        """Return it with its field, as a message does."""
        return f"{self.place} = {self.text!r}" if self.place else repr(self.text)

    def names(self) -> list[str]:
        """Return the names whose values it needs."""
        return [part.id for part in _parts(self.tree) if isinstance(part, ast.Name)]

    @cached_property
    def calls(self) -> list[tuple[str, list[Any]]]:
        """The functions that it calls, as written, and the literals that it calls them with."""
        called = [part for part in _parts(self.tree) if isinstance(part, ast.Call)]
        called.sort(key=lambda call: (call.lineno, call.col_offset))
        return [
            (ast.unparse(call.func), [one.value for one in call.args if _is_literal(one)])
            for call in called
        ]

    def value(self, evaluator: SimpleEval) -> Any:
        """Evaluate it.

        Parameters
        ----------
        evaluator
            Has the names, the functions and what the operators do.

        Raises
        ------
        InputError
            If a name has no value, or an operation no result.
        """
        try:
            return evaluator.eval(self.text, self.tree)
        except InputError:  # of a name whose value is another expression
            raise
        except NameNotDefined as missing:
            hint = nearest(missing.name, evaluator.names)
            raise InputError(f"{self}: there is no {missing.name}{hint}") from None
        except _UNFIT as why:
            raise InputError(f"{self} has no value: {why}") from None


@dataclass(frozen=True)
class Grammar:
    """What expressions of one kind may have, besides literals and brackets."""

    noun: str  # What such an expression is called in a message, with its article.
    example: str  # What would be right.
    # Unary, binary and comparing operators, and what they do.
    operators: Mapping[type[ast.AST], Callable[..., Any]]
    # How many arguments each function takes.
    functions: Mapping[str, range] = field(default_factory=dict)
    # What else there may be of :class:`ast.Name`, :class:`ast.IfExp` (``A if B else C``) and
    # :class:`ast.BoolOp` (``and``, ``or``).
    parts: tuple[type[ast.expr], ...] = ()
    spell: Callable[[str], str] = str.strip  # Makes Python of what is written, where it is not.

    def parse(self, text: object, place: str = "") -> Expression:
        """Read an expression, which stands in some field.

        Raises
        ------
        InputError
            If it is none, or has something that the grammar does not list.
        """
        if isinstance(text, str) and len(text) > _LONGEST:
            raise InputError(
                f"{len(text)} characters are too long for {self.noun}; right would be {_LONGEST} "
                "at most"
            )
        tree = self._tree(text) if isinstance(text, str) else None
        if tree is None or not all(map(self._has, _parts(tree))):
            raise self.refusal(text)
        return Expression(str(text), tree, place)

    def refusal(self, text: object) -> InputError:
        """Return what is to be said of something that is no expression of this kind."""
        return InputError(f"{text!r} is not {self.noun}; right would be {self.example}")

    def _tree(self, text: str) -> ast.expr | None:
        """Return what Python reads, if it can read it."""
        try:
            with catch_warnings():
                simplefilter("ignore")  # as of 1if, which is read as 1 if
                return ast.parse(self.spell(text), mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None

    def _has(self, part: ast.expr) -> bool:
        """Tell whether a part, by itself, is among those that there may be."""
        match part:
            case ast.Call(func=ast.Name(id=name), keywords=[]):
                return len(part.args) in self.functions.get(name, ())
            case ast.BinOp() | ast.UnaryOp():
                return type(part.op) in self.operators
            case ast.Compare(ops=[comparison]):
                return type(comparison) in self.operators
            case ast.Name(id=name) if name in self.functions:
                return False
        return _is_literal(part) or isinstance(part, self.parts)


def _parts(tree: ast.expr) -> Iterator[ast.expr]:
    """Return an expression and all that is in it, but for the names of the functions it calls."""
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    for node in ast.walk(tree):
        if isinstance(node, ast.expr) and id(node) not in called:
            yield node


def _is_literal(part: ast.expr) -> TypeGuard[ast.Constant]:
    return isinstance(part, ast.Constant) and isinstance(part.value, bool | int | float | str)


def literal(value: float | str, place: str = "") -> Expression:
    """Return the expression of a number or of a word."""
    return Expression(str(value), ast.Constant(value), place)


ARITHMETIC = Grammar(
    noun="an expression",
    example="numbers, names, + - * / // % **, comparisons, and or not, A if B else C, "
    "min max ceil floor round sqrt log2 abs",
    operators={
        ast.Add: operator.add,
        ast.Sub: operator.sub,
        ast.Mult: operator.mul,
        ast.Div: operator.truediv,
        ast.FloorDiv: operator.floordiv,
        ast.Mod: operator.mod,
        ast.Pow: operator.pow,
        ast.UAdd: operator.pos,
        ast.USub: operator.neg,
        ast.Not: operator.not_,
        ast.Eq: operator.eq,
        ast.NotEq: operator.ne,
        ast.Lt: operator.lt,
        ast.LtE: operator.le,
        ast.Gt: operator.gt,
        ast.GtE: operator.ge,
    },
    functions={"min": range(2, 100), "max": range(2, 100)}
    | dict.fromkeys(("ceil", "floor", "round", "sqrt", "log2", "abs"), range(1, 2)),
    parts=(ast.Name, ast.IfExp, ast.BoolOp),
)
"""Numbers and words; :class:`xc40io.config.text.arithmetic.Arithmetic` evaluates it."""
