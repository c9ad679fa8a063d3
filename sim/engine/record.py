"""Records composed by their owners: each component declares the columns that it alone knows.

What an event needs to know of a file or of a program stands in one row of one table, whichever
component it belongs to. The record is declared where its noun is; a module above adds its columns
as it is imported, with what they hold in a row that nobody has used (:meth:`Record.add`). Tables
are made when all modules are there.

Where a column lies is a matter of speed, and the same whoever is imported first: wide columns
before narrow ones, so that none leaves a gap, and those that nearly every event looks at together,
where wide and narrow ones meet. Of the others those of the noun itself come first, then those of
each owner.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from xc40io.engine.types import Indices, Integers, Table, as_bytes, make_table

_WIDE = 8  # bytes of the widest


class Column(NamedTuple):
    """A column of a record.

    ``idle`` is what it holds in a row that nobody has used. One that is ``passing`` holds that
    again when the noun begins something new (:meth:`Record.renew`). Nearly every event looks at one
    that is looked at ``often``.
    """

    name: str
    kind: Any
    idle: Any = 0
    passing: bool = False
    often: bool = False

    @property
    def place(self) -> tuple[int, bool]:
        """What the columns of a record are in the order of."""
        width = np.dtype(self.kind).alignment
        return -width, self.often == (width == _WIDE)


class Record:
    """What the rows of a table are made of; ``columns`` are those of the noun itself."""

    def __init__(self, *columns: Column) -> None:
        self._declared = {"": columns}

    def add(self, owner: str, *columns: Column) -> None:
        """Add the columns of a module, by its name, to all tables that are made from now on.

        Raises
        ------
        ValueError
            If another has a column of that name.
        """
        rest = (those for other, those in self._declared.items() if other != owner)
        names = [column.name for those in (*rest, columns) for column in those]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(
                    f"{owner}: {name} is a column already; right would be another name"
                )
        self._declared[owner] = columns
        for composed in ("dtype", "_idle"):
            self.__dict__.pop(composed, None)

    @property
    def columns(self) -> list[Column]:
        """All columns, in their order in memory."""
        by_owner = [column for owner in sorted(self._declared) for column in self._declared[owner]]
        return sorted(by_owner, key=lambda column: column.place)

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        """The type of the records."""
        return np.dtype([(column.name, column.kind) for column in self.columns], align=True)

    @cached_property
    def _idle(self) -> Table:
        """A row that nobody has used."""
        row = np.zeros(1, self.dtype)
        for column in self.columns:
            row[column.name] = column.idle
        return row

    def table(self, rows: int) -> Table:
        """Return a table of so many rows that nobody has used."""
        table = make_table(self.dtype, rows)
        self.clear(table, slice(None))
        return table

    def clear(self, table: Table, rows: slice | Integers) -> None:
        """Make some rows of a table as if nobody had used them."""
        as_bytes(table)[rows] = as_bytes(self._idle)

    def renew(self, table: Table, rows: Integers | Indices) -> None:
        """Let some rows of a table begin something new: what is passing becomes idle again."""
        plain = np.asarray(table)
        for column in self.columns:
            if column.passing:
                plain[column.name][rows] = column.idle
