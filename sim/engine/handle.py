"""Handles: how compiled code gets hold of many tables at the price of one pointer.

The data plane keeps its tables in named tuples of arrays. Numba passes a tuple by value, and
eighty tables are five kilobytes a call. A handle is the address of such a tuple, laid out in
memory once: ``handle.messages`` reads one table from there, and ``handle.network``, a tuple within
the tuple, is a handle again. Compiled functions cannot tell a handle from the tuple itself, so
they run on the plain tuple where the JIT is off.
"""

from __future__ import annotations

import hashlib
from typing import Any, NamedTuple

import numba
import numpy as np
from numba.core import cgutils, types
from numba.core.typing.templates import AttributeTemplate
from numba.extending import (
    NativeValue,
    infer_getattr,
    intrinsic,
    lower_getattr_generic,
    models,
    register_model,
    typeof_impl,
    unbox,
)

from sim.engine.jit import is_compiling, njit


class Handle:
    """The address of a laid-out tuple; keeps the tuple, and so its arrays, alive.

    Parameters
    ----------
    fields
        A named tuple of arrays, numbers and further named tuples. Arrays may be changed in place;
        a tuple with other arrays needs a handle of its own.
    """

    def __init__(self, fields: NamedTuple) -> None:
        self.fields = fields
        self._memory = np.zeros(_size_of(fields), np.uint8)
        self.address = self._memory.ctypes.data
        _lay_out(fields, np.uint64(self.address))
        self.numba_type = _HandleType(numba.typeof(fields))


def handle_of(fields: Any) -> Any:
    """Return a handle of a named tuple; the tuple itself where nothing is compiled."""
    return Handle(fields) if is_compiling() else fields


class _HandleType(types.Type):
    """Numba's type of a handle: that of the tuple behind it decides what its attributes are.

    Its name stands for that tuple by a hash. Numba writes the names of the arguments' types into
    the name of every compiled function, and the tuple's own name has tens of kilobytes: machine
    code and compile time were mostly names.
    """

    def __init__(self, fields: Any) -> None:
        self.fields = fields
        digest = hashlib.sha256(str(fields).encode()).hexdigest()[:24]
        super().__init__(name=f"Handle({digest})")


@register_model(_HandleType)
class _HandleModel(models.OpaqueModel):
    """In machine code a handle is a pointer."""


@infer_getattr
class _HandleAttributes(AttributeTemplate):
    """Finds the type of an attribute."""

    key = _HandleType

    def generic_resolve(self, handle: Any, name: str) -> Any:
        """Return the type of the field of that name; nothing if there is no such field."""
        if name not in handle.fields.fields:
            return None
        field = handle.fields.types[handle.fields.fields.index(name)]
        return _HandleType(field) if isinstance(field, types.BaseNamedTuple) else field


@lower_getattr_generic(_HandleType)
def _read_attribute(context: Any, builder: Any, handle: Any, pointer: Any, name: str) -> Any:
    """Read a field where it lies; a tuple within the tuple is not read but pointed to."""
    index = handle.fields.fields.index(name)
    field = handle.fields.types[index]
    layout = context.get_value_type(handle.fields)
    place = cgutils.gep_inbounds(builder, builder.bitcast(pointer, layout.as_pointer()), 0, index)
    if isinstance(field, types.BaseNamedTuple):
        return builder.bitcast(place, context.get_value_type(_HandleType(field)))
    return _load_invariant(builder, place)


def _load_invariant(builder: Any, place: Any) -> Any:
    """Load what stands at ``place`` as something that no store ever changes.

    LLVM cannot know that the tables do not lie over the handle itself; the promise spares
    it reading a table's address and shape again after every store (no gain that could be measured:
    they are in the nearest cache).
    """
    value = builder.load(place)
    value.set_metadata("invariant.load", builder.module.add_metadata([]))
    return value


@typeof_impl.register(Handle)
def _type_of_handle(handle: Handle, _context: Any) -> Any:
    return handle.numba_type


@unbox(_HandleType)
def _unbox_handle(handle_type: Any, handle: Any, c: Any) -> Any:
    address = c.pyapi.object_getattr_string(handle, "address")
    number = c.pyapi.long_as_ulonglong(address)
    c.pyapi.decref(address)
    return NativeValue(c.builder.inttoptr(number, c.context.get_value_type(handle_type)))


@intrinsic
def _store(_typing: Any, fields: Any, _address: Any) -> Any:
    """Write a tuple to an address."""

    def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        value, address = arguments
        builder.store(value, builder.inttoptr(address, value.type.as_pointer()))
        return context.get_dummy_value()

    return types.none(fields, types.uint64), generate


@intrinsic
def _bytes_of(_typing: Any, fields: Any) -> Any:
    """Return how many bytes a tuple takes."""

    def generate(context: Any, _builder: Any, _signature: Any, arguments: Any) -> Any:
        return context.get_constant(types.int64, context.get_abi_sizeof(arguments[0].type))

    return types.int64(fields), generate


@njit
def _size_of(fields: Any) -> int:
    return _bytes_of(fields)


@njit
def _lay_out(fields: Any, address: Any) -> None:
    _store(fields, address)
