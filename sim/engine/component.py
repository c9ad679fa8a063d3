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
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias, get_type_hints

import numba
import numpy as np
import numpy.typing as npt
from numba.core import types
from numba.core.typing.templates import AttributeTemplate
from numba.extending import (
    NativeValue,
    infer_getattr,
    lower_getattr_generic,
    models,
    register_model,
    typeof_impl,
    unbox,
)

from sim.engine.jit import is_compiling
from sim.engine.pool import Pool, enlarge_pool
from sim.engine.types import enlarge_table

Demands: TypeAlias = Sequence[tuple[Pool, int]]
"""Pools, and rows of each."""

_ARRAY_HEAD = 5  # words of an array before its shape: Numba's ArrayModel


class Component:
    """A noun's tables and constants, and the components that it uses.

    A subclass annotates its fields: ``int`` and ``float`` for constants, arrays and named tuples of
    arrays for tables, other components for what it uses. A table may be replaced by assigning a
    longer one of the same kind.

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
            self.__dict__[name] = value if number is None else number(value)
        if is_compiling():
            layout = _layout_of(type(self).__name__, self._fields())
            self.__dict__["_layout"] = layout
            self.__dict__["_words"] = np.zeros(layout.words, np.uint64)
            for name in hints:
                self._write(name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in annotated(type(self)):
            raise TypeError(f"{type(self).__name__} has no field {name}")
        self.__dict__[name] = value
        if is_compiling():
            kind = numba.typeof(value)
            if _layout_type(kind) != self.layout.fields[name].kind:
                raise TypeError(f"{type(self).__name__}.{name} cannot become {kind}")
            self._write(name)

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
        setattr(self, name, enlarge_table(getattr(self, name), rows))
        setattr(self, f"spare_{name}", enlarge_pool(getattr(self, f"spare_{name}"), rows))

    def pools(self) -> dict[str, Pool]:
        """Return the pools of its own tables, by the names of the tables."""
        fields = ((name, getattr(self, name)) for name in annotated(type(self)))
        return {name.removeprefix("spare_"): pool for name, pool in fields if type(pool) is Pool}

    def uses(self) -> dict[str, Component]:
        """Return the components that it uses, by the names that it has for them."""
        fields = {name: getattr(self, name) for name in annotated(type(self))}
        return {name: part for name, part in fields.items() if isinstance(part, Component)}

    @property
    def layout(self) -> LayoutType:
        """Its type in compiled code."""
        layout: LayoutType = self.__dict__["_layout"]
        return layout

    @property
    def _words(self) -> npt.NDArray[np.uint64]:
        words: npt.NDArray[np.uint64] = self.__dict__["_words"]
        return words

    @property
    def address(self) -> int:
        """Where its words are."""
        return int(self._words.ctypes.data)

    def _fields(self) -> dict[str, Any]:
        """Return the types of the fields by their names."""
        return {name: numba.typeof(self.__dict__[name]) for name in annotated(type(self))}

    def _write(self, name: str) -> None:
        """Write a field into the words."""
        words = _words_of(self.__dict__[name])
        first = self.layout.fields[name].word
        self._words[first : first + len(words)] = words


def annotated(kind: type) -> dict[str, Any]:
    """Return the fields of a component's class by name: the types that it annotates them with."""
    known = kind.__dict__.get("_annotated")
    if known is None:
        known = get_type_hints(kind)
        kind._annotated = known  # type: ignore[attr-defined]
    return dict(known)


class _Field(NamedTuple):
    """Where a field begins, in words, and its type in compiled code."""

    word: int
    kind: Any


class LayoutType(types.Type):
    """Numba's type of the address of a component, or of a named tuple that lies within one.

    Its name stands for the fields by a hash. Numba writes the names of the arguments' types into
    the name of every compiled function, and all fields together have kilobytes of names.
    """

    def __init__(self, noun: str, fields: dict[str, _Field], words: int, within: bool) -> None:
        self.fields = fields
        self.words = words
        self.within = within
        described = "".join(f"{name} {field.word} {field.kind}\n" for name, field in fields.items())
        digest = hashlib.sha256(described.encode()).hexdigest()[:16]
        super().__init__(name=f"{noun}({digest})")


