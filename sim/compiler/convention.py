"""How compiled functions call each other: they return in registers, with whether they failed.

Numba's own convention is made for functions that Python calls: the caller gives the places for what
is returned and for the text of an error, and clears both before. Here an error has no text: a
function that fails says so by a number other than 0, and so do all that have called it
(:class:`~xc40io.engine.compiled.Entry` raises what is meant).
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core.callconv import BaseCallConv, Status

_CODE = ir.IntType(32)
_DONE, _FAILED = _CODE(0), _CODE(1)


class Convention(BaseCallConv):
    """Functions return a pair: what they return, and 0, or 1 if they failed."""

    def _make_call_helper(self, _builder: Any) -> None:
        """Return nothing: errors are not collected."""

    def get_function_type(self, returns: Any, takes: Any) -> Any:
        """Return the type of a function in LLVM."""
        answer = self.context.data_model_manager[returns].get_return_type()
        given = self.context.get_arg_packer(takes).argument_types
        return ir.FunctionType(ir.LiteralStructType([answer, _CODE]), list(given))

    def decorate_function(self, function: Any, names: Any, takes: Any, **_promises: Any) -> None:
        """Name the arguments of a function."""
        arguments = [f"arg.{name}" for name in names]
        self.context.get_arg_packer(takes).assign_names(self.get_arguments(function), arguments)

    def get_arguments(self, function: Any) -> Any:
        """Return the arguments of a function that its caller in Python knows."""
        return function.args

    def return_value(self, builder: Any, value: Any) -> None:
        """Return a value."""
        self._return(builder, _DONE, value)

    def return_user_exc(self, builder: Any, *_error: Any, **_place: Any) -> None:
        """Return that an error was raised."""
        self._return(builder, _FAILED)

    def return_status_propagate(self, builder: Any, status: Any) -> None:
        """Return what a called function has returned that failed."""
        self._return(builder, status.code)

    def raise_error(self, *_error: Any) -> None:
        """Raise nothing: this is for callers in Python, which Numba writes for its own helpers."""

    @staticmethod
    def _return(builder: Any, code: Any, value: Any = None) -> None:
        pair = ir.Constant(builder.function.function_type.return_type, ir.Undefined)
        if value is not None:
            pair = builder.insert_value(pair, value, 0)
        builder.ret(builder.insert_value(pair, code, 1))

    def call_function(
        self, builder: Any, called: Any, returns: Any, takes: Any, given: Any, attrs: Any = None
    ) -> tuple[Any, Any]:
        """Call a function; return how it ended, and what it returned."""
        arguments = self.context.get_arg_packer(takes).as_arguments(builder, given)
        pair = builder.call(called, arguments, attrs=attrs or ())
        code = builder.extract_value(pair, 1)
        failed = builder.icmp_signed("!=", code, _DONE)
        never = ir.IntType(1)(0)
        status = Status(
            code=code,
            is_ok=builder.not_(failed),
            is_none=never,
            is_error=failed,
            is_stop_iteration=never,
            is_python_exc=never,
            is_user_exc=failed,
            excinfoptr=None,
        )
        answer = builder.extract_value(pair, 0)
        return status, self.context.get_returned_value(builder, returns, answer)
