"""One door to Numba: what is compiled, where its machine code is kept, and what the user is told.

Numba keys its disk cache by the file of a function alone and does not notice a change in a compiled
function of *another* file. The cache folder is therefore named by a hash over the sources of all
compiled packages, so that code of two versions never meets. ``NUMBA_CACHE_DIR`` moves the folder;
``NUMBA_DISABLE_JIT=1`` runs the very same functions as plain Python, for debuggers and lessons.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core.caching import CacheImpl, UserProvidedCacheLocator
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.lowering import Lower
from numba.core.typed_passes import BaseNativeLowering, NativeLowering

from sim.engine.user_cache import forget_old, user_cache

_MARKER = "compiled"

_HERE = Path(__file__).resolve().parent
_ROOT = _HERE.parent
_DOOR = b"from sim.engine.jit import"
_config: Any = numba.config
_OPTIONS: dict[str, Any] = {
    "cache": True,
    "error_model": "numpy",
    "_nrt": False,
    "no_cfunc_wrapper": True,
}
Function = TypeVar("Function", bound=Callable[..., Any])


def _source_hash() -> str:
    """Hash of every source file that may have a part in compiled code, and of Numba's version.

    Those are all modules of a package in which one names this one: compiled code has the constants
    of its neighbours frozen in.
    """
    digest = hashlib.sha256(numba.__version__.encode())
    for package in sorted(folder for folder in _ROOT.iterdir() if folder.is_dir()):
        sources = {path: path.read_bytes() for path in sorted(package.rglob("*.py"))}
        if package == _HERE or any(_DOOR in content for content in sources.values()):
            for path, content in sources.items():
                digest.update(path.relative_to(_ROOT).as_posix().encode())
                digest.update(content)
    return digest.hexdigest()[:16]


def _prepare_cache() -> Path:
    """Point Numba at the cache folder of this version of the sources; make it if needed."""
    given = os.environ.get("NUMBA_CACHE_DIR")
    parent = Path(given) if given else user_cache("compiled")
    folder = parent / _source_hash()
    if not folder.is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        if not given:
            forget_old(parent)
    _config.CACHE_DIR = str(folder)
    return folder


class _ContentLocator(UserProvidedCacheLocator):
    """Finds kept machine code by the module it belongs to, wherever the checkout is.

    Numba's own locators name the folder of a module by a hash of its absolute path, so that a
    second checkout of the same sources would compile all of them again. That the content is the
    same is checked by Numba itself, and by the name of the cache folder.
    """

    @classmethod
    def get_suitable_cache_subpath(cls, py_file: str) -> str:
        """Return the folder of a module's code below the cache folder of this version."""
        folder = Path(py_file).resolve().parent
        return "_".join(folder.relative_to(_ROOT).parts) if folder.is_relative_to(_ROOT) else "_"


_CACHE = _prepare_cache()
CacheImpl._locator_classes.insert(0, _ContentLocator)
_announced = False
_done = False


class _OutlinedLower(Lower):
    """Translates a function into one that stays a function in the code of its callers."""

    def setup_function(self, fndesc: Any) -> None:
        """Begin the function, and tell LLVM never to copy it into a caller."""
        super().setup_function(fndesc)
        self.function.attributes.add("noinline")


class _NoEnvironments:
    """A code generator as an inner library shows it to Numba: nobody runs what it has made."""

    def __init__(self, codegen: Any) -> None:
        self._codegen = codegen

    def __getattr__(self, name: str) -> Any:
        return getattr(self._codegen, name)

    def set_env(self, name: str, environment: Any) -> None:
        """Set nothing: the environment of a function that is not in memory."""


class _InnerLibrary(JITCodeLibrary):
    """The code of a function that compiled code alone calls: only what its callers link in.

    Numba would link all that the function calls into its module, optimise the whole and make
    machine code of it, for each function anew. Only the module of an entry point is worth that.
    """

    @property
    def codegen(self) -> Any:
        """What has made the library."""
        return _NoEnvironments(self._codegen)

    def _optimize_final_module(self) -> None:
        """Leave it to the module of the entry point."""

    def _finalize_final_module(self) -> None:
        """Make the module ready to be linked into another; nobody runs it by itself."""
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:  # noqa: ARG002
        """Return that there is no machine code."""
        self._ensure_finalized()
        return 0


@register_pass(mutates_CFG=True, analysis_only=False)
class _OutlinedLowering(BaseNativeLowering):
    _name = "outlined_native_lowering"

    @property
    def lowering_class(self) -> type[Lower]:
        return _OutlinedLower

    def run_pass(self, state: Any) -> bool:
        """Translate the function into a library of its own kind."""
        name = state.func_id.func_qualname
        state.library = _InnerLibrary(state.targetctx.codegen(), name)
        state.library.enable_object_caching()
        return super().run_pass(state)


class _OutlinedCompiler(CompilerBase):
    """Numba's compiler with this lowering in place of its own."""

    def define_pipelines(self) -> list[PassManager]:
        """Return the passes of the compiler."""
        manager = DefaultPassBuilder.define_nopython_pipeline(self.state)
        manager.passes = [
            (_OutlinedLowering if one is NativeLowering else one, text)
            for one, text in manager.passes
        ]
        manager.finalize()
        return [manager]


def njit(function: Function) -> Function:
    """Compile ``function`` for the data plane: cached on disk, IEEE division, no Python objects.

    Compiled functions only borrow the arrays of their caller and make none, so Numba's reference
    counting is off: it would cost more than the events themselves (2.3 times, measured).
    """
    return _compiled(function)


def outlined(function: Function) -> Function:
    """Compile as :func:`njit` does, as a function of its own that compiled code alone calls.

    For what a component does. Where it is copied into its callers, and with them into theirs, it is
    optimised anew in all of them: compiling takes ten minutes in place of two.
    """
    return _compiled(
        function, cache=False, no_cpython_wrapper=True, pipeline_class=_OutlinedCompiler
    )


def entry(function: Function) -> Function:
    """Compile as :func:`outlined` does, to be called from Python."""
    return _compiled(function)


def generated(function: Function) -> Function:
    """Compile as :func:`outlined` does, for a function that has no source file of its own.

    Its machine code is kept with that of the function that calls it.
    """
    return _compiled(
        function, cache=False, no_cpython_wrapper=True, pipeline_class=_OutlinedCompiler
    )


def inlined(function: Function) -> Function:
    """Compile as :func:`njit` does, into each caller: for what happens at every hop.

    Makes the loop about 15 % faster, and compiling a third slower: for small functions only.
    """
    return _compiled(function, forceinline=True)


def _compiled(function: Function, *, forceinline: bool = False, **options: Any) -> Function:
    # Said in any case: a function inherits it from the one that has it compiled.
    compiled: Function = numba.njit(forceinline=forceinline, **(_OPTIONS | options))(function)
    return compiled


def is_compiling() -> bool:
    """Tell whether functions are compiled at all; not with ``NUMBA_DISABLE_JIT=1``."""
    return not _config.DISABLE_JIT


def announce_compilation() -> None:
    """Tell the user on standard error that the first run of a version compiles the data plane."""
    global _announced
    if _announced or _config.DISABLE_JIT or (_CACHE / _MARKER).exists():
        return
    _announced = True
    print(
        "xc40io: compiling the data plane, once per version (a minute or two) ...",
        file=sys.stderr,
        flush=True,
    )


def compilation_done() -> None:
    """Remember that the data plane of this version has been compiled."""
    global _done
    if not (_done or _config.DISABLE_JIT):
        _done = True
        _CACHE.mkdir(parents=True, exist_ok=True)
        (_CACHE / _MARKER).touch()
