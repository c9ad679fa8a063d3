"""What a shell would make of the words of a script, as far as the script itself says it.

Variables have the values that the script assigns to them, and those that the batch system is known
to set. What nobody knows without running something (``$SCRATCH``, ``$(date)``) stays as it is
written: so two paths can still be compared that begin with it.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterable, Mapping
from posixpath import join, normpath
from typing import Any

from simpleeval import SimpleEval

from xc40io.config.errors import InputError
from xc40io.config.text.expressions import Grammar
from xc40io.workloads.job_script.lexer import Command, Piece, Word, inside, lexed

_NAME = r"[A-Za-z_][A-Za-z_0-9]*"
_PLAIN = re.compile(rf"\$\{{?({_NAME}|[0-9]+|[#@*])\}}?")
_DEFAULT = re.compile(rf"\$\{{({_NAME}|[0-9]+):?([-=])(.*)\}}", re.DOTALL)
_ELEMENT = re.compile(rf"\$\{{([#!]?)({_NAME})(?:\[(.*)\])?\}}", re.DOTALL)
_KEYED = re.compile(r"\[([^\]]*)\]=(.*)", re.DOTALL)
_C_ELEMENT = re.compile(rf"\$(#?)({_NAME})(?:\[(.*)\])?", re.DOTALL)
"""``$#NAME`` and ``$NAME[2]`` of csh, which counts from 1."""
_SUM = re.compile(r"\$\(\((.*)\)\)|\$\[(.*)\]", re.DOTALL)
_COMMAND = re.compile(r"\$\((.*)\)|`(.*)`", re.DOTALL)
_ASSIGNED = re.compile(rf"({_NAME})(\+?)=")
_SETS = re.compile(rf"\s*({_NAME})\s*([-+*/%]?)=(?!=)(.*)|\s*({_NAME})(\+\+|--)\s*", re.DOTALL)
_COUNTS_LINES = re.compile(
    r".*?\$\{?(\w+)\}?.*\bwc\b.*-l.*|.*\bwc\s+-l\D*?\$\{?(\w+)\}?.*", re.DOTALL
)
_CALCULATES = re.compile(
    r"\s*(?:echo\s+(.*?)\s*\|\s*bc|"
    r"python3?\s+-c\s+['\"]\s*print\s*\((.*)\)\s*['\"]|"
    r"[gm]?awk\s+['\"]\s*BEGIN\s*\{\s*print\s(.*?);?\s*\}\s*['\"])\s*",
    re.DOTALL,
)

_HERE = re.compile(r"(?:\$\{?PWD\}?|\$\(pwd\)|`pwd`)(?:/+|$)")
_BEGAN = re.compile(r"\$\{?(?:SLURM_SUBMIT_DIR|PBS_O_WORKDIR|LS_SUBCWD)\}?(?:/+|$)")
"""Where the script is, and where it begins."""

_LARGEST = 2**62
_LONGEST = 500
"""Letters of an expansion that is looked into: many times what a job needs."""


def _divided(left: int, right: int) -> int:
    """Divide as a shell does: towards zero."""
    share = abs(left) // abs(right)
    return share if (left < 0) == (right < 0) else -share


def _power(base: int, exponent: int) -> int:
    if not 0 <= exponent < 64 or abs(base) > _LARGEST:
        raise InputError(f"{base}**{exponent}: is no number of a shell")
    return int(base**exponent)


_OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: _divided,
    ast.Mod: lambda left, right: left - right * _divided(left, right),
    ast.Pow: _power,
    ast.LShift: lambda left, right: left * _power(2, right),
    ast.RShift: lambda left, right: left // _power(2, right),
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
_GRAMMAR = Grammar("arithmetic of the shell", "N*PPN", _OPERATORS, parts=(ast.Name, ast.IfExp))
_CHOICE = re.compile(r"([^?]+)\?([^?:]+):([^?:]+)")


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
    if (here := _HERE.match(name)) is not None:
        name = name[here.end() :] or "."
    elif (began := _BEGAN.match(name)) is not None:
        folder, name = "", name[began.end() :] or "."
    return normpath(name if name.startswith(("/", "$", "~")) else join(folder, name))


