"""Machine code in memory: where a symbol of a core is."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeAlias

from xc40io.compiler.code_files import UNLINKED, Code, read_code

Addresses: TypeAlias = Callable[[str], int]
"""The address of a symbol."""

_in_memory: list[Any] = []  # the code goes with what linked it


def load(core: Code, symbols: Iterable[str]) -> Addresses:
    """Load a core, of which some symbols are wanted.

    Raises
    ------
    OSError
        If it is for another system, or a file that it lists is not there or is refused.
    """
    if core.path.suffix == UNLINKED:
        try:
            return _link_in_memory([read_code(file) for file in listed(core)], symbols)
        except (RuntimeError, ValueError) as error:  # as LLVM and the codec of texts put it
            raise OSError(str(error)) from error
    library = _library(core)
    return lambda symbol: ctypes.cast(library[symbol], ctypes.c_void_p).value or 0


def _library(core: Code) -> ctypes.CDLL:
    """Load a shared library from the bytes that were checked: a copy that nobody else writes to.

    Where the system has no files in memory, or runs none, it is loaded from the file itself.
    """
    try:
        handle = os.memfd_create(core.path.name)  # never closed: loaded libraries are known by name
        with open(handle, "wb", closefd=False) as file:
            file.write(core.content)
        return ctypes.CDLL(f"/proc/self/fd/{handle}")
    except (AttributeError, OSError):
        return ctypes.CDLL(str(core.path))


def listed(core: Code) -> list[Path]:
    """Return the files with object code that a core lists; none of one that is a library."""
    if core.path.suffix != UNLINKED:
        return []
    return [Path(line) for line in core.content.decode().splitlines()]


def _link_in_memory(objects: Iterable[Code], symbols: Iterable[str]) -> Addresses:
    """Link object code, where there is no C compiler to make a library of it: by LLVM."""
    import llvmlite.binding as llvm  # takes longer than all else that a loaded core needs

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    linker: Any = llvm.JITLibraryBuilder().add_current_process()
    for one in objects:
        linker = linker.add_object_img(one.content)
    for symbol in symbols:
        linker = linker.export_symbol(symbol)
    session = llvm.create_lljit_compiler()
    linked: Any = linker.link(session, "core")
    _in_memory.append((session, linked))
    return lambda symbol: int(linked[symbol])
