"""Machine code in memory: where a symbol of a core is."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeAlias

Addresses: TypeAlias = Callable[[str], int]
"""The address of a symbol."""

LINKED = ".so"
"""Suffix of a core that is a shared library."""

UNLINKED = ".objects"
"""Suffix of a core that is only a list of files with object code, one a line."""

_in_memory: list[Any] = []  # the code goes with what linked it


def load(core: Path, symbols: Iterable[str]) -> Addresses:
    """Load a core, of which some symbols are wanted.

    Raises
    ------
    OSError
        If the file, or one that it lists, is not there or is none.
    """
    if core.suffix == UNLINKED:
        try:
            return _link_in_memory(listed(core), symbols)
        except (RuntimeError, ValueError) as error:  # as LLVM and the codec of texts put it
            raise OSError(str(error)) from error
    library = ctypes.CDLL(str(core))
    return lambda symbol: ctypes.cast(library[symbol], ctypes.c_void_p).value or 0


def listed(core: Path) -> list[Path]:
    """Return the files with object code that a core lists; none of one that is a library.

    Raises
    ------
    OSError, ValueError
        If it cannot be read.
    """
    if core.suffix != UNLINKED:
        return []
    return [Path(line) for line in core.read_text(encoding="utf-8").splitlines()]


def _link_in_memory(files: Iterable[Path], symbols: Iterable[str]) -> Addresses:
    """Link object code, where there is no C compiler to make a library of it: by LLVM."""
    import llvmlite.binding as llvm  # takes longer than all else that a loaded core needs

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    linker: Any = llvm.JITLibraryBuilder().add_current_process()
    for file in files:
        linker = linker.add_object_img(file.read_bytes())
    for symbol in symbols:
        linker = linker.export_symbol(symbol)
    session = llvm.create_lljit_compiler()
    linked: Any = linker.link(session, "core")
    _in_memory.append((session, linked))
    return lambda symbol: int(linked[symbol])