class Shell:
    """The variables of a script, and its folder, at some line.

    Parameters
    ----------
    variables
        What the batch system sets before the script begins.
    lines
        Of its files, named by variables (``PBS_NODEFILE``): how many, and how many that differ.
    c_shell
        Whether it is csh, where the name of an array means all of it.
    """

    def __init__(
        self,
        variables: Mapping[str, str],
        lines: Mapping[str, tuple[int, int]] | None = None,
        *,
        c_shell: bool = False,
    ) -> None:
        self._c_shell = c_shell
        self.variables = dict(variables)
        self.arrays: dict[str, list[str]] = {}  # "@": what a function is called with
        self.tables: dict[str, dict[str, str]] = {}  # arrays by keys
        self.files: dict[str, str] = {}  # what the script wrote to a path
        self._lines = lines or {}
        self.exported: dict[str, int] = {}  # variables that programs get, and where they did so
        self.folder = ""  # from that in which the script begins

    def does(self, texts: list[str]) -> bool:
        """Do one of the commands that change the shell itself; False if it is none."""
        head, rest = texts[0], texts[1:]
        if head in ("cd", "pushd"):
            self.folder = path_from(self.folder, rest[0]) if rest else "~"
        elif head == "unset":
            for name in rest:
                self.variables.pop(name, None)
        elif head == "shift":
            given = self.called_with(None)
            self.called_with(given and given[1:])
        else:
            return False
        return True

    def called_with(self, words: list[str] | None) -> list[str] | None:
        """Set what a function or a script is called with, ``$1`` and on; return what it was."""
        before = self.arrays.pop("@", None)
        for number in range(len(before or ()) + 1):
            self.variables.pop(str(number), None)
        self.variables.pop("#", None)
        if words is not None:
            self.arrays["@"] = words
            self.variables["#"] = str(len(words))
            self.variables |= {str(at): word for at, word in enumerate(words, start=1)}
        return before

    def keep_array(self, name: str, words: Iterable[Word], *, added: bool) -> None:
        """Keep an array; one of words ``[KEY]=VALUE`` has keys."""
        elements = [text for word in words for text in self.fields(word)]
        pairs = [_KEYED.fullmatch(element) for element in elements]
        if elements and all(pairs):
            before = self.tables.get(name, {}) if added else {}
            self.tables[name] = before | {pair[1]: pair[2] for pair in pairs if pair}
            elements = list(self.tables[name].values())
            added = False
        self.arrays[name] = [*(self.arrays.get(name, []) if added else []), *elements]
        self.variables.pop(name, None)

    def text(self, word: Word) -> str:
        """Return a word as one text."""
        return "".join(self._expanded(piece) for piece in word)

    def fields(self, word: Word) -> list[str]:
        """Return the words that a word becomes: one without quotes is cut at its blanks."""
        if (elements := self._elements(word)) is not None:
            return elements
        if any(piece.expands and not piece.quoted for piece in word):
            made: list[str] = []
            glued = False  # the next piece goes on with the last word
            for piece in word:
                text = self._expanded(piece)
                if piece.quoted or not piece.expands or text == piece.text:
                    parts, before, after = [text], False, False
                else:
                    parts = _cut(text)
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

    def _elements(self, word: Word) -> list[str] | None:
        """Return the elements of an array, where a word is all of one; else None."""
        whole = [piece for piece in word if piece.text]
        if len(whole) != 1 or not whole[0].expands:
            return None
        if whole[0].text.strip("${}") in ("@", "*") and "@" in self.arrays:
            return self.arrays["@"]
        found = _ELEMENT.fullmatch(whole[0].text)
        if found is None or found[3] not in ("@", "*"):
            return None
        if found[1] == "!" and found[2] in self.tables:
            return list(self.tables[found[2]])
        if found[1] or found[2] not in self.arrays:
            return None
        elements = self.arrays[found[2]]
        return elements if whole[0].quoted else [one for text in elements for one in _cut(text)]

    def _expanded(self, piece: Piece) -> str:
        return self._expansion(piece.text) if piece.expands else piece.text

    def _expansion(self, text: str) -> str:
        """Return what stands in place of an expansion; what is not known stays."""
        if plain := _PLAIN.fullmatch(text):
            name = plain[1]
            elements = self.arrays.get("@" if name == "*" else name, [])
            if not self._c_shell and name not in ("@", "*"):
                elements = elements[:1]
            return self.variables.get(name, " ".join(elements) if elements else f"${name}")
        if len(text) > _LONGEST:
            return text
        if default := _DEFAULT.fullmatch(text):
            name, sign, other = default.groups()
            value = self.variables.get(name) or self._inside(other)
            if sign == "=":
                self.variables[name] = value
            return value
        if element := _ELEMENT.fullmatch(text):
            return self._element(element, text)
        if element := _C_ELEMENT.fullmatch(text):
            size, name, index = element.groups()
            return self._expansion(f"${{#{name}[@]}}" if size else f"${{{name}[({index})-1]}}")
        if found := _SUM.fullmatch(text):
            return self.calculated(found[1] or found[2] or "")
        if found := _COMMAND.fullmatch(text):
            return self._printed(found[1] or found[2] or "", text)
        return text

    def _element(self, found: re.Match[str], text: str) -> str:
        """Return an element of an array, or how many it has; or how long a variable is."""
        size, name, index = found.groups()
        elements = self.arrays.get(name, [])
        if name in self.tables and not size:
            return self.tables[name].get(self._inside(index or ""), text)
        if size:
            known = elements if index in ("@", "*") else self.variables.get(name, "")
            return str(len(known)) if name in self.arrays or name in self.variables else text
        if index in ("@", "*") and name in self.arrays:
            return " ".join(elements)
        number = self.calculated(index or "0")
        if re.fullmatch("-?[0-9]+", number) and -len(elements) <= int(number) < len(elements):
            return elements[int(number)]
        return text

    def _inside(self, text: str) -> str:
        """Return a text as it is between double quotes."""
        return self.text(inside(text, "the script"))

    def _printed(self, command: str, text: str) -> str:
        """Return what a command prints, of the few whose output follows from the script."""
        parts = [part for part in lexed(command, "the script") if isinstance(part, Command)]
        words = [text for word in parts[0].words for text in self.fields(word)] if parts else []
        head, rest = (words or [""])[0], words[1:]
        alone = len(parts) == 1
        if head == "expr" and alone:
            return self._or(" ".join(rest), text)
        if head in ("echo", "which") and alone:  # a program by its name is as good as by its path
            return " ".join(rest[1:] if rest[:1] in (["-n"], ["-e"]) else rest)
        if (found := _CALCULATES.fullmatch(command)) is not None:
            sum_of = next(one for one in found.groups() if one is not None)
            return self._or(self._inside(sum_of).replace('"', "").replace("'", ""), text)
        numbers = [int(one) for one in rest if re.fullmatch("-?[0-9]{1,6}", one)]
        if head == "seq" and alone and 0 < len(rest) == len(numbers) <= 3:
            first, last = (1 if len(rest) == 1 else numbers[0]), numbers[-1]
            step = (numbers[1] if len(rest) == 3 else 1) or 1
            return " ".join(map(str, range(first, last + (1 if step > 0 else -1), step)[:1000]))
        if (found := _COUNTS_LINES.fullmatch(command)) is not None:
            name = found[1] or found[2]
            value = self.variables.get(name, "").strip("${}")  # of F=$PBS_NODEFILE
            lines = self._lines.get(name) or self._lines.get(value)
            if lines is not None:
                return str(lines[bool(re.search(r"\buniq\b|sort\s+-u", command))])
        return text

    def _or(self, expression: str, text: str) -> str:
        found = self.calculated(expression)
        return text if found.startswith("$") else found

    def calculated(self, text: str) -> str:
        """Return what arithmetic makes, and set the variables that it sets.

        What is not known stays, as ``$((TEXT))``. Of several expressions, with commas between
        them, the last one counts.
        """
        found = ""
        for one in self._inside(text).split(","):
            sets = _SETS.fullmatch(one)
            if sets is None:
                found = self._value(one)
                continue
            name, sign, value, counted, by = sets.groups()
            if counted:
                name, sign, value = counted, by[0], "1"
            found = self._value(f"({name}){sign}({value})" if sign else value)
            self.variables[name] = found
        return found

    def _value(self, text: str) -> str:
        numbers = {
            name: int(value)
            for name, value in self.variables.items()
            if re.fullmatch(r"-?[0-9]{1,18}", value)
        }
        try:
            evaluator = SimpleEval(operators=_OPERATORS, names=numbers)
            choice = _CHOICE.sub(r"(\2) if (\1) else (\3)", text.strip())
            found = _GRAMMAR.parse(choice).value(evaluator)
        except (InputError, ArithmeticError):
            return f"$(({''.join(text.split())}))"
        if not isinstance(found, int) or abs(found) > _LARGEST:
            return f"$(({''.join(text.split())}))"
        return str(int(found))


def _cut(text: str) -> list[str]:
    """Cut a text at its blanks, not within what the shell alone knows: ``$(date +%d)``."""
    if "$(" not in text and "`" not in text:
        return text.split()
    return re.findall(r"(?:`[^`]*`|\$\((?:[^()]|\([^()]*\))*\)|\S)+", text)
