"""What compiled code does that has no form in Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from xc40io.engine.prefetch import prefetch
from xc40io.engine.types import CACHE_LINE

_ALL_LEVELS, _DATA, _TO_READ = 3, 1, 0  # what LLVM's prefetch takes


def _ask_for_row(_context: Any, table: Any, row: Any) -> Any:
    """Type and machine code of :func:`prefetch`."""

    def code(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        kind = signature.args[0]
        array = context.make_array(kind)(context, builder, given[0])
        number, byte = ir.IntType(32), ir.IntType(8).as_pointer()
        size = int(context.get_abi_sizeof(context.get_data_type(kind.dtype)))
        stride = builder.extract_value(array.strides, 0)
        index = context.cast(builder, given[1], signature.args[1], types.intp)
        first = builder.gep(builder.bitcast(array.data, byte), [builder.mul(index, stride)])
        ask = builder.module.declare_intrinsic(
            "llvm.prefetch", [byte], ir.FunctionType(ir.VoidType(), [byte, *[number] * 3])
        )
        for line in range(0, size, CACHE_LINE):
            place = builder.gep(first, [ir.IntType(64)(line)])
            builder.call(ask, [place, *map(number, (_TO_READ, _ALL_LEVELS, _DATA))])
        return context.get_dummy_value()

    return types.void(table, row), code


PRIMITIVES: dict[Callable[..., Any], Any] = {prefetch: intrinsic(_ask_for_row)}
"""By the function that stands for it in Python."""
