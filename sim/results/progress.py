"""A progress bar for a person who waits."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from rich.progress import Progress

    from xc40io.run.foreseen import Foreseen

Counted = Literal["bytes", "operations", "runs", "logs", "seconds"]
"""What is counted: the bytes that one run moves, or what it does to names of files where it moves
none; runs, logs, or seconds of a limit."""

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
        self._counted: Counted = counted
        self._began = time.monotonic()
        self._said: float | None = None  # when the latest line was written, or the first due
        self._on_terminal = sys.stderr.isatty()
        self._bar: Progress | None = None
        self._words = "simulated"
        self._expected = ""  # said when something is shown for the first time
        self.told = (0, 0)  # what it was called with last

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
        self.told = done, total
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

    def counting(self, counted: Counted) -> Counting:
        """Return what shows how many bytes or runs are done, anew for each kind."""
        return Counting(self, counted)

    def count(self, counted: Counted) -> None:
        """Count something else from now on."""
        if counted != self._counted and self._bar is not None:
            self._bar.stop()
            self._bar = None
        self._counted = counted

    def foretell(self, runs: Foreseen) -> None:
        """Say what runs will be: at once if that is too much, else when there is time to read it.

        It is told before the runs, of which the numbers follow.
        """
        self._counted = _unit(self._counted, runs)
        smaller = runs.too_much()
        self._expected = runs.words + smaller
        if smaller:
            self._say_expected()

    def _say_expected(self) -> None:
        if self._expected:
            print(f"xc40io: {self._expected}", file=sys.stderr, flush=True)
        self._expected = ""

    def say(self, words: str) -> None:
        """Show from the next number on what is being done."""
        self._words = words


class Counting:
    """Shows on a bar how far runs have come that count something of their own."""

    def __init__(self, bar: ProgressBar, counted: Counted) -> None:
        self._bar = bar
        self._counted: Counted = counted

    def __call__(self, done: int, total: int) -> None:
        """Show that ``done`` of ``total`` have been done."""
        self._bar.count(self._counted)
        self._bar(done, total)

    def foretell(self, runs: Foreseen) -> None:
        """Say what the runs will be."""
        self._counted = _unit(self._counted, runs)
        self._bar.foretell(runs)


def _unit(counted: Counted, runs: Foreseen) -> Counted:
    """Return what is counted of runs: operations where they move no bytes."""
    return "operations" if counted == "bytes" and not runs.moves else counted


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
