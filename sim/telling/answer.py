"""An answer: values for programs, and the blocks that people read. It is made once.

Nothing here knows of text, JSON, pandas or HTML. Each of these is a renderer, a module of this
folder: :mod:`~xc40io.telling.text`, :mod:`~xc40io.telling.data`, :mod:`~xc40io.telling.html`,
:mod:`~xc40io.telling.drawing`.

Texts may hold anything, such as the names of files: what has a meaning in HTML is made harmless
where the page is written.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from enum import Flag
from functools import cached_property, partial
from importlib.metadata import version
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from xc40io.engine.types import Floats


class To(Flag):
    """Who is told a column."""

    PEOPLE = 1  # text, pages, notebooks
    JSON = 2  # --json, tools of the assistant
    PANDAS = 4  # tables of pandas, CSV
    DATA = JSON | PANDAS
    ALL = PEOPLE | DATA


@dataclass(frozen=True)
class Unit:
    """A kind of value: its type for programs; for people its digits, chosen here alone."""

    name: str  # "s", "bytes/s"; empty for words and plain numbers
    type: type  # str, int, float, bool; list of rows, dict of a record; object of anything
    write: Callable[[Any], str] = str
    above: str = ""  # what follows the head where the cells have no unit: " (s)"
    left: bool = False  # cells begin below each other; else they end so
    typed: bool = False  # what one types at a prompt


@dataclass(frozen=True)
class Column:
    """One thing that is told of a row, or of a record that stands alone."""

    name: str  # for programs: once released it never changes
    unit: Unit
    of: Callable[[Any], Any] | None = None  # of a row; None: what the row calls by this name
    _: KW_ONLY
    head: str | None = None  # for people, may change any day; None: the name
    to: To = To.ALL
    help: str = ""  # for schemas, documents and pointers
    blank: Any = None  # the value that is nothing, and an empty cell for people
    empty: str = ""  # what people see in such a cell
    least: int = 0  # letters of the column in text
    most: int = 0  # letters of a cell in text; 0: any number
    spread: bool = False  # its value is a mapping, of which people see a column for each key
    optional: bool = False  # people and JSON have it only where some row is not blank
    inner: tuple[Column, ...] = ()  # its value is rows, or a record, with these columns

    def value(self, row: Any) -> Any:
        """Return what a row has of this column."""
        if self.of is not None:
            return self.of(row)
        return row[self.name] if isinstance(row, Mapping) else getattr(row, self.name)

    def is_blank(self, value: Any) -> bool:
        """Return whether a value is nothing."""
        return value is None or bool(value == self.blank)

    def cell(self, value: Any) -> str:
        """Return a value as people read it."""
        return self.empty if self.is_blank(value) else self.unit.write(value)

    @property
    def label(self) -> str:
        """The head of the column, and the unit where the cells have none."""
        return f"{self.name if self.head is None else self.head}{self.unit.above}"


def chosen(columns: Columns, *names: str, **heads: str) -> Columns:
    """Return some columns, in the order of their names; ``heads``: of those that have others."""
    by_name = {column.name: column for column in columns}
    return tuple(replace(by_name[name], head=heads.get(name, by_name[name].head)) for name in names)


def changed(columns: Columns, name: str, **how: Any) -> Columns:
    """Return columns of which one is another; ``how``: fields of it."""
    return tuple(replace(each, **how) if each.name == name else each for each in columns)


def behind(of: Callable[[Any], Any], columns: Columns) -> Columns:
    """Return the columns of something that a row has; ``of`` gets it of the row."""
    return tuple(
        replace(column, of=partial(lambda column, row: column.value(of(row)), column))
        for column in columns
    )


Columns: TypeAlias = tuple[Column, ...]
Rows: TypeAlias = Sequence[Any] | Mapping[str, Any]  # records; or arrays by column: 200,000 ranks


@dataclass(frozen=True)
class Table:
    """Rows below columns. Where one has inner columns, each row is the title of a group."""

    columns: Columns
    make: Callable[[], Rows]  # called when a renderer first asks: what nobody reads costs nothing
    _: KW_ONLY
    title: str = ""
    note: str = ""
    total: bool = False  # whether the last row adds up the others
    most: int = 400  # rows that people are told; programs get all
    bare: bool = False  # whether text has no heads: its title says what they are

    @cached_property
    def rows(self) -> Rows:
        """The rows, made when they are first asked for."""
        return self.make()


WORDS = Unit("", str, left=True)
CELL = Unit("", str)
TYPED = Unit("", str, left=True, typed=True)


def plain_table(
    title: str,
    heads: Sequence[str],
    rows: Sequence[Sequence[str]],
    words: Collection[int] = (0,),
    typed: Collection[int] = (),
    *,
    total: bool = False,
    note: str = "",
) -> Table:
    """Return a table of cells that are written already; ``words``: columns that begin at the left.

    For tables that only people are told, with heads that depend on what came out.
    """
    units = [TYPED if n in typed else WORDS if n in words else CELL for n in range(len(heads))]
    columns = tuple(
        Column(f"{place}", unit, itemgetter(place), head=head)
        for place, (head, unit) in enumerate(zip(heads, units, strict=True))
    )
    return Table(columns, lambda: rows, title=title, note=note, total=total, most=len(rows))


@dataclass(frozen=True)
class Text:
    """A few sentences; several lines of them stay lines, each with its indent."""

    text: str


@dataclass(frozen=True)
class Points:
    """Sentences below each other, each of its own or behind what it is about."""

    points: Sequence[str | tuple[str, str]]
    title: str = ""
    alert: bool = False  # whether they tell what went wrong


@dataclass(frozen=True)
class Listing:
    """Text whose lines stay as they are."""

    title: str
    text: str
    typed: bool = False  # whether it is a command, which may be broken where it is too long


@dataclass(frozen=True)
class Picture:
    """What only Matplotlib can draw, with a heading of its own; drawn when it is asked for."""

    name: str  # of its file, unlike that of any other picture of the answer
    draw: Callable[[], Figure]


@dataclass(frozen=True)
class Chart:
    """A table, and which of its columns is seen how: Matplotlib draws that, and Bokeh."""

    name: str  # of its file, unlike that of any other picture of the answer
    table: Table
    mark: Literal["bars", "lines"]
    x: str
    y: str
    colour: str
    _: KW_ONLY
    interval: tuple[str, str] | None = None  # columns of the bounds of what is measured
    rule: float | None = None  # where a line stands
    title: str = ""
    setup: str = ""
    caption: str = ""


@dataclass(frozen=True)
class Strip:
    """What happened over time: a few curves, or many rows that are darker the more they have."""

    title: str
    unit: str  # of the values: "GB/s"; "%" of rows, whose values are shares from 0 to 1
    names: Sequence[str]  # of each curve or row
    values: Floats  # (names, steps): of each, one for each step of time
    rows: bool = False


@dataclass(frozen=True)
class TimeAxis:
    """Strips above each other with one axis of time, which a page can look at more closely."""

    name: str  # unlike that of any other picture of the answer
    title: str
    step: float  # seconds of a step; the first begins at 0
    strips: Sequence[Strip]
    note: str = ""


@dataclass(frozen=True)
class Fold:
    """Blocks for which a page has room, behind a title, and text has none."""

    title: str
    blocks: Sequence[Block]


@dataclass(frozen=True)
class Section:
    """Blocks below a heading of a page; in text the blocks alone."""

    name: str  # for links: letters, digits and hyphens, unlike that of any other in the answer
    title: str
    blocks: Sequence[Block]
    on: Literal["all", "page", "text"] = "all"


Block: TypeAlias = Text | Points | Table | Listing | Picture | Chart | TimeAxis | Fold | Section


@dataclass(frozen=True)
class Card:
    """A number of the headline of a page."""

    name: str
    value: str  # with its unit
    note: str = ""


@dataclass(frozen=True)
class Values:
    """What programs get: one record, in which some columns have rows."""

    kind: str
    columns: Columns
    of: Any

    def table(self, name: str, rows: Rows | None = None, **how: Any) -> Table:
        """Return the rows of a column, or others with its columns, as a block."""
        column = next(column for column in self.columns if column.name == name)
        return Table(column.inner, lambda: column.value(self.of) if rows is None else rows, **how)


@dataclass(frozen=True)
class Answer:
    """An answer."""

    title: str
    setup: str  # on which machine, and how
    blocks: Sequence[Block]
    _: KW_ONLY
    values: Values | None = None
    table: Table | None = None  # of pandas, and what --csv writes
    description: str = ""
    cards: Sequence[Card] = ()
    whence: Mapping[str, Any] = field(default_factory=dict)  # command, seeds: no values
    version: str = field(default_factory=partial(version, "xc40io"))  # of xc40io, which made it
    failed: bool = False  # exit status 1: bytes were lost, a point could not be run