_Kinds: TypeAlias = dict[str, Any]


def _layout_of(noun: str, kinds: _Kinds, *, within: bool = False) -> LayoutType:
    """Return the layout of fields of some types, one behind the other.

    ``within``: of a named tuple, which lies within the words of a component.
    """
    fields: dict[str, _Field] = {}
    word = 0
    for name, kind in kinds.items():
        laid_out = _layout_type(kind)
        fields[name] = _Field(word, laid_out)
        word += laid_out.words if isinstance(kind, types.BaseNamedTuple) else _size_of(kind)
    return LayoutType(noun, fields, word, within)


def _layout_type(kind: Any) -> Any:
    """Return the type of a field: a named tuple is pointed to where it lies."""
    if not isinstance(kind, types.BaseNamedTuple):
        return kind
    fields: Any = kind
    kinds = dict(zip(fields.fields, fields.types, strict=True))
    return _layout_of(fields.instance_class.__name__, kinds, within=True)


def _size_of(kind: Any) -> int:
    """Return how many words a number, an array or a component's address takes."""
    return _ARRAY_HEAD + 2 * int(kind.ndim) if isinstance(kind, types.Array) else 1


def _words_of(value: Any) -> list[int]:
    """Return the words of a field."""
    if isinstance(value, Component):
        return [value.address]
    if isinstance(value, np.ndarray):
        # No owner (the first two words): compiled code borrows arrays and never frees one.
        head = [0, 0, value.size, value.itemsize, value.ctypes.data]
        return [*head, *value.shape, *(stride & (2**64 - 1) for stride in value.strides)]
    if isinstance(value, tuple):
        return [word for part in value for word in _words_of(part)]
    if isinstance(value, float):
        return [int(np.float64(value).view(np.uint64))]  # its bits
    return [int(value) & (2**64 - 1)]


@register_model(LayoutType)
class _LayoutModel(models.OpaqueModel):
    """In machine code it is a pointer."""


@infer_getattr
class _LayoutAttributes(AttributeTemplate):
    """Finds the type of an attribute."""

    key = LayoutType

    def generic_resolve(self, layout: Any, name: str) -> Any:
        """Return the type of the field of that name; nothing if there is no such field."""
        field = layout.fields.get(name)
        return None if field is None else field.kind


@lower_getattr_generic(LayoutType)
def _read_attribute(context: Any, builder: Any, layout: Any, pointer: Any, name: str) -> Any:
    """Read a field where it lies; a named tuple is not read but pointed to."""
    field = layout.fields[name]
    word = context.get_value_type(types.uint64).as_pointer()
    place = builder.gep(
        builder.bitcast(pointer, word),
        [context.get_constant(types.int64, field.word)],
        inbounds=True,
    )
    value_type = context.get_value_type(field.kind)
    if isinstance(field.kind, LayoutType) and field.kind.within:
        return builder.bitcast(place, value_type)
    return _load_invariant(builder, builder.bitcast(place, value_type.as_pointer()))


def _load_invariant(builder: Any, place: Any) -> Any:
    """Load what stands at ``place`` as something that no store ever changes.

    Tables are replaced between two calls of compiled code, never within one, but LLVM cannot know
    that no table lies over the words; the promise spares it reading a table's address and shape
    again after every store.
    """
    value = builder.load(place)
    value.set_metadata("invariant.load", builder.module.add_metadata([]))
    return value


@typeof_impl.register(Component)
def _type_of_component(component: Component, _context: Any) -> Any:
    return component.layout


@unbox(LayoutType)
def _unbox_component(layout: Any, component: Any, c: Any) -> Any:
    address = c.pyapi.object_getattr_string(component, "address")
    number = c.pyapi.long_as_ulonglong(address)
    c.pyapi.decref(address)
    return NativeValue(c.builder.inttoptr(number, c.context.get_value_type(layout)))
