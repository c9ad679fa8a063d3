"""One input tried: what the command line made of it, in this process.

A command is run as a user types it (:class:`click.testing.CliRunner`), in a folder of its own that
holds the files it names. What is looked for: an exception that nobody has put into a sentence
(*traceback*), no end, and more memory than such an input is worth. A run that is right and only
long is cut short as soon as it shows its progress.
"""

from __future__ import annotations

import re
import resource
import signal
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import chdir, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

from click.testing import CliRunner

from xc40io.cli.app import cli
from xc40io.results.progress import ProgressBar

PATIENCE = 20.0
"""Seconds of work after which an input that shows no progress counts as one without an end."""

WAIT = 3 * PATIENCE
"""The same of real seconds: what waits for ever does no work, and a busy computer is slow."""

ENOUGH = 1.0
"""Seconds of progress after which a run is taken to be right, and cut short."""

MEMORY = 1 << 30
"""Bytes that one input may take beyond what the process had before."""

LONGEST_SENTENCE = 1500
_WARNINGS = re.compile(r"^(xc40io: warning: .*\n)+")
_OTHERS_WORDS = re.compile(
    r"pydantic|Errno|Traceback|errors\.pydantic|NoneType|<class|object at 0x"
)
_INTERRUPTED, _BAD_INPUT = 130, 2


@dataclass(frozen=True)
class Input:
    """What is tried.

    Attributes
    ----------
    words
        The command line behind ``xc40io``.
    files
        What the files contain that it names, by their names, which may be below folders.
    prepare
        Makes in the present folder what is no plain file.
    """

    words: tuple[str, ...]
    files: Mapping[str, bytes] = field(default_factory=dict)
    prepare: Callable[[], None] | None = None


@dataclass(frozen=True)
class Verdict:
    """What came of an input.

    Attributes
    ----------
    kind
        ``ran``, ``long`` (cut short), ``refused``, or what must not be: ``traceback``, ``hang``,
        ``memory``, ``unclear`` (words that are not for users), ``half a file``.
    detail
        The sentence, or the traceback.
    seconds, memory
        What it took; memory in bytes beyond that of before.
    """

    kind: str
    detail: str
    seconds: float
    memory: int


class _CutShort(BaseException):
    """Ends a run that shows that it goes on."""


class _NoEndError(BaseException):
    """Ends what has not shown for too long that it goes on."""


def attempt(case: Input, folder: Path) -> Verdict:
    """Try an input in an empty folder, and say what came of it."""
    write_files(case, folder)
    began, before = time.monotonic(), _fresh_peak()
    with chdir(folder):
        if case.prepare is not None:
            case.prepare()
        with _limits():
            kind, detail = _run(case.words)
    used = max(0, _peak() - before)
    if kind in ("ran", "long", "refused"):
        if used > MEMORY:
            kind, detail = "memory", f"{used / 2**20:,.0f} MiB more than before; {detail}"
        elif drafts := [path.name for path in folder.iterdir() if path.name.startswith(".")]:
            kind, detail = "half a file", f"{drafts[0]} is left; {detail}"
    return Verdict(kind, detail, time.monotonic() - began, used)


def write_files(case: Input, folder: Path) -> None:
    """Write the files of an input into a folder."""
    for name, content in case.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def _run(words: tuple[str, ...]) -> tuple[str, str]:
    """Run a command line; return the kind of the verdict, and what was said."""
    try:
        result = CliRunner().invoke(cli, list(words), prog_name="xc40io")
    except _CutShort:
        return "long", ""
    except _NoEndError as error:
        return "hang", "".join(traceback.format_exception(error)[-12:])
    error = result.exception
    if error is not None and not isinstance(error, SystemExit):
        return "traceback", "".join(traceback.format_exception(error)[-12:])
    said = result.stderr
    if result.exit_code == _BAD_INPUT and (problem := _unclear(said)):
        return "unclear", f"{problem}: {said[:LONGEST_SENTENCE]}"
    return ("ran" if result.exit_code == 0 else "refused"), said[:LONGEST_SENTENCE]


def _unclear(said: str) -> str:
    """Return what is wrong with the sentence for bad input; nothing if it is one.

    Warnings may come before it.
    """
    said = _WARNINGS.sub("", said)
    if not said.startswith("xc40io: ") or said.count("\n") != 1:
        return "not one sentence"
    if len(said) > LONGEST_SENTENCE:
        return f"{len(said):,} characters"
    words = _OTHERS_WORDS.search(said)
    return f"words that are not for users, {words[0]!r}" if words else ""


@contextmanager
def _limits() -> Iterator[None]:
    """Let no run go on for long; :class:`ProgressBar` tells that it goes on at all."""
    began = time.monotonic()

    def shows(_: ProgressBar, *__: Any) -> None:
        if time.monotonic() - began > ENOUGH:
            raise _CutShort

    def overdue(_: int, __: FrameType | None) -> None:
        raise _NoEndError

    usual = ProgressBar.__call__
    timers = (
        (signal.ITIMER_REAL, signal.SIGALRM, WAIT),
        (signal.ITIMER_PROF, signal.SIGPROF, PATIENCE),
    )
    handlers = [signal.signal(number, overdue) for _, number, _ in timers]
    ProgressBar.__call__ = shows  # type: ignore[method-assign]
    for timer, _, seconds in timers:
        signal.setitimer(timer, seconds)
    try:
        yield
    finally:
        for (timer, number, _), handler in zip(timers, handlers, strict=True):
            signal.setitimer(timer, 0.0)
            signal.signal(number, handler)
        ProgressBar.__call__ = usual  # type: ignore[method-assign]


def _fresh_peak() -> int:
    """Have the system forget the most memory of this process; return what it has now, in bytes."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    return _peak()


def _peak() -> int:
    """Return the most memory that this process has had since, in bytes."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
        return int(status.split("VmHWM:")[1].split()[0]) * 1024
    except (OSError, IndexError):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def limit_memory(most: int) -> None:
    """Let this process have no more than so many bytes: what asks for more gets a MemoryError."""
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
