"""A lock between processes, so that one does what others then find done."""

from __future__ import annotations

import fcntl
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_PATIENCE = 900.0  # seconds; who has the lock may have been stopped, or hang
_BETWEEN = 0.1  # seconds between two tries


@contextmanager
def locked(path: Path, wait: str) -> Iterator[None]:
    """Hold the lock that a file is; the system gives it back when its holder ends, however it does.

    Who would have to wait is told so. Where a file system has no locks, or after a quarter of an
    hour, it goes on without: work done twice is better than none.

    Parameters
    ----------
    path
        Of the file, which is made; nothing stands in it.
    wait
        What is told.
    """
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK, 0o600)
    except OSError:
        yield
        return
    try:
        _take(handle, wait)
        yield
    finally:
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_UN)  # of those, too, to whom a fork gave the file
        os.close(handle)


def _take(handle: int, wait: str) -> None:
    """Take the lock of an open file, if it can be had."""
    patience = time.monotonic() + _PATIENCE
    told = False
    while time.monotonic() < patience:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError):  # as file systems in a network put it
            if not told:
                print(wait, file=sys.stderr, flush=True)
                told = True
            time.sleep(_BETWEEN)
        except OSError:  # there are no locks
            return
        else:
            return
