"""Makes a core: what has changed is translated on all processors, and all is linked.

The machine code of each function is kept by what it depends on
(``xc40io.compiler.functions.Keys``), so after an edit only what depends on it is translated again.
Runs in a process of its own, which :mod:`xc40io.compiler.core` starts.
"""

from __future__ import annotations

import importlib
import multiprocessing
import os
import pickle
import platform
import shlex
import shutil
import signal
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import llvmlite
import numba

from xc40io.compiler.core import UNWRITABLE, Job
from xc40io.compiler.functions import Keys, reached_from
from xc40io.compiler.loading import UNLINKED
from xc40io.compiler.translate import Translator
from xc40io.engine.compiled import Entry
from xc40io.engine.processors import processors
from xc40io.engine.user_cache import written

_INTERRUPTED = 130  # how a shell reports SIGINT


class _Work:
    """What is to be done, and where the object code of each function is to be."""

    def __init__(self, job: Job) -> None:
        self._entries: list[Entry[..., Any]] = [
            getattr(importlib.import_module(module), name) for module, name in job.entries
        ]
        signatures = reached_from(self._entries, job.layouts)
        keys = Keys(signatures, _base(job.processor))
        self.objects = {one: job.objects / f"{keys.key(one)}.o" for one in signatures}
        missing = [one for one, path in self.objects.items() if not path.exists()]
        self.missing = sorted(missing, key=lambda one: -len(one.__code__.co_code))  # longest first
        self._translator = Translator(signatures, job.processor)

    def translate(self, place: int) -> None:
        """Translate one of the missing functions and keep its object code."""
        function = self.missing[place]
        exported = any(entry.function is function for entry in self._entries)
        code = self._translator.translate(function, exported=exported)
        with written(self.objects[function]) as file:
            file.write_bytes(code)


_work: _Work  # a global, so that workers have it from the process that forks them


def main() -> None:
    """Make the core that standard input describes; an interrupt is told by who waits for it.

    If the system refuses to write, standard output says why, and the status is ``UNWRITABLE``.
    """
    global _work
    try:
        job: Job = pickle.load(sys.stdin.buffer)
        _work = _Work(job)
        _translate_all(len(_work.missing))
        for path in _work.objects.values():
            path.touch()  # used today
        _link(_work.objects.values(), job.library)
    except OSError as error:
        print(error.strerror or error)
        sys.exit(UNWRITABLE)
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)


def _base(processor: str) -> str:
    """Return what all code depends on."""
    versions = platform.python_version(), numba.__version__, llvmlite.__version__
    here = Path(__file__).resolve().parent
    own = [
        (here / name).read_text(encoding="utf-8")
        for name in ("translate.py", "layouts.py", "primitives.py")
    ]
    return repr((versions, platform.machine(), processor, own))


def _leave_interrupts() -> None:
    """Leave interrupts to the process that gives the work out."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _translate(place: int) -> None:
    _work.translate(place)


def _translate_all(count: int) -> None:
    """Translate the missing functions on all processors, and tell how far it is."""
    if not count:
        return
    begun = time.perf_counter()
    workers = min(processors(), count)
    with multiprocessing.get_context("fork").Pool(workers, _leave_interrupts) as pool:
        _tell(0, count, begun)
        for done, _ in enumerate(pool.imap_unordered(_translate, range(count)), 1):
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


def _link(objects: Iterable[Path], library: Path) -> None:
    """Link object code to a shared library; list it, where no C compiler does it."""
    compiler = shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc")
    if shutil.which(compiler[0]) is not None:
        with suppress(_LinkError), written(library) as file:
            _link_by([*compiler, "-shared", "-o", str(file), *map(str, objects), "-lm"])
            return
    with written(library.with_suffix(UNLINKED)) as file:
        file.write_text("\n".join(map(str, objects)), encoding="utf-8")


class _LinkError(Exception):
    """The C compiler did not link."""


def _link_by(command: list[str]) -> None:
    """Have the C compiler link; if it does not, tell that LLVM will have to, and raise."""
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        said = done.stderr.strip().splitlines() or [f"status {done.returncode}"]
        print(
            f"xc40io: {command[0]} cannot link the data plane ({said[0]}): LLVM links it at every "
            "start",
            file=sys.stderr,
        )
        raise _LinkError
