"""A progress bar for a person who waits."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from rich.progress import Progress

_PATIENCE = 1.0
"""Seconds of waiting before the bar appears."""


class ProgressBar:
    """Shows on standard error what is done of a simulation, or of several, and what there is to do.

    Used as a context, and called with the two numbers. It appears only after a second, and only on
    a terminal; at the end it disappears.

    Parameters
    ----------
    counted
        What is counted: the bytes that one run moves, or runs.
    """

    def __init__(self, counted: Literal["bytes", "runs"] = "bytes") -> None:
        self._counted = counted
        self._began = time.monotonic()
        self._wanted = sys.stderr.isatty()
        self._bar: Progress | None = None
        self._words = "simulated"

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
        if not self._wanted or time.monotonic() - self._began < _PATIENCE:
            return
        if self._bar is None:
            self._bar = _bar(self._counted)
            self._bar.add_task(self._words, total=total)
            self._bar.start()
        task = self._bar.task_ids[0]
        self._bar.update(task, completed=done, total=total, description=self._words)

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
        console=Console(stderr=True),
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    )
