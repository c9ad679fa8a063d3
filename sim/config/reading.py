"""Whatever goes wrong while a user's file is read ends in one sentence, whoever reads it.

Readers of tables, logs, archives and descriptions stand in a ``with reading(...)``. What they
refuse themselves they say better (:class:`~xc40io.config.errors.InputError`); all that they did not
think of, and what the libraries below them raise, becomes a sentence about the file here, with what
was raised as its cause. Nothing that simulates stands within: its defects are to be seen.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import ParamSpec, TypeVar

from xc40io.config.errors import FailureError, InputError, shown, shown_path

MOST = 1 << 62
"""The largest number of a table, of whatever it is: sums of two still fit 64 bits."""

_DIGITS = re.compile(r"[+-]?[0-9]{1,30}")
_OURS = (InputError, FailureError, ImportError)  # a broken installation is no fault of a file
_OTHERS_WORDS = re.compile(r"NoneType|<class|object at 0x|pydantic|Errno")


class Cursor:
    """Where a reader is in a file: as a sentence begins."""

    def __init__(self, file: object) -> None:
        self._file, self._row = shown_path(file), ""

    def __str__(self) -> str:
        return f"{self._file}{self._row}"

    def row(self, number: int) -> None:
        """Go to a row; the first row of values of a CSV file is row 2."""
        self._row = f": row {number}"

    def line(self, number: int) -> None:
        """Go to a line of a text."""
        self._row = f": line {number}"

    def wrong(self, field: str, value: object, right: str) -> InputError:
        """Return the refusal of a value of a field."""
        return InputError(f"{self}: {field} = {shown(value)}; right would be {right}")

    def number(self, field: str, value: object, most: float = MOST) -> float:
        """Return a number, or what a text says that is one: finite, its size at most so much.

        Raises
        ------
        InputError
            If it is none; the message names the field.
        """
        text = value if isinstance(value, str) else repr(value)
        try:
            found = float(text) if text.isascii() and "_" not in text else math.nan
        except ValueError:
            found = math.nan
        if not abs(found) <= most:
            raise self.wrong(field, value, f"a number, at most {most:,.4g}")
        return found

    def count(self, field: str, value: object, most: int = MOST) -> int:
        """Return a whole number, or what a text or a float says that is one, up to so many.

        Raises
        ------
        InputError
            If it is none; the message names the field.
        """
        if isinstance(value, str) and _DIGITS.fullmatch(value.strip()):
            value = int(value)  # exactly: a float has 53 bits
        if isinstance(value, int) and abs(value) <= most:
            return int(value)
        found = self.number(field, value, most)
        if not found.is_integer():
            raise self.wrong(field, value, "a whole number")
        return int(found)


@contextmanager
def reading(file: object, right: str = "") -> Iterator[Cursor]:
    """Turn whatever is raised within into a sentence about a file.

    Parameters
    ----------
    file
        Its path, or what else messages call it.
    right
        What would be right, in a few words: ``a table of jobs``.

    Yields
    ------
    Cursor
        For the reader to say where it is.

    Raises
    ------
    InputError
        For everything that a reader or a library below it raises, but a refusal or a failure that
        is a sentence already.
    """
    at = Cursor(file)
    try:
        yield at
    except _OURS:
        raise
    except Exception as error:
        end = f"; right would be {right}" if right else ""
        raise InputError(f"{at}: {_found(error)}{end}") from error


_Words = ParamSpec("_Words")
_Read = TypeVar("_Read")


def reads(right: str) -> Callable[[Callable[_Words, _Read]], Callable[_Words, _Read]]:
    """Let a function whose first argument is a file, or its name, stand in :func:`reading`."""

    def within(reader: Callable[_Words, _Read]) -> Callable[_Words, _Read]:
        @wraps(reader)
        def read(*words: _Words.args, **named: _Words.kwargs) -> _Read:
            with reading(next(iter((*words, *named.values())), "a file"), right):
                return reader(*words, **named)

        return read

    return within


def _found(error: Exception) -> str:
    """Say in a few words what was found, if something else was expected."""
    if isinstance(error, UnicodeDecodeError):
        return undecodable(error)
    if isinstance(error, OSError):
        return f"cannot be read: {error.strerror or 'it is damaged'}"
    if isinstance(error, RecursionError):
        return "nests too deeply"
    if isinstance(error, MemoryError):
        return "takes more memory than there is"
    if isinstance(error, OverflowError) or "integer string conversion" in str(error):
        return "holds a number that is too large"
    if isinstance(error, KeyError) and error.args:
        return f"{shown(error.args[0])} is missing"
    said = " ".join(str(error).split())
    kinds = (AttributeError, LookupError, TypeError)
    if isinstance(error, kinds) or not said or _OTHERS_WORDS.search(said):
        return "holds something of another kind than belongs there"
    return f"cannot be understood: {said[:200]}"


def undecodable(error: UnicodeDecodeError) -> str:
    """Say which byte of which line is no text."""
    line = error.object.count(b"\n", 0, error.start) + 1
    return f"line {line}: byte 0x{error.object[error.start]:02x} is not text in UTF-8"
