"""Ctrl-C on a study that works in several processes: one line, and no word of any of them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

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
@pytest.mark.parametrize("later", [0.0, 1.0])
@pytest.mark.parametrize("study", STUDIES)
def test_an_interrupt_is_one_line(tmp_path, study, later):
    process = subprocess.Popen(
        [sys.executable, "-c", "from xc40io.cli import main; main()", *STUDIES[study]],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        start_new_session=True,  # a terminal interrupts all processes of a command
    )
    begin = time.monotonic()
    while len(_children(process.pid)) < 2:  # the first clears away after the others
        assert time.monotonic() - begin < 120
        assert process.poll() is None
        time.sleep(0.02)
    time.sleep(later)
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    lines = [line for line in said.splitlines() if line]
    assert all(line.startswith("xc40io: ") for line in lines), said
    assert lines[-1] == "xc40io: interrupted"
