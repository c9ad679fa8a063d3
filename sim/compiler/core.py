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
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from xc40io.archive.file_lock import locked
from xc40io.archive.user_cache import forget_old, remove, user_cache, whose
from xc40io.compiler.code_files import LINKED, UNLINKED, Code, CodeFolder, RefusedError
from xc40io.compiler.loading import Addresses, listed, load
from xc40io.compiler.processor import foreign, processor
from xc40io.compiler.signature import Layouts, layouts_of
from xc40io.config.errors import FailureError
from xc40io.config.extras import need
from xc40io.engine.compiled import Entry, is_compiling
from xc40io.engine.component import Component, Layout

SHIPPED = Path(__file__).resolve().parent / "built"
"""Where an installed package has its core."""

_SIM = Path(__file__).resolve().parents[1]
_DOOR = b"from xc40io.engine.compiled import"
_BUILD = "import sys; sys.path[:] = {path!r}; from xc40io.compiler.build import main; main()"
_ROOM = 64 << 20  # bytes that all objects and a core or two take
_WAIT = "xc40io: another process is compiling the data plane: waiting for it"

UNWRITABLE = 74
"""Exit status of the process that makes a core if it cannot write (``EX_IOERR``)."""

_bound: dict[str, tuple[str, Path]] = {}  # by symbol of an entry: key and file of its core
_useless: set[Path] = set()  # files of cores that are whole, and still cannot be loaded


class Job(NamedTuple):
    """A core that is to be made.

    ``entries`` are modules and names; the core is to be in ``folder``, under ``key``, the machine
    code of single functions in ``objects`` there.
    """

    entries: list[tuple[str, str]]
    layouts: Layouts
    processor: str
    folder: Path
    key: str

    @property
    def objects(self) -> Path:
        """Where the machine code of single functions is kept."""
        return self.folder / "objects"


class NoCoreError(FailureError):
    """The core could not be made."""


class ElsewhereError(NoCoreError):
    """The core that was asked for is for machines of another architecture."""

    def __init__(self, core: Path) -> None:
        super().__init__(
            f"XC40IO_PROCESSOR={processor()} is for other machines; right would be to run "
            "without it (xc40io compile makes their machine code here)"
        )
        self.core = core


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
        If the core could not be made; ``ElsewhereError`` if it was made, but is for other machines.
    """
    if not is_compiling():
        return
    key = _key(processor(), tuple(entries), tuple(root.layout for root in roots))
    if all(_bound.get(entry.symbol, ("",))[0] == key for entry in entries):
        return
    layouts = layouts_of(*roots)
    core = _kept(key) or _made(key, entries, layouts)
    if foreign(processor()):
        raise ElsewhereError(core.path)
    symbols = [entry.symbol for entry in entries]
    try:
        addresses = load(core, symbols)
    except OSError as error:  # of another system, or what it lists is damaged
        _forget(core, str(error))
        core = _made(key, entries, layouts)
        addresses = _loaded_anew(core, symbols)
    for entry in entries:
        entry.bind(addresses(entry.symbol))
        _bound[entry.symbol] = key, core.path


def _loaded_anew(core: Code, symbols: Sequence[str]) -> Addresses:
    """Load a core that has just been made."""
    try:
        return load(core, symbols)
    except OSError as error:
        raise NoCoreError(f"the data plane was compiled, but cannot be loaded: {error}") from error


def core_of(symbol: str) -> Path:
    """Return the file of the core that an entry is bound to.

    Raises
    ------
    KeyError
        If it is bound to none.
    """
    return _bound[symbol][1]


def _kept(key: str, *, tell: bool = False) -> Code | None:
    """Return a core that is kept; None if there is none, or what is there is refused."""
    for folder in (SHIPPED, user_cache("compiled"), *_passing):
        code = _core_in(folder, key, tell=tell)
        if code is not None:
            return code
    return None


def _core_in(folder: Path, key: str, *, tell: bool = False) -> Code | None:
    """Return the core that a folder has; None if it has none that is what its name says.

    The user is told of one that is refused if ``tell``; it gives place to one that is made.
    """
    files = CodeFolder(folder, shared=folder == SHIPPED)
    for path in files.files(key, (LINKED, UNLINKED)):
        try:
            if path not in _useless:
                return files.read(path)
        except RefusedError as error:
            if tell:
                _forget_file(path, str(error))
    return None


def _forget_file(path: Path, reason: str) -> None:
    """Remove a file that is of no use, and tell why the data plane is made anew."""
    print(f"xc40io: {reason}: the data plane is compiled anew", file=sys.stderr)
    try:
        remove(path)
    except OSError:  # it may be that of an installed package
        _useless.add(path)


def _forget(core: Code, reason: str) -> None:
    """Remove a core that cannot be loaded, with the objects that it lists: one may be damaged."""
    for file in listed(core):
        with suppress(OSError):
            remove(file)
    _forget_file(core.path, reason)


def _made(key: str, entries: Sequence[Entry[..., Any]], layouts: Layouts) -> Code:
    """Make a core, or get it from another process that makes it.

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


