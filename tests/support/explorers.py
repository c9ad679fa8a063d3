"""The explorer as the command serves it, and a browser to look at it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

import pytest
from chromium import chromium
from documents import ROOT

if TYPE_CHECKING:
    from playwright.sync_api import Browser

_COMMAND = [sys.executable, "-c", "from xc40io.cli import main; main()", "web", "--port", "0"]


class Served(NamedTuple):
    """A server that runs.

    Attributes
    ----------
    url
        Where.
    process
        Its process.
    """

    url: str
    process: subprocess.Popen[str]


@contextmanager
def served(*options: str) -> Iterator[Served]:
    """Give a server of the explorer."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        [*_COMMAND, *options], stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        try:
            assert process.stderr is not None
            told = process.stderr.readline()
            found = re.search(r"http://\S+", told)
            assert found, told + process.stderr.read()
            yield Served(found[0], process)
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(120)
            finally:
                process.kill()


@contextmanager
def browsing() -> Iterator[Browser]:
    """Give a browser; while its driver lives, asyncio runs nothing else in this process."""
    path = chromium()
    if path is None:
        pytest.skip("there is no Chromium")
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as driver:
        options = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
        started = driver.chromium.launch(executable_path=path, args=options, timeout=300_000)
        yield started
        started.close()
