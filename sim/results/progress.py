"""A progress bar for a person who waits."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from rich.progress import Progress

    from xc40io.run.foreseen import Foreseen

Counted = Literal["bytes", "runs", "logs"]
"""What is counted: the bytes that one run moves, or runs, or logs."""

_PATIENCE = 1.0
"""Seconds of waiting before the bar appears."""

_SILENCE = 10.0
"""Seconds after which, and between which, a line is written where there is no terminal."""


class ProgressBar:
    """Shows on standard error how far one simulation, or several, have come.

    Used as a context, and called with the two numbers. On a terminal it appears after a second, and
    disappears at the end; elsewhere, as in the log of a batch job, it is a line every ten seconds.

    Parameters
    ----------
    counted
        What is counted.
    """

    def __init__(self, counted: Counted = "bytes") -> None:
        self._counted = counted
        self._began = time.monotonic()
        self._said: float | None = None  # when the latest line was written, or the first due
        self._on_terminal = sys.stderr.isatty()
        self._bar: Progress | None = None
        self._words = "simulated"
        self._expected = ""  # said when something is shown for the first time

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, done: int, total: int) -> None:
        """Show that ``done`` of ``total`` have been done."""
        if not self._on_terminal:
            self._write_line(done, total)
            return
        if time.monotonic() - self._began < _PATIENCE:
            return
        self._say_expected()
        if self._bar is None:
            self._bar = _bar(self._counted)
            self._bar.add_task(self._words, total=total)
            self._bar.start()
        task = self._bar.task_ids[0]
        self._bar.update(task, completed=done, total=total, description=self._words)

    def _write_line(self, done: int, total: int) -> None:
        """Write a line if there has been none for long."""
        now = time.monotonic()
        if self._said is None:
            self._said = now  # what came before, as compiling, tells of itself
        if now - self._said < _SILENCE:
            return
        self._said = now
        self._say_expected()
        share = f" ({done / total:.0%})" if total else ""
        what = (
            f"{done / 1e9:.3g} of {total / 1e9:.3g} GB"
            if self._counted == "bytes"
            else (f"{done:,} of {total:,} {self._counted}")
        )
        print(f"xc40io: {self._words}: {what}{share}", file=sys.stderr, flush=True)

    def counting(self, counted: Counted) -> Callable[[int, int], None]:
        """Return a function that shows how many bytes or runs are done, anew for each kind."""

        def show(done: int, total: int) -> None:
            if counted != self._counted and self._bar is not None:
                self._bar.stop()
                self._bar = None
            self._counted = counted
            self(done, total)

        return show

    def foretell(self, run: Foreseen) -> None:
        """Say what a run will be: at once if that is too much, else when there is time to read it.

        It is told before the run, of which the numbers follow.
        """
        smaller = run.too_much()
        self._expected = run.words + smaller
        if smaller:
            self._say_expected()

    def _say_expected(self) -> None:
        if self._expected:
            print(f"xc40io: {self._expected}", file=sys.stderr, flush=True)
        self._expected = ""

    def say(self, words: str) -> None:
        """Show from the next number on what is being done."""
        self._words = words


def _bar(counted: str) -> Progress:
    """Make the bar; it draws itself ten times a second once it is started."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        DownloadColumn() if counted == "bytes" else MofNCompleteColumn(),
        TimeRemainingColumn(),
        # It moves about, which what is printed may not: so below what makes that printable.
        console=Console(file=getattr(sys.stderr, "below", sys.stderr)),
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    )
