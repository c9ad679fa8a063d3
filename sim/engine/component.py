"""Components: how compiled code gets hold of a noun's tables at the price of one pointer.

A noun of the data plane, the OSCs of all nodes or the lock tables of the OSTs, keeps its tables and
its constants in a *component*: a class that names them, and the components below it that it uses.
A function says by its first parameter what it may touch: ``pump(osc, ...)`` reaches the OSCs and
what OSCs use, and nothing else.

In memory a component is a row of words of 64 bits: numbers as they are, an array as Numba describes
one (address, shape, strides), a named tuple of arrays field after field, and for a component below
it that one's address. Compiled code gets the address of the first word. The row stays where it is,
so that a table may be replaced by a longer one while others point to the component. Where the JIT
is off, the same functions run on the Python object itself.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, NamedTuple, TypeAlias, get_type_hints

import numpy as np
import numpy.typing as npt

from xc40io.engine.pool import Pool, enlarge_pool, rows_in_use
from xc40io.engine.types import enlarge_table

Demands: TypeAlias = Sequence[tuple[Pool, int]]
"""Pools, and rows of each."""

Words: TypeAlias = npt.NDArray[np.uint64]
"""The words of a component."""

_ARRAY_HEAD = 5  # words of an array before its shape: Numba's ArrayModel


class Array(NamedTuple):
    """What compiled code has to know of an array: its records, dimensions and order in memory."""

    dtype: np.dtype[Any]
    dimensions: int
    order: str

    @property
    def words(self) -> int:
        """How many words describe one."""
        return _ARRAY_HEAD + 2 * self.dimensions

    def __str__(self) -> str:
        return f"{_dtype_text(self.dtype)} {self.dimensions}{self.order}"


@dataclass(frozen=True, eq=False)
class Layout:
    """Where the fields of a component lie in its words, or of a named tuple within these.

    ``fields`` has name, first word and kind of each. A kind is ``int``, ``float``, an
    :class:`Array`, or the layout of a named tuple or of a component below. There is one of each in
    a process (:func:`layout_of`): each run of a study would make all of them again.
    """

    noun: str
    fields: tuple[tuple[str, int, Kind], ...]
    within: bool
    words: int

    def __str__(self) -> str:
        return f"{self.noun}({self.digest})"

    def __reduce__(self) -> tuple[Callable[..., Layout], tuple[Any, ...]]:
        kinds = tuple((name, kind) for name, _, kind in self.fields)
        return _layout, (self.noun, kinds, self.within)

    @cached_property
    def places(self) -> dict[str, tuple[int, Kind]]:
        """The first word and the kind of each field, by its name."""
        return {name: (word, kind) for name, word, kind in self.fields}

    @cached_property
    def addresses(self) -> list[int]:
        """The words that are addresses: of arrays, and of the words of components."""
        found: list[int] = []
        for _, word, kind in self.fields:
            if isinstance(kind, Array):
                found.append(word + _ARRAY_HEAD - 1)
            elif isinstance(kind, Layout):
                found += [word + within for within in kind.addresses] if kind.within else [word]
        return found

    @cached_property
    def digest(self) -> str:
        """What stands for the fields: all of them together have kilobytes of names."""
        lines = (f"{name} {word} {kind_text(kind)}\n" for name, word, kind in self.fields)
        return hashlib.sha256("".join(lines).encode()).hexdigest()[:16]


Kind: TypeAlias = type | Array | Layout


def _dtype_text(dtype: np.dtype[Any]) -> str:
    """Return a type of elements as text; of a record, names, types and places of its fields."""
    if dtype.fields is None:
        return dtype.str
    parts = (f"{name} {_dtype_text(kind)} {at}" for name, (kind, at, *_) in dtype.fields.items())
    return f"[{', '.join(parts)}; {dtype.itemsize}]"


def kind_text(kind: Kind) -> str:
    """Return the text that stands for a kind: equal for equal kinds, and for those alone."""
    return kind.__name__ if isinstance(kind, type) else str(kind)


def layout_of(noun: str, kinds: Iterable[tuple[str, Kind]], *, within: bool = False) -> Layout:
    """Return the layout of fields, one behind the other.

    ``within``: of a named tuple, which lies within the words of a component.
    """
    return _layout(noun, tuple(kinds), within)


@cache
def _layout(noun: str, kinds: tuple[tuple[str, Kind], ...], within: bool) -> Layout:
    fields: list[tuple[str, int, Kind]] = []
    word = 0
    for name, kind in kinds:
        fields.append((name, word, kind))
        word += _size_of(kind)
    return Layout(noun, tuple(fields), within, word)


def kind_of(value: Any) -> Kind:
    """Return the kind of a field, by what it holds.

    Raises
    ------
    TypeError
        If compiled code cannot read such a thing.
    """
    if isinstance(value, Component):
        return value.layout
    if isinstance(value, np.ndarray):
        plain = np.asarray(value)  # attributes of records are looked up among their fields first
        flags = plain.flags
        order = "C" if flags.c_contiguous else "F" if flags.f_contiguous else "A"
        return Array(plain.dtype, plain.ndim, order)
    if isinstance(value, tuple):
        fields: tuple[str, ...] = type(value)._fields  # type: ignore[attr-defined]
        kinds = zip(fields, map(kind_of, value), strict=True)
        return layout_of(type(value).__name__, kinds, within=True)
    if type(value) in (int, float, bool):
        return type(value)
    raise TypeError(f"a component cannot have a field of the type {type(value).__name__}")


class Component:
    """A noun's tables and constants, and the components that it uses.

    A subclass annotates its fields: ``int`` and ``float`` for constants, arrays and named tuples of
    arrays for tables, other components for what it uses. A table may be replaced by assigning a
    longer one of the same type of elements and as many dimensions.

    A table lies in memory row by row, those of a named tuple as they were when it was built. One
    that lies otherwise, or has its bytes in the other order, is copied; any other stays the same
    object, since it may be a part of what others hold.

    Raises
    ------
    TypeError
        If a field is missing, unknown or replaced by something of another type.
    """

    def __init__(self, **fields: Any) -> None:
        hints = annotated(type(self))
        if fields.keys() != hints.keys():
            wrong = sorted(fields.keys() ^ hints.keys())
            raise TypeError(f"{type(self).__name__}: missing or unknown: {', '.join(wrong)}")
        numbers = {int: int, float: float}
        for name, value in fields.items():
            number = numbers.get(hints[name])
            own = _row_by_row(value) if isinstance(value, np.ndarray) else value
            self.__dict__[name] = own if number is None else number(value)
        values = [(name, self.__dict__[name]) for name in hints]
        kinds = ((name, kind_of(value)) for name, value in values)
        words = np.array([word for _, value in values for word in _words_of(value)], np.uint64)
        self._lie(layout_of(type(self).__name__, kinds), words)

    @classmethod
    def lying(cls, fields: Mapping[str, Any], layout: Layout, words: Words) -> Component:
        """Return a component with fields that words describe already, as a layout says."""
        component = cls.__new__(cls)
        component.__dict__.update(fields)
        component._lie(layout, words)
        return component

    def _lie(self, layout: Layout, words: Words) -> None:
        """Have a layout and words."""
        self.__dict__.update(_layout=layout, _words=words, _address=int(words.ctypes.data))

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in annotated(type(self)):
            raise TypeError(f"{type(self).__name__} has no field {name}")
        first, kind = self.layout.places[name]
        own = _fitted(value, kind)
        if own is None:
            wrong = kind_text(kind_of(value))
            raise TypeError(f"{type(self).__name__}.{name} cannot become {wrong}")
        self.__dict__[name] = own
        words = _words_of(own)
        self.words[first : first + len(words)] = words

    def demands(self) -> Demands:
        """Return the pools that its events take rows from, and the most rows that one takes."""
        return []

    def begin(self) -> None:
        """Schedule what the component does of itself, when all are built."""

    def pending(self) -> int:
        """Return the most events of its entities that can be pending at a time."""
        return 0

    def grow(self, name: str, rows: int) -> None:
        """Make the table ``name`` longer, and ``spare_name`` with it; rows in use stay as they are.

        A component with more that goes by the rows of a table overrides this.
        """
        spare: Pool = getattr(self, f"spare_{name}")
        table = enlarge_table(getattr(self, name), rows, rows_in_use(spare))
        setattr(self, name, table)
        setattr(self, f"spare_{name}", enlarge_pool(spare, rows))

    def pools(self) -> dict[str, Pool]:
        """Return the pools of its own tables, by the names of the tables."""
        fields = self.__dict__
        return {
            name.removeprefix("spare_"): fields[name]
            for name, kind in annotated(type(self)).items()
            if kind is Pool
        }

    def uses(self) -> dict[str, Component]:
        """Return the components that it uses, by the names that it has for them."""
        fields = {name: getattr(self, name) for name in annotated(type(self))}
        return {name: part for name, part in fields.items() if isinstance(part, Component)}

    @property
    def layout(self) -> Layout:
        """Where its fields lie."""
        layout: Layout = self.__dict__["_layout"]
        return layout

    @property
    def words(self) -> Words:
        """What compiled code sees of it."""
        words: Words = self.__dict__["_words"]
        return words

    @property
    def address(self) -> int:
        """Where its words are."""
        address: int = self.__dict__["_address"]
        return address


def annotated(kind: type) -> Mapping[str, Any]:
    """Return the fields of a component's class by name: the types that it annotates them with."""
    known: Mapping[str, Any] | None = kind.__dict__.get("_annotated")
    if known is None:
        known = get_type_hints(kind)
        kind._annotated = known  # type: ignore[attr-defined]
    return known


