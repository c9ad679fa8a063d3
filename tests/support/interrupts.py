"""Commands in processes of their own that are interrupted when something has happened."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

_COMMAND = [sys.executable, "-c", "from xc40io.cli import main; main()"]


def started(words: tuple[str, ...], folder: Path, **options: bool) -> subprocess.Popen[str]:
    """Start a command in a folder."""
    return subprocess.Popen(
        [*_COMMAND, *words],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


def wait_until(process: subprocess.Popen[str], ready: Callable[[], bool]) -> None:
    """Wait until something is so while a command runs."""
    begin = time.monotonic()
    while not ready():
        assert time.monotonic() - begin < 120
        assert process.poll() is None
        time.sleep(0.02)


def interrupted(words: tuple[str, ...], folder: Path, ready: Callable[[], bool]) -> tuple[str, str]:
    """Run a command, and interrupt it once something is so; return what it has printed."""
    process = started(words, folder)
    wait_until(process, ready)
    process.send_signal(signal.SIGINT)
    printed = process.communicate(timeout=60)
    assert process.returncode == 130
    return printed


def kept_and_told(words: tuple[str, ...], folder: Path) -> tuple[int, int]:
    """Interrupt a study with ``--store store`` once it has kept a run.

    Return how many it has kept, and how many it says that it has.
    """
    _, told = interrupted(words, folder, lambda: any(folder.glob("store/*/*.json")))
    kept = len(list(folder.glob("store/*/*.json")))
    return kept, int(told.split(" runs have finished and are kept")[0].split()[-3])
