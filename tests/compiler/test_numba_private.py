"""Compilation stands on parts of Numba that are nobody's interface: are they there?

If one of these fails, Numba has another version than ``sim/compiler/translate.py`` and
``sim/compiler/layouts.py`` were written for. Look at what changed in the part that is named, run
tests/compiler and ``make bench`` (speed and compile time depend on it), and move the bounds of
``numba`` in setup.cfg.
"""

from __future__ import annotations

import inspect

import numba
import pytest
from numba.core import base, cgutils, types
from numba.core.codegen import AOTCodeLibrary, AOTCPUCodegen
from numba.core.funcdesc import default_mangler
from numba.core.registry import cpu_target
from numba.core.typed_passes import BaseNativeLowering
from numba.core.typing.templates import AttributeTemplate, make_concrete_template
from numba.extending import models

TESTED = (0, 68)
"""The version of Numba, without the last number, with which all this has been tested."""


def parameters(function: object) -> list[str]:
    return list(inspect.signature(function).parameters)  # type: ignore[arg-type]


def test_this_version_was_tested() -> None:
    assert tuple(map(int, numba.__version__.split(".")[:2])) == TESTED, __doc__


def test_a_library_is_finished_in_steps_of_these_names() -> None:
    for step in ("_optimize_final_module", "_ensure_finalized"):
        assert callable(getattr(AOTCodeLibrary, step)), __doc__
    source = inspect.getsource(BaseNativeLowering.run_pass)
    assert "get_executable(library, fndesc, env)" in source, __doc__


def test_a_context_has_one_code_generator_and_names_functions() -> None:
    context = cpu_target.target_context
    assert "_internal_codegen" in vars(context), __doc__
    assert AOTCPUCodegen._library_class is AOTCodeLibrary
    assert parameters(AOTCPUCodegen) == ["module_name", "cpu_name"], __doc__
    named = ["name", "types", "abi_tags", "uid"]
    assert parameters(base.BaseContext.mangler) == ["self", *named], __doc__
    assert parameters(default_mangler) == ["name", "argtypes", *named[2:]], __doc__


def test_a_function_may_be_declared_by_its_signature() -> None:
    context = cpu_target.target_context
    assert parameters(context.insert_func_defn) == ["defns"], __doc__
    assert parameters(make_concrete_template) == ["name", "key", "signatures"], __doc__
    assert callable(cgutils.get_or_insert_function)
    for step in ("get_function_type", "call_function", "return_status_propagate"):
        assert callable(getattr(context.call_conv, step)), __doc__


@pytest.mark.parametrize("option", ["_nrt", "no_cfunc_wrapper", "no_cpython_wrapper"])
def test_options_of_compilation_are_known(option: str) -> None:
    known = vars(cpu_target.options)
    assert option in known or any(option in vars(parent) for parent in cpu_target.options.__mro__)


def test_a_component_is_a_pointer_with_attributes() -> None:
    assert issubclass(models.OpaqueModel, models.DataModel)
    assert hasattr(AttributeTemplate, "generic_resolve"), __doc__


def test_an_array_is_these_words_in_memory() -> None:
    """``component._words_of`` writes them, for compiled code to read as an array."""
    model = numba.core.datamodel.default_manager.lookup(types.Array(types.int64, 2, "C"))
    assert model._fields == ("meminfo", "parent", "nitems", "itemsize", "data", "shape", "strides")
