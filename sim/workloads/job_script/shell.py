"""What a shell would make of the words of a script, as far as the script itself says it.

Variables have the values that the script assigns to them, and those that the batch system is known
to set. What nobody knows without running something (``$SCRATCH``, ``$(date)``) stays as it is
written: so two paths can still be compared that begin with it.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping
from posixpath import join, normpath
from typing import Any

from simpleeval import SimpleEval

from xc40io.config.errors import InputError
from xc40io.config.text.expressions import Grammar
from xc40io.workloads.job_script.lexer import Piece, Word

_NAME = r"[A-Za-z_][A-Za-z_0-9]*"
_PLAIN = re.compile(rf"\$\{{?({_NAME})\}}?")
_DEFAULT = re.compile(rf"\$\{{({_NAME}|[0-9]+):?[-=](.*)\}}", re.DOTALL)
_SUM = re.compile(r"\$\(\((.*)\)\)", re.DOTALL)
_EXPR = re.compile(r"(?:\$\(|`)\s*expr\s+(.*?)\s*(?:\)|`)", re.DOTALL)
_ASSIGNED = re.compile(rf"({_NAME})(\+?)=")

_LARGEST = 2**62


def _divided(left: int, right: int) -> int:
    """Divide as a shell does: towards zero."""
    share = abs(left) // abs(right)
    return share if (left < 0) == (right < 0) else -share


_OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: _divided,
    ast.Mod: lambda left, right: left - right * _divided(left, right),
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}
_GRAMMAR = Grammar("arithmetic of the shell", "N*PPN", _OPERATORS, parts=(ast.Name,))


def assigned(word: Word) -> tuple[str, bool, Word] | None:
    """Return the variable that a word ``NAME=VALUE`` sets, whether it is added to, and the value.

    None if it is no such word.
    """
    head = ""
    for count, piece in enumerate(word):
        if piece.expands or piece.quoted:
            return None
        head += piece.text
        if "=" in piece.text:
            found = _ASSIGNED.match(head)
            if found is None:
                return None
            rest = (Piece(head[found.end() :]), *word[count + 1 :])
            return found[1], found[2] == "+", rest
    return None


def path_from(folder: str, name: str) -> str:
    """Return a path from where a script begins, or from the root; it is named from a folder."""
    return normpath(name if name.startswith(("/", "$", "~")) else join(folder, name))


class Shell:
    """The variables of a script, and its folder, at some line.

    Parameters
    ----------
    variables
        What the batch system sets before the script begins.
    """

    def __init__(self, variables: Mapping[str, str]) -> None:
        self.variables = dict(variables)
        self.exported: dict[str, int] = {}  # variables that programs get, and where they did so
        self.folder = ""  # from that in which the script begins

    def text(self, word: Word) -> str:
        """Return a word as one text."""
        return "".join(self._expanded(piece) for piece in word)

    def fields(self, word: Word) -> list[str]:
        """Return the words that a word becomes: one without quotes is cut at its blanks."""
        if any(piece.expands and not piece.quoted for piece in word):
            made: list[str] = []
            glued = False  # the next piece goes on with the last word
            for piece in word:
                text = self._expanded(piece)
                if piece.quoted or not piece.expands or text == piece.text:
                    parts, before, after = [text], False, False
                else:
                    parts = text.split()
                    before, after = text[:1].isspace(), text[-1:].isspace()
                if not parts:
                    glued = glued and not before
                    continue
                if glued and made and not before:
                    made[-1] += parts.pop(0)
                made += parts
                glued = not after
            return made
        return [self.text(word)]

    def _expanded(self, piece: Piece) -> str:
        return self._expansion(piece.text) if piece.expands else piece.text

    def _expansion(self, text: str) -> str:
        """Return what stands in place of an expansion; what is not known stays."""
        if plain := _PLAIN.fullmatch(text):
            return self.variables.get(plain[1], f"${plain[1]}")
        if default := _DEFAULT.fullmatch(text):
            return self.variables.get(default[1]) or self._inside(default[2])
        if (found := _SUM.fullmatch(text) or _EXPR.fullmatch(text)) is None:
            return text
        known = self._inside(found[1].replace("\\*", "*"))
        try:
            return str(self._calculated(known))
        except (InputError, ArithmeticError):
            return text

    def _inside(self, text: str) -> str:
        """Return a text with the variables in it expanded."""
        return _PLAIN.sub(lambda found: self._expansion(found[0]), text)

    def _calculated(self, text: str) -> int:
        numbers = {
            name: int(value)
            for name, value in self.variables.items()
            if re.fullmatch(r"[0-9]{1,18}", value)
        }
        found = _GRAMMAR.parse(text).value(SimpleEval(operators=_OPERATORS, names=numbers))
        if not isinstance(found, int) or isinstance(found, bool) or abs(found) > _LARGEST:
            raise InputError(f"{text}: is no whole number")
        return found
