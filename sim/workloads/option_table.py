"""Options of the benchmarks: one row says all of an option, one engine reads them by the rows.

Each benchmark has one table: IOR's and mdtest's rows stand beside the fields of their tests
(:func:`option`), IO500's and h5bench's in tables by name. What must hold between options is a
:data:`Rule`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, fields, replace
from pathlib import PurePosixPath
from typing import Any, TypeAlias, TypeVar

from xc40io.config.errors import InputError, meant_by_dash
from xc40io.config.units import IOR_SIZES

_Test = TypeVar("_Test")

Reader: TypeAlias = Callable[[str], Any]
"""From the text typed to the value, or to several fields by name; ValueError ends a sentence."""

Rule: TypeAlias = tuple[Callable[[_Test], object], str]
"""Whether something is so of a test, and the sentence to say then, a format with the test, t."""

NO_GPU = "the compute nodes of a Cray XC40 have no GPU"
NO_POOLS = "no machine file describes OST pools; choose the OSTs by count and start OST instead"

_LARGEST = (1 << 63) - 1  # IOR and mdtest count in a signed 64-bit integer


# --- what values are ---


def flag(typed: str) -> bool:
    """Read a switch: 0 or 1."""
    if typed not in ("0", "1"):
        raise ValueError("neither 0 (off) nor 1 (on)")
    return typed == "1"


def size(typed: str) -> int:
    """Read a size, or a number, as IOR and mdtest do: ``64``, ``8m``, ``128K``, ``1MB``."""
    number = IOR_SIZES.read(typed)
    if number is None:
        raise ValueError("not a size; give bytes, or a whole number with k, m, g or t, as in 8m")
    if abs(number) > _LARGEST:
        raise ValueError("too large; right would be at most 2^63 - 1")
    return number


def text(typed: str) -> str:
    """Read what must not be empty."""
    if not typed:
        raise ValueError("empty")
    return typed


# --- the rows ---


@dataclass(frozen=True)
class Option:
    """One option."""

    names: tuple[str, ...]  # -b, --posix.odirect, blockSize: a letter, long ones, directives
    read: Reader = flag  # that of a letter, or a long option, without a value is flag
    default: Any = None
    field: str = ""  # of the test that it sets; empty: none, its value is only looked at
    # a letter, or long option, without a value that means more each time it is repeated; a value
    # can stand behind = alone
    counts: bool = False
    # why it is refused, the end of a sentence: at once or, if it sets a field, by checks of a job
    refused: str = ""
    harmless: tuple[str, ...] = ()  # values that are not refused, and change nothing
    idle: str = ""  # why it has no effect in a simulation; it is named then

    @property
    def takes_value(self) -> bool:
        """Whether a value stands behind its letter and its long names."""
        return self.read is not flag and not self.counts

    @property
    def directive(self) -> str:
        """Its first name without dashes."""
        return next(name for name in self.names if not name.startswith("-"))


def row(names: str, read: Reader = flag, default: Any = None, **more: Any) -> Option:
    """Return an option; its names have a blank between them."""
    return Option(tuple(names.split()), read, default, **more)


def option(
    names: str, default: Any, read: Reader = flag, *, compare: bool = True, **more: Any
) -> Any:
    """Return the field of a test that an option sets; see :func:`row`."""
    metadata = {"option": row(names, read, default, **more)}
    return field(default=default, compare=compare, metadata=metadata)


def rows_of(test: Any) -> list[Option]:
    """Return the options that set the fields of a class of tests, in their order."""
    found = [(one.name, one.metadata.get("option")) for one in fields(test)]
    return [replace(one, field=name) for name, one in found if one is not None]


def by_name(*rows: Option) -> Mapping[str, Option]:
    """Return options by each of their names, in their order."""
    return {name: row for row in rows for name in row.names}


# --- command lines ---

_Given: TypeAlias = tuple[Option, str, str | None]  # spelled so, with a value or without


class CommandLine:
    """The command line of IOR or mdtest: both have the same parser (``option.c`` of IOR 4).

    Letters may stand alone or together (``-wrg``), a value behind its letter, behind ``=`` or in
    the next word.
    """

    def __init__(self, program: str, rows: Iterable[Option]) -> None:
        self.program = program  # as a person calls it: IOR; typed in lower case
        named = by_name(*rows)
        self.letters = {name[1]: row for name, row in named.items() if len(name) == 2}
        self.long = {name.lower(): row for name, row in named.items() if name.startswith("--")}
        plain = {name.lower(): row for name, row in named.items() if not name.startswith("-")}
        short = {name.removeprefix("--"): row for name, row in self.long.items()}
        self.directives = {**plain, **short, **self.long}  # in lower case

    def split(self, argv: Sequence[str]) -> tuple[str, list[str]]:
        """Return the name of the program and the words behind it.

        The name may be missing, or be a path: ``ior``, ``./ior``, ``/path/to/ior``.
        """
        words, command = list(argv), self.program.lower()
        if words and PurePosixPath(words[0]).name.lower() == command:
            return words[0], words[1:]
        return command, words

    def options(self, words: Sequence[str]) -> Iterator[_Given]:
        """Yield options, how they are spelled (``-b``), and their values.

        Raises
        ------
        InputError
            If the program has no such option, or a value is missing.
        """
        rest = iter(words)
        for word in rest:
            if word == "--":  # IOR 3.x: the options of the backend follow
                continue
            if word.startswith("--"):
                yield self._long_option(word, rest)
            elif word.startswith("-") and len(word) > 1:
                yield from self._letters(word[1:], rest)
            else:
                why = meant_by_dash(word) or "options start with a dash"
                raise InputError(f"{word!r} is not an option of {self.program}; {why}")

    def _letters(self, letters: str, rest: Iterator[str]) -> Iterator[_Given]:
        """Split letters that stand together; the first one with a value takes all behind it."""
        for position, letter in enumerate(letters):
            spelled, row = f"-{letter}", self.letters.get(letter)
            if letter == "-":  # as in -z-k, which IOR lets pass
                continue
            if row is None:
                raise self.unknown(spelled)
            if row.takes_value:
                glued = letters[position + 1 :].removeprefix("=")
                yield row, spelled, glued or _next(spelled, rest)
                return
            yield row, spelled, None

    def _long_option(self, word: str, rest: Iterator[str]) -> _Given:
        spelled, equals, value = word.partition("=")
        row = self.long.get(spelled.lower())
        if row is None:
            raise self.unknown(spelled)
        if row.takes_value:
            return row, spelled, value if equals else _next(spelled, rest)
        if equals and row.counts:
            return row, spelled, value
        if equals:
            raise InputError(f"{spelled} takes no value, but has {value!r}")
        return row, spelled, None

    def unknown(self, spelled: str) -> InputError:
        """Return what is said of an option that there is not."""
        if spelled == "-h" or spelled.lower() == "--help":
            ours = f"`xc40io {self.program.lower()} --help` prints that of xc40io"
            return InputError(f"{spelled} prints {self.program}'s own help; {ours}")
        return InputError(f"{spelled}: {self.program} has no such option")


def _next(spelled: str, rest: Iterator[str]) -> str:
    value = next(rest, None)
    if value is None:
        raise InputError(f"{spelled} needs a value after it")
    return value


def changed(test: _Test, row: Option, spelled: str, value: str | None) -> _Test:
    """Return a test with an option set; without a value it is switched on, or counted.

    Raises
    ------
    InputError
        If the value does not fit, or the option matters on a machine but is not simulated.
    """
    asked: Any = test
    if row.refused and not row.field:
        if value in row.harmless:
            return test
        raise InputError(f"{spelled}: {row.refused}")
    if value is None:
        value = str(getattr(test, row.field) + 1) if row.counts else "1"
    try:
        read = row.read(value)
    except ValueError as error:
        raise InputError(f"{spelled}: {value!r} is {error}") from None
    new = read if isinstance(read, dict) else {row.field: read} if row.field else {}
    if "remarks" in new:
        new["remarks"] = (*asked.remarks, *new["remarks"])
    if row.idle:
        new["without_effect"] = (*asked.without_effect, spelled)
    done = copy(test)  # `replace` would set all fields anew, for each option of a command
    vars(done).update(new)
    return done


def idle_note(names: Iterable[str]) -> tuple[str, ...]:
    """Return a sentence that names options without effect once, in order; none without any."""
    listed = ", ".join(dict.fromkeys(names))
    return (f"Accepted, but without effect in a simulation: {listed}.",) if listed else ()


# --- what must hold ---


def refuse_set(rows: Sequence[Option], test: object) -> None:
    """Raise InputError if a test has options set that are read, but refused."""
    for one in rows:
        if one.refused and one.field and getattr(test, one.field) != one.default:
            names = ", ".join(other.names[0] for other in rows if other.refused == one.refused)
            raise InputError(f"{names}: {one.refused}")


def refuse(rules: Iterable[Rule[_Test]], test: _Test, place: str = "") -> None:
    """Raise InputError with the sentence of the first rule that is so of a test, behind a place."""
    for sentence in said(rules, test):
        raise InputError(f"{place}{sentence}")


def said(rules: Iterable[Rule[_Test]], *tests: _Test) -> Iterator[str]:
    """Yield the sentences of the rules that are so of tests, rule by rule."""
    return (sentence.format(t=test) for so, sentence in rules for test in tests if so(test))
