"""Components in compiled code: the address of a row of words, and how a field is read there."""

from __future__ import annotations

from typing import Any

from numba.core import types
from numba.core.typing.templates import AttributeTemplate
from numba.extending import (
    infer_getattr,
    lower_getattr_generic,
    models,
    register_model,
)
from numba.np.numpy_support import from_dtype

from xc40io.engine.component import Array, Kind, Layout

_NUMBERS: dict[type, types.Type] = {int: types.int64, float: types.float64, bool: types.boolean}


class LayoutType(types.Type):
    """Numba's type of the address of a component, or of a named tuple that lies within one."""

    def __init__(self, layout: Layout) -> None:
        self.fields = {name: (word, numba_type(kind)) for name, word, kind in layout.fields}
        self.within = layout.within
        super().__init__(name=str(layout))


_LAYOUT_TYPES: dict[str, LayoutType] = {}  # one object a layout


def numba_type(kind: Kind) -> types.Type:
    """Return Numba's type of a kind of field."""
    if isinstance(kind, Layout):
        name = str(kind)
        if name not in _LAYOUT_TYPES:
            _LAYOUT_TYPES[name] = LayoutType(kind)
        return _LAYOUT_TYPES[name]
    if isinstance(kind, Array):
        return types.Array(from_dtype(kind.dtype), kind.dimensions, kind.order)
    return _NUMBERS[kind]


@register_model(LayoutType)
class _LayoutModel(models.OpaqueModel):
    """In machine code it is a pointer."""


@infer_getattr
class _LayoutAttributes(AttributeTemplate):
    """Finds the type of an attribute."""

    key = LayoutType

    def generic_resolve(self, layout: Any, name: str) -> Any:
        """Return the type of the field of that name; nothing if there is no such field."""
        _word, kind = layout.fields.get(name, (0, None))
        return kind


@lower_getattr_generic(LayoutType)
def _read_attribute(context: Any, builder: Any, layout: Any, pointer: Any, name: str) -> Any:
    """Read a field where it lies; a named tuple is not read but pointed to."""
    first, kind = layout.fields[name]
    word = context.get_value_type(types.uint64).as_pointer()
    place = builder.gep(
        builder.bitcast(pointer, word), [context.get_constant(types.int64, first)], inbounds=True
    )
    value_type = context.get_value_type(kind)
    if isinstance(kind, LayoutType) and kind.within:
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
