"""One door to Numba: what is compiled, where its machine code is kept, and what the user is told.

Numba keys its disk cache by the file of a function alone and does not notice a change in a compiled
function of *another* file. The cache folder is therefore named by a hash over the sources of all
compiled packages, so that code of two versions never meets. ``NUMBA_CACHE_DIR`` moves the folder;
``NUMBA_DISABLE_JIT=1`` runs the very same functions as plain Python, for debuggers and lessons.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba

_COMPILED_PACKAGES = ("engine", "lustre")
_KEPT_VERSIONS = 3
_MARKER = "compiled"

_config: Any = numba.config
Function = TypeVar("Function", bound=Callable[..., Any])


def _source_hash() -> str:
    """Hash of every source file that may hold compiled code, and of Numba's version."""
    digest = hashlib.sha256(numba.__version__.encode())
    root = Path(__file__).resolve().parent.parent
    for package in _COMPILED_PACKAGES:
        for source in sorted((root / package).rglob("*.py")):
            digest.update(source.name.encode())
            digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


def _user_cache_folder() -> Path:
    """Where compiled code goes unless ``NUMBA_CACHE_DIR`` says otherwise."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "xc40io" / "compiled"


def _prune(parent: Path) -> None:
    """Remove the caches of older versions, keeping the newest few."""
    folders = sorted(parent.iterdir(), key=lambda folder: folder.stat().st_mtime, reverse=True)
    for folder in folders[_KEPT_VERSIONS:]:
        shutil.rmtree(folder, ignore_errors=True)


def _prepare_cache() -> Path:
    """Point Numba at the cache folder of this version of the sources; make it if needed."""
    given = os.environ.get("NUMBA_CACHE_DIR")
    parent = Path(given) if given else _user_cache_folder()
    folder = parent / _source_hash()
    if not folder.is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        if not given:
            _prune(parent)
    _config.CACHE_DIR = str(folder)
    return folder


_CACHE = _prepare_cache()


def njit(function: Function) -> Function:
    """Compile ``function`` for the data plane: cached on disk, IEEE division, no Python objects.

    Compiled functions only borrow the arrays of their caller and make none, so Numba's reference
    counting is off; and they are inlined into the loop, because a tuple of tables is long to pass.
    Without these two an event costs 2.3 and 1.7 times as much (measured).
    """
    options: dict[str, Any] = {
        "cache": True,
        "error_model": "numpy",
        "forceinline": True,
        "_nrt": False,
    }
    compiled: Function = numba.njit(**options)(function)
    return compiled


def announce_compilation() -> None:
    """Tell the user on standard error that the first run of a version compiles the data plane."""
    if _config.DISABLE_JIT or (_CACHE / _MARKER).exists():
        return
    print(
        "xc40io: compiling the data plane, once per version (about half a minute) ...",
        file=sys.stderr,
        flush=True,
    )


def compilation_done() -> None:
    """Remember that the data plane of this version has been compiled."""
    if not _config.DISABLE_JIT:
        (_CACHE / _MARKER).touch()
