"""The compiled core: which one belongs to these sources, where it is, and how entries get to it.

A core is a shared library with the machine code of the entries and of all that they call. Its name
is a key over the sources that may have a part in it, the layouts of the components and the kind of
processors. So it is found wherever the checkout is: in the installed package, or in the user's
cache, where it is put when it has been made. Numba is needed for that alone.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import pickle
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from xc40io.compiler.loading import LINKED, UNLINKED, listed, load
from xc40io.compiler.processor import processor
from xc40io.compiler.signature import Layouts, layouts_of
from xc40io.config.errors import FailureError
from xc40io.config.extras import need
from xc40io.engine.compiled import Entry, is_compiling
from xc40io.engine.component import Component
from xc40io.engine.user_cache import forget_old, is_there, user_cache

SHIPPED = Path(__file__).resolve().parent / "built"
"""Where an installed package has its core."""

_SIM = Path(__file__).resolve().parents[1]
_DOOR = b"from xc40io.engine.compiled import"
_BUILD = "import sys; sys.path[:] = {path!r}; from xc40io.compiler.build import main; main()"
_ROOM = 64 << 20  # bytes that all objects and a core or two take

UNWRITABLE = 74
"""Exit status of the process that makes a core if it cannot write (``EX_IOERR``)."""

_bound: dict[str, str] = {}  # by symbol of an entry: the key of its core


class Job(NamedTuple):
    """A core that is to be made.

    ``entries`` are modules and names; ``library`` is the file to be made, ``objects`` the folder
    that keeps the machine code of single functions.
    """

    entries: list[tuple[str, str]]
    layouts: Layouts
    processor: str
    objects: Path
    library: Path


class NoCoreError(FailureError):
    """The core could not be made."""


class _UnwritableError(NoCoreError):
    """The system refuses to write where the core was to be."""

    def __init__(self, folder: str | Path, reason: str) -> None:
        super().__init__(
            f"the data plane could not be compiled: nothing can be written in {folder} ({reason}); "
            "TMPDIR names another place"
        )
        self.reason = reason


def prepare(entries: Sequence[Entry[..., Any]], *roots: Component) -> None:
    """Bind entries to their machine code; make it first if there is none for these sources.

    Parameters
    ----------
    entries
        What Python is about to call.
    roots
        Components that with those they use are all that the entries touch.

    Raises
    ------
    NoCoreError
        If the core could not be made.
    """
    if not is_compiling():
        return
    layouts = layouts_of(*roots)
    key = _key(entries, layouts)
    if all(_bound.get(entry.symbol) == key for entry in entries):
        return
    core = _kept(key) or _made(key, entries, layouts)
    symbols = [entry.symbol for entry in entries]
    try:
        addresses = load(core, symbols)
    except OSError:  # damaged, or of another system
        _forget(core)
        addresses = load(_made(key, entries, layouts), symbols)
    for entry in entries:
        entry.bind(addresses(entry.symbol))
        _bound[entry.symbol] = key


def core_of(symbol: str) -> Path:
    """Return the file of the core that an entry is bound to.

    Raises
    ------
    KeyError
        If it is bound to none.
    """
    core = _kept(_bound[symbol])
    if core is None:
        raise KeyError(symbol)
    return core


def _kept(key: str) -> Path | None:
    """Return the file of a core; None if there is none."""
    for folder in (SHIPPED, user_cache("compiled"), *_passing):
        core = _core_in(folder, key)
        if core is not None:
            return core
    return None


def _core_in(folder: Path, key: str) -> Path | None:
    """Return the file of a core in a folder; None if there is none."""
    files = (folder / f"{key}{suffix}" for suffix in (LINKED, UNLINKED))
    return next((file for file in files if is_there(file)), None)


def _forget(core: Path) -> None:
    """Remove a core that cannot be loaded, with the objects that it lists: one may be damaged."""
    with suppress(OSError):  # it may be that of an installed package
        for file in listed(core):
            file.unlink(missing_ok=True)
        core.unlink()


def _made(key: str, entries: Sequence[Entry[..., Any]], layouts: Layouts) -> Path:
    """Make a core; return its file.

    It is kept in the user's cache. Where that cannot be written, or becomes full meanwhile, it is
    in a folder of this process alone: a cache is a convenience, and no reason not to run.
    """
    named = [(entry.__module__, entry.__name__) for entry in entries]
    folder = _passing[0] if _passing else user_cache("compiled")
    try:
        return _made_in(folder, key, named, layouts)
    except _UnwritableError as error:
        if _passing:
            raise
        return _made_in(_passing_folder(folder, error.reason), key, named, layouts)


_passing: list[Path] = []
"""The folder for cores of this process alone, if it needed one."""


def _passing_folder(folder: Path, reason: str) -> Path:
    """Make a folder for this process alone, and tell why it is not the usual one."""
    print(
        f"xc40io: nothing can be kept in {folder} ({reason}): the data plane is compiled for this "
        "run alone; XDG_CACHE_HOME names another place",
        file=sys.stderr,
    )
    try:
        _passing.append(Path(tempfile.mkdtemp(prefix="xc40io-")))
    except OSError as error:
        reason = error.strerror or str(error)
        raise _UnwritableError("the folder for temporary files", reason) from error
    atexit.register(shutil.rmtree, _passing[0], ignore_errors=True)
    return _passing[0]


def _made_in(folder: Path, key: str, named: list[tuple[str, str]], layouts: Layouts) -> Path:
    """Make a core in a folder; return its file.

    Raises
    ------
    NoCoreError
        If it could not be made; ``_UnwritableError`` if nothing can be written there.
    """
    objects = folder / "objects"
    try:
        objects.mkdir(parents=True, exist_ok=True)
        if not os.access(folder, os.W_OK) or shutil.disk_usage(folder).free < _ROOM:
            raise _UnwritableError(folder, "it is full, or may not be written")
    except OSError as error:
        raise _UnwritableError(folder, error.strerror or str(error)) from error
    forget_old(folder)
    forget_old(objects)
    _make(Job(named, layouts, processor(), objects, folder / f"{key}{LINKED}"))
    core = _core_in(folder, key)
    if core is None:
        raise NoCoreError(f"the core {key} is gone as soon as it was made")
    return core


def _make(job: Job) -> None:
    """Make a core in a process of its own: the compiler changes Numba for the whole process."""
    need("compile", "compiling the data plane")
    command = [sys.executable, "-c", _BUILD.format(path=sys.path)]
    done = subprocess.run(command, input=pickle.dumps(job), check=False, stdout=subprocess.PIPE)
    if done.returncode == UNWRITABLE:
        raise _UnwritableError(job.library.parent, done.stdout.decode(errors="replace").strip())
    if done.returncode:
        raise NoCoreError(
            "the data plane could not be compiled; NUMBA_DISABLE_JIT=1 runs it without, slowly"
        )


def _key(entries: Sequence[Entry[..., Any]], layouts: Layouts) -> str:
    """Return what names the core of entries: all that may have a part in it."""
    digest = hashlib.sha256(processor().encode())
    digest.update(_sources())
    for entry in entries:
        digest.update(entry.symbol.encode())
        digest.update(_source_elsewhere(entry.function.__code__.co_filename))
    for name in sorted(map(str, layouts.values())):
        digest.update(name.encode())
    return digest.hexdigest()[:32]


@cache
def _source_elsewhere(file: str) -> bytes:
    """Return the source of an entry that is none of ours; nothing of one that is."""
    path = Path(file)
    return b"" if path.resolve().is_relative_to(_SIM) else path.read_bytes()


@cache
def _sources() -> bytes:
    """Hash all sources of ours that may have a part in machine code.

    Those are all modules of a package in which one has marked functions: compiled code has the
    constants of its neighbours frozen in.
    """
    digest = hashlib.sha256()
    for package in sorted(folder for folder in _SIM.iterdir() if folder.is_dir()):
        sources = {path: path.read_bytes() for path in sorted(package.rglob("*.py"))}
        if package.name in ("engine", "compiler") or any(_DOOR in one for one in sources.values()):
            for source, content in sources.items():
                digest.update(source.relative_to(_SIM).as_posix().encode())
                digest.update(content)
    return digest.digest()
