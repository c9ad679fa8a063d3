"""Ctrl-C on a study that works in several processes: one line, and no word of any of them."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest
from interrupts import started, wait_until

_LONG = ("--nodes", "64", "--ppn", "16", "--jobs", "2")
_WORK = ("--", "-w", "-b", "64m", "-t", "1m")

STUDIES = {
    "sweep": ("sweep", *_LONG, "--over", "striping.count=1:40:1", *_WORK),
    "validate": ("validate", "--full", "--no-cache", "--jobs", "2"),
}


def _children(process: int) -> list[str]:
    found = Path(f"/proc/{process}/task/{process}/children")
    return found.read_text().split() if found.exists() else []


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="asks Linux for processes")
@pytest.mark.parametrize(("study", "later"), [("sweep", 0.0), ("sweep", 0.5), ("validate", 0.0)])
def test_an_interrupt_is_one_line(tmp_path, study, later):
    # A terminal interrupts all processes of a command.
    process = started(STUDIES[study], tmp_path, start_new_session=True)
    # The first child clears away after the others.
    wait_until(process, lambda: len(_children(process.pid)) > 1)
    time.sleep(later)
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    lines = [line for line in said.splitlines() if line]
    assert all(line.startswith("xc40io: ") for line in lines), said
    assert lines[-1] == "xc40io: interrupted"
