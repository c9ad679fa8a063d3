"""Rows of a table that cannot be read: they are left out, counted and told."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from xc40io.config.errors import InputError
from xc40io.config.reading import Cursor
from xc40io.topology.text import format_count

_NAMED = 3
"""Rows that are named, each with what is wrong with it."""


class BadRows:
    """The rows of one file that are left out."""

    def __init__(self, at: Cursor) -> None:
        self._at, self._file = at, str(at)
        self._first: list[InputError] = []
        self._count = 0

    @contextmanager
    def row(self, number: int) -> Iterator[None]:
        """Go to a row; if it cannot be read, what stands within ends, and the row is left out."""
        self._at.row(number)
        try:
            yield
        except InputError as error:
            self._count += 1
            if self._count <= _NAMED:
                self._first.append(error)

    def check(self, readable: int) -> None:
        """Raise InputError if rows were left out, and none is left that can be read."""
        if readable or not self._count:
            return
        others = self._count - 1
        if not others:
            raise self._first[0]
        rest = "the other row" if others == 1 else f"any of the other {others:,} rows"
        raise InputError(f"{self._first[0]}; nor can {rest} be read") from self._first[0]

    @property
    def words(self) -> str:
        """How many rows were left out, and why the first of them; nothing if none was."""
        if not self._count:
            return ""
        why = [str(error).removeprefix(f"{self._file}: ") for error in self._first]
        told = "; ".join(words.partition("; right would be")[0] for words in why)
        more = "; ..." if self._count > _NAMED else ""
        return f"{format_count(self._count, 'row')} that cannot be read ({told}{more})"