def _made_in(folder: Path, key: str, named: list[tuple[str, str]], layouts: Layouts) -> Code:
    """Make a core in a folder, unless another process has made it meanwhile.

    Raises
    ------
    NoCoreError
        If it could not be made; ``_UnwritableError`` if nothing can be written there.
    """
    job = Job(named, layouts, processor(), folder, key)
    try:
        for place in (folder, job.objects):
            _make_own(place)
        if not os.access(folder, os.W_OK) or shutil.disk_usage(folder).free < _ROOM:
            raise _UnwritableError(folder, "it is full, or may not be written")
    except OSError as error:
        raise _UnwritableError(folder, error.strerror or str(error)) from error
    with locked(folder / "lock", _WAIT):
        made = _kept(key, tell=True)
        if made is not None:
            return made
        forget_old(folder)
        forget_old(job.objects)
        _make(job)
    core = _core_in(folder, key)
    if core is None:
        raise NoCoreError(f"the core {key} is gone as soon as it was made")
    return core


def _make_own(folder: Path) -> None:
    """Make a folder into which nobody else writes; what others may have put there goes.

    Raises
    ------
    OSError
        If the system refuses; ``_UnwritableError`` if it is another user's, or stays open to all.
    """
    if not folder.is_dir() and not folder.is_symlink():
        folder.unlink(missing_ok=True)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = folder.stat()
    if whose(found) and found.st_uid == os.geteuid():
        folder.chmod(0o700)
        for path in folder.iterdir():
            remove(path)
        print(f"xc40io: {folder}: {whose(found)}: what was there is removed", file=sys.stderr)
    reason = whose(folder.stat())
    if reason:
        raise _UnwritableError(folder, reason)


def _make(job: Job) -> None:
    """Make a core in a process of its own: the compiler changes Numba for the whole process.

    It ends when its standard input does, so when this process ends, whatever ends it.
    """
    here = f"no machine code came along for this machine ({platform.machine()})"
    need("compile", f"{here}; compiling it takes minutes, and a C compiler (cc) to link it")
    command = [sys.executable, "-c", _BUILD.format(path=sys.path)]
    status, said = _answer(command, pickle.dumps(job))
    if status == UNWRITABLE:
        raise _UnwritableError(job.folder, said.decode(errors="replace").strip())
    if status:
        raise NoCoreError(
            "the data plane could not be compiled; NUMBA_DISABLE_JIT=1 runs it without, slowly"
        )


def _answer(command: list[str], given: bytes) -> tuple[int, bytes]:
    """Run a program that ends with its input; return its status, and what it printed.

    It is not interrupted itself: it would have to say so, as this process does.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # it inherits that
    try:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    with process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(given)
            process.stdin.flush()
            process.wait()
        except BrokenPipeError:  # it has ended, and its status tells
            pass
        finally:
            with suppress(BrokenPipeError):
                process.stdin.close()
            process.wait()
        return process.returncode, process.stdout.read()


@cache
def _key(kind: str, entries: tuple[Entry[..., Any], ...], roots: tuple[Layout, ...]) -> str:
    """Return the key of the core of entries: a hash of all that may have a part in it.

    ``kind`` is that of processors; ``roots`` are the layouts of components, and by their digests
    those of all that these use.
    """
    digest = hashlib.sha256(kind.encode())
    digest.update(_sources())
    for entry in entries:
        digest.update(entry.symbol.encode())
        digest.update(_source_elsewhere(entry.function.__code__.co_filename))
    for root in roots:
        digest.update(str(root).encode())
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
