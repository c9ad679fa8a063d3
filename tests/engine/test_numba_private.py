"""Compilation and components stand on parts of Numba that are nobody's interface: are they there?

If one of these fails, Numba has another version than ``sim/engine/jit.py`` and
``sim/engine/component.py`` were written for. Look at what changed in the part that is named, run
tests/engine and ``make bench`` (speed and compile time depend on it), and move the bounds of
``numba`` in setup.cfg.
"""

from __future__ import annotations

import inspect
from typing import NamedTuple

import numba
import pytest
from numba.core import types
from numba.core.caching import CacheImpl, UserProvidedCacheLocator
from numba.core.codegen import CPUCodeLibrary, JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import PassManager
from numba.core.lowering import Lower
from numba.core.typed_passes import BaseNativeLowering, NativeLowering
from numba.core.typing.templates import AttributeTemplate
from numba.extending import models

from sim.engine.jit import is_compiling

TESTED = (0, 68)
"""The version of Numba, without the last number, with which all this has been tested."""


class Pair(NamedTuple):
    a: int
    b: float


compiled = pytest.mark.skipif(not is_compiling(), reason="nothing is compiled")


def test_this_version_was_tested() -> None:
    assert tuple(map(int, numba.__version__.split(".")[:2])) == TESTED, __doc__


def test_the_places_of_kept_code_are_asked_for_in_an_order_that_can_be_changed() -> None:
    locators = CacheImpl._locator_classes
    assert isinstance(locators, list), __doc__
    assert UserProvidedCacheLocator in locators, __doc__
    assert issubclass(locators[0], UserProvidedCacheLocator)  # ours, which jit.py put there
    asked = inspect.signature(UserProvidedCacheLocator.get_suitable_cache_subpath).parameters
    assert list(asked) == ["py_file"], __doc__


def test_a_compiler_may_replace_the_lowering_among_its_passes() -> None:
    assert callable(CompilerBase.define_pipelines)
    assert callable(DefaultPassBuilder.define_nopython_pipeline)
    assert callable(PassManager.finalize)
    assert issubclass(NativeLowering, BaseNativeLowering)
    assert isinstance(BaseNativeLowering.lowering_class, property), __doc__
    assert list(inspect.signature(Lower.setup_function).parameters) == ["self", "fndesc"], __doc__


@pytest.mark.parametrize(
    "step",
    [
        *("_optimize_final_module", "_finalize_final_module", "_finalize_dynamic_globals"),
        *("_verify_declare_only_symbols", "_ensure_finalized", "get_pointer_to_function"),
    ],
)
def test_a_library_is_finished_in_steps_of_these_names(step: str) -> None:
    assert issubclass(JITCodeLibrary, CPUCodeLibrary)
    assert callable(getattr(JITCodeLibrary, step)), __doc__


def test_lowering_takes_a_library_that_is_there_already() -> None:
    source = inspect.getsource(BaseNativeLowering.run_pass)
    assert "if state.library is None" in source, __doc__
    assert "get_executable(library, fndesc, env)" in source, __doc__


@compiled
@pytest.mark.parametrize("option", ["_nrt", "no_cfunc_wrapper", "no_cpython_wrapper"])
def test_options_of_compilation_are_known(option: str) -> None:
    function = numba.njit(**{option: option != "_nrt"})(lambda number: number + 1)
    function.compile("int64(int64)")  # raises if there is no such option


def test_a_component_is_a_pointer_with_attributes() -> None:
    assert issubclass(models.OpaqueModel, models.DataModel)
    assert hasattr(AttributeTemplate, "generic_resolve"), __doc__
    tuple_type = numba.typeof(Pair(1, 2.0))
    assert isinstance(tuple_type, types.BaseNamedTuple), __doc__
    assert tuple_type.fields == ("a", "b")
    assert tuple_type.types == (types.int64, types.float64)


def test_an_array_is_these_words_in_memory() -> None:
    """``component._words_of`` writes them, for compiled code to read as an array."""
    model = numba.core.datamodel.default_manager.lookup(types.Array(types.int64, 2, "C"))
    assert model._fields == ("meminfo", "parent", "nitems", "itemsize", "data", "shape", "strides")
