"""Makes a core: what has changed is translated on all processors, and all is linked.

The machine code of each function is kept by what it depends on
(``xc40io.compiler.functions.Keys``), so after an edit only what depends on it is translated again.
Runs in a process of its own, which :mod:`xc40io.compiler.core` starts.
"""

from __future__ import annotations

import errno
import importlib
import multiprocessing
import os
import pickle
import platform
import select
import shlex
import shutil
import subprocess
import sys
import sysconfig
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import llvmlite
import numba

from xc40io.archive.user_cache import remove
from xc40io.compiler.code_files import (
    LINKED,
    OBJECT,
    UNLINKED,
    CodeFolder,
    RefusedError,
    keep_code,
)
from xc40io.compiler.core import UNWRITABLE, Job
from xc40io.compiler.functions import Keys, reached_from
from xc40io.compiler.processor import foreign
from xc40io.compiler.translate import Translator
from xc40io.engine.compiled import Entry
from xc40io.engine.processors import processors

_INTERRUPTED = 130  # how a shell reports SIGINT


class _Work:
    """What is to be done, and where the object code of each function is."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._entries: list[Entry[..., Any]] = [
            getattr(importlib.import_module(module), name) for module, name in job.entries
        ]
        signatures = reached_from(self._entries, job.layouts)
        keys = Keys(signatures, _base(job.processor))
        self._keys = {one: keys.key(one) for one in signatures}
        found = self._whole()
        missing = [one for one in signatures if one not in found]
        self.missing = sorted(missing, key=lambda one: -len(one.__code__.co_code))  # longest first
        self._translator = Translator(signatures, job.processor)

    def objects(self) -> list[Path]:
        """Return the files with the object code of all functions, which have been translated.

        Raises
        ------
        OSError
            If one is not what was written.
        """
        found = self._whole()
        if len(found) < len(self._keys):
            raise OSError(errno.EIO, "what was written is not what is read")
        for path in found.values():
            path.touch()  # used today
        return list(found.values())

    def _whole(self) -> dict[Callable[..., Any], Path]:
        """Return the files with object code that are as they were written; remove the others."""
        folder = CodeFolder(self._job.objects)
        found, refused = {}, []
        for one, key in self._keys.items():
            for path in folder.files(key, (OBJECT,)):
                try:
                    found[one] = folder.read(path).path
                except RefusedError as error:
                    refused.append(str(error))
                    with suppress(OSError):
                        remove(path)
        if refused:
            others = f", and so are {len(refused) - 1} others" if refused[1:] else ""
            print(f"xc40io: {refused[0]}{others}: compiled anew", file=sys.stderr)
        return found

    def translate(self, place: int) -> None:
        """Translate one of the missing functions and keep its object code."""
        function = self.missing[place]
        exported = any(entry.function is function for entry in self._entries)
        code = self._translator.translate(function, exported=exported)
        keep_code(self._job.objects, self._keys[function], OBJECT, code)


_work: _Work  # a global, so that workers have it from the process that forks them


def main() -> None:
    """Make the core that standard input describes; end, with all workers, when that input ends.

    If the system refuses to write, standard output says why, and the status is ``UNWRITABLE``.
    """
    global _work
    asked = os.dup(sys.stdin.fileno())  # workers close their standard input
    try:
        job: Job = pickle.load(sys.stdin.buffer)
        linker = _linker(job.processor)
        _work = _Work(job)
        _translate_all(len(_work.missing), asked)
        _link(_work.objects(), job, linker)
    except OSError as error:
        print(error.strerror or error)
        sys.exit(UNWRITABLE)
    except EOFError:  # who asked has gone
        sys.exit(_INTERRUPTED)
    except BrokenProcessPool:
        if not select.select([asked], [], [], 0)[0]:  # else they ended with who asked
            print(
                "xc40io: a process was killed that compiled, perhaps for want of memory",
                file=sys.stderr,
            )
        sys.exit(1)


def _base(processor: str) -> str:
    """Return the text of all that every piece of code depends on."""
    versions = platform.python_version(), numba.__version__, llvmlite.__version__
    here = Path(__file__).resolve().parent
    own = [
        (here / name).read_text(encoding="utf-8")
        for name in ("convention.py", "layouts.py", "primitives.py", "translate.py")
    ]
    return repr((versions, platform.machine(), processor, own))


def _end_with(asked: int) -> None:
    """Have this process end, and those that it has started, when whoever asked for it has gone."""
    threading.Thread(target=_watch, args=(asked,), daemon=True).start()


def _watch(asked: int) -> None:
    os.read(asked, 1)  # nothing more comes: it waits for the end
    for worker in multiprocessing.active_children():
        worker.kill()
    os._exit(_INTERRUPTED)


def _translate(place: int) -> None:
    _work.translate(place)


def _translate_all(count: int, asked: int) -> None:
    """Translate the missing functions on all processors, and tell how far it is."""
    if not count:
        return
    begun = time.perf_counter()
    workers = min(processors(), count)
    fork = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(workers, fork, _end_with, (asked,)) as pool:
        _tell(0, count, begun)
        given = [pool.submit(_translate, place) for place in range(count)]
        _end_with(asked)  # now that all workers are forked: they have threads of their own
        for done, one in enumerate(as_completed(given), 1):
            one.result()
            _tell(done, count, begun)


def _tell(done: int, count: int, begun: float) -> None:
    """Tell the user how far it is: on a terminal all the time, else at both ends."""
    seconds = time.perf_counter() - begun
    text = f"xc40io: compiling the data plane: {done} of {count} functions, {seconds:.0f} s"
    if sys.stderr.isatty():
        end = "\n" if done == count else ""
        print(f"\r{text}", end=end, file=sys.stderr, flush=True)
    elif done in (0, count):
        print(text, file=sys.stderr, flush=True)


def _linker(kind: str) -> list[str]:
    """Return the command of the C compiler that links; nothing if there is none.

    Raises
    ------
    SystemExit
        If there is none that links for machines of another architecture: LLVM cannot do it there.
    """
    elsewhere = foreign(kind)
    own = f"{elsewhere}-linux-gnu-gcc" if elsewhere else sysconfig.get_config_var("CC") or "cc"
    command = shlex.split(os.environ.get("CC") or own)
    if shutil.which(command[0]) is not None:
        return command
    if elsewhere:
        sys.exit(
            f"xc40io: {command[0]} is not here; right would be a C compiler for {elsewhere}, or CC "
            "with the name of one"
        )
    return []


def _link(objects: Iterable[Path], job: Job, linker: list[str]) -> None:
    """Link object code to a shared library; list it, where no C compiler does it."""
    names = list(map(str, objects))
    if linker:
        with suppress(_LinkError), TemporaryDirectory(dir=job.folder) as draft:
            library = Path(draft) / "core"
            _link_by([*linker, "-shared", "-o", str(library), *names, "-lm"], job.processor)
            keep_code(job.folder, job.key, LINKED, library.read_bytes())
            return
    keep_code(job.folder, job.key, UNLINKED, "\n".join(names).encode())


class _LinkError(Exception):
    """The C compiler did not link."""


def _link_by(command: list[str], kind: str) -> None:
    """Have the C compiler link; if it does not, tell that LLVM will have to, and raise."""
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        said = done.stderr.strip().splitlines() or [f"status {done.returncode}"]
        told = f"xc40io: {command[0]} cannot link the data plane ({said[0]})"
        if foreign(kind):
            sys.exit(f"{told}; right would be a C compiler for {foreign(kind)}")
        print(f"{told}: LLVM links it at every start", file=sys.stderr)
        raise _LinkError
