"""A progress bar for a person who waits."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress

_PATIENCE = 1.0
"""Seconds of waiting before the bar appears."""


class ProgressBar:
    """Shows the simulated bytes moved, and to move, on standard error.

    Used as a context, and called with the two numbers. It appears only after a second, and only on
    a terminal; at the end it disappears.
    """

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._wanted = sys.stderr.isatty()
        self._bar: Progress | None = None

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
        """Show that ``done`` of ``total`` bytes have moved."""
        if not self._wanted or time.monotonic() - self._began < _PATIENCE:
            return
        if self._bar is None:
            self._bar = _bar()
            self._bar.add_task("", total=total)
            self._bar.start()
        self._bar.update(self._bar.task_ids[0], completed=done, total=total)


def _bar() -> Progress:
    """Make the bar; it draws itself ten times a second once it is started."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    return Progress(
        TextColumn("simulated"),
        BarColumn(),
        DownloadColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    )