def _row_by_row(table: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a table itself if it lies row by row, in this processor's bytes; else a copy."""
    plain = np.asarray(table)
    if plain.flags.carray and plain.dtype.isnative:
        return table
    return _laid_out(table, Array(plain.dtype.newbyteorder("="), plain.ndim, "C"))


def _laid_out(table: npt.NDArray[Any], kind: Array) -> npt.NDArray[Any]:
    """Return a table itself if it lies in memory as a kind says, else a copy that does."""
    flags = table.flags
    lies = {"C": flags.c_contiguous, "F": flags.f_contiguous, "A": True}[kind.order]
    if lies and flags.aligned and table.dtype == kind.dtype:
        return table
    return table.astype(kind.dtype, "F" if kind.order == "F" else "C")


def _fitted(value: Any, kind: Kind) -> Any | None:
    """Return what a field of a kind holds in place of a value; None if it cannot hold such."""
    if isinstance(kind, Array):
        if not isinstance(value, np.ndarray) or value.ndim != kind.dimensions:
            return None
        same = value.dtype.newbyteorder("=") == kind.dtype
        return _laid_out(value, kind) if same else None
    if isinstance(kind, Layout) and kind.within:
        if not isinstance(value, tuple) or type(value).__name__ != kind.noun:
            return None
        parts = [_fitted(part, of) for part, (_, _, of) in zip(value, kind.fields, strict=True)]
        if any(part is None for part in parts):
            return None
        kept = all(one is part for one, part in zip(parts, value, strict=True))
        named: Callable[..., tuple[Any, ...]] = type(value)
        return value if kept else named(*parts)
    return value if kind_of(value) == kind else None


def _size_of(kind: Kind) -> int:
    """Return how many words a number, an array, a named tuple or a component's address takes."""
    if isinstance(kind, Array):
        return kind.words
    return kind.words if isinstance(kind, Layout) and kind.within else 1


def _words_of(value: Any) -> list[int]:
    """Return the words of a field."""
    if isinstance(value, Component):
        return [value.address]
    if isinstance(value, np.ndarray):
        plain = np.asarray(value)
        # No owner (the first two words): compiled code borrows arrays and never frees one.
        head = [0, 0, plain.size, plain.itemsize, plain.ctypes.data]
        return [*head, *plain.shape, *(stride & (2**64 - 1) for stride in plain.strides)]
    if isinstance(value, tuple):
        return [word for part in value for word in _words_of(part)]
    if isinstance(value, float):
        return [int(np.float64(value).view(np.uint64))]  # its bits
    return [int(value) & (2**64 - 1)]
