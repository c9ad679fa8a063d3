"""Numba as a translator: one outlined function in, object code out.

An object has its function, under the symbol that its callers know, and copies of the small helpers
that it calls. Other outlined functions are only declared in it, by their signatures, and the linker
finds them: so each function is translated once, and anew only if it has changed itself.

This changes Numba for the whole process, which should do nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from types import FunctionType
from typing import Any

import llvmlite.binding as llvm
import numba
from numba.core import cgutils, types
from numba.core.codegen import AOTCodeLibrary, AOTCPUCodegen
from numba.core.funcdesc import default_mangler
from numba.core.registry import cpu_target
from numba.core.typing.templates import make_concrete_template, signature
from numba.extending import typeof_impl
from numba.np import arrayobj

from xc40io.compiler.convention import Convention
from xc40io.compiler.layouts import numba_type
from xc40io.compiler.primitives import PRIMITIVES
from xc40io.compiler.processor import target_of
from xc40io.compiler.signature import Signature
from xc40io.engine.compiled import How, how_compiled, symbol_of

_OPTIONS: dict[str, Any] = {
    "error_model": "numpy",  # IEEE division
    "_nrt": False,  # functions only borrow the arrays of their caller, and make none
    "no_cfunc_wrapper": True,
    "no_cpython_wrapper": True,
}


class _Library(AOTCodeLibrary):
    """The code of one function as Numba keeps it, to be linked into the object of a caller.

    Numba would optimise it and make machine code of it, for each helper anew. Only a whole object
    is worth that.
    """

    def _optimize_final_module(self) -> None:
        """Leave it to the object."""

    def get_pointer_to_function(self, name: str) -> int:  # noqa: ARG002
        """Link in what the function calls; return that there is no machine code in memory."""
        self._ensure_finalized()
        return 0


class _Target(AOTCPUCodegen):
    """Makes code for other processes, that is position-independent and for a kind of processors."""

    _library_class = _Library

    def __init__(self, processor: str) -> None:
        machines, model = target_of(processor)
        super().__init__("xc40io", "" if machines else model)
        if machines:
            llvm.initialize_all_targets()
            llvm.initialize_all_asmprinters()
            target: Any = llvm.Target.from_triple(machines)
            options = {"opt": 3, "reloc": "pic", "codemodel": "default"}
            self._tm = target.create_target_machine(cpu=model, **options)
            self._data_layout = str(self._tm.target_data)

    def set_env(self, name: str, environment: object) -> None:
        """Set nothing: a function that is not in memory has no environment."""


class Translator:
    """Translates outlined functions, which call each other, into object code.

    ``processor`` is one of ``KINDS``; empty for any of this architecture.
    """

    def __init__(self, functions: dict[Callable[..., Any], Signature], processor: str) -> None:
        self._signatures = {function: _numba_signature(one) for function, one in functions.items()}
        self._symbols = {
            f"{function.__module__}.{function.__name__}": symbol_of(function)
            for function in functions
        }
        self._types: dict[Callable[..., Any], types.Type] = {}
        self._helpers: list[Any] = []  # their types do not keep them
        self._context: Any = cpu_target.target_context
        self._target = self._context._internal_codegen = _Target(processor)
        self._context.mangler = self._mangled
        typeof_impl.register(FunctionType)(self._type_of)
        arrayobj.fix_integer_index = _index
        type(self._context).call_conv = property(Convention)

    def translate(self, function: Callable[..., Any], *, exported: bool) -> bytes:
        """Return the object code of a function; only an ``exported`` one is seen from outside."""
        wanted = self._signatures[function]
        dispatcher = numba.njit(**_OPTIONS)(function)
        dispatcher.compile(wanted)
        module = dispatcher.overloads[wanted.args].library._final_module
        _hide(module, self._symbols.values(), symbol_of(function) if exported else "")
        target: Any = self._target._tm
        module.triple = target.triple
        options = llvm.create_pipeline_tuning_options(speed_level=3)
        options.loop_vectorization = True
        passes = llvm.create_pass_builder(target, options)
        passes.getModulePassManager().run(module, passes)
        code: bytes = target.emit_object(module)
        return code

    def _mangled(
        self, name: str, kinds: Any, *, abi_tags: Collection[str] = (), uid: Any = None
    ) -> str:
        """Return a function's symbol: an outlined one has the name that its callers know."""
        if name in self._symbols:
            return self._symbols[name]
        mangled: str = default_mangler(name, kinds, abi_tags=abi_tags, uid=uid)
        return mangled

    def _type_of(self, function: Callable[..., Any], _context: Any) -> Any:
        """Return the type of a marked function as compiled code sees it; None of another one."""
        if function not in self._types:
            how = how_compiled(function)
            if how is None:
                return None
            if how is How.OUTLINED:
                self._types[function] = self._declare(function)
            elif how is How.PRIMITIVE:
                typing: Any = cpu_target.typing_context
                self._types[function] = typing.resolve_value_type(PRIMITIVES[function])
            else:
                inline = how is How.INLINED
                dispatcher = numba.njit(forceinline=inline, **_OPTIONS)(function)
                self._helpers.append(dispatcher)
                self._types[function] = types.Dispatcher(dispatcher)
        return self._types[function]

    def _declare(self, function: Callable[..., Any]) -> types.Type:
        """Have calls of an outlined function go to its symbol."""
        takes = self._signatures[function].args
        symbol = symbol_of(function)

        def call(context: Any, builder: Any, signed: Any, arguments: Any) -> Any:
            kind = context.call_conv.get_function_type(signed.return_type, signed.args)
            called = cgutils.get_or_insert_function(builder.module, kind, symbol)
            status, answer = context.call_conv.call_function(
                builder, called, signed.return_type, signed.args, arguments
            )
            with cgutils.if_unlikely(builder, status.is_error):
                context.call_conv.return_status_propagate(builder, status)
            return answer

        self._context.insert_func_defn([(call, function, takes)])
        template = make_concrete_template(symbol, function, [self._signatures[function]])
        return types.Function(template)


def _index(context: Any, builder: Any, kind: Any, number: Any, _size: Any) -> Any:
    """Return an index as it is: nobody counts from the end of a table.

    Numba would compare each with 0, and add the length of the table to those below.
    """
    return context.cast(builder, number, kind, types.intp)


def _numba_signature(one: Signature) -> Any:
    returns = [numba_type(kind) for kind in one.returns]
    returned = types.Tuple(returns) if len(returns) > 1 else [*returns, types.none][0]
    return signature(returned, *map(numba_type, one.takes))


def _hide(module: Any, symbols: Collection[str], exported: str) -> None:
    """Keep all of a module to itself but the outlined functions, and these within the library."""
    for function in module.functions:
        if function.name in symbols:
            if function.name != exported:
                function.visibility = "hidden"
        elif not function.is_declaration:
            function.linkage = "internal"
    for variable in module.global_variables:
        if not variable.is_declaration:
            variable.linkage = "internal"
