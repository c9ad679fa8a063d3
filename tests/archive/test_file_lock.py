"""A lock between processes: one at a time, and never for ever."""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from xc40io.archive import file_lock
from xc40io.archive.file_lock import locked

HOLDER = """
import sys, time
from pathlib import Path
from xc40io.archive.file_lock import locked
with locked(Path(sys.argv[1]), ""):
    print("held", flush=True)
    time.sleep(600)
"""


def holder(path: Path) -> subprocess.Popen[str]:
    """Return a process that holds a lock."""
    command = [sys.executable, "-c", HOLDER, str(path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def test_who_waits_is_told_and_gets_it_when_the_holder_is_killed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with holder(tmp_path / "lock") as process:
        monkeypatch.setattr(file_lock.time, "sleep", lambda _: os.kill(process.pid, signal.SIGKILL))
        with locked(tmp_path / "lock", "waiting"), locked(tmp_path / "other", "no wait"):
            assert process.wait() == -signal.SIGKILL
    assert capsys.readouterr().err == "waiting\n"


def test_who_hangs_is_not_waited_for_for_ever(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_lock, "_PATIENCE", 0.3)
    with locked(tmp_path / "lock", ""), locked(tmp_path / "lock", "waiting"):
        assert capsys.readouterr().err == "waiting\n"


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS])
def test_a_file_system_without_locks_is_done_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def refuse(*_: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", refuse)
    with locked(tmp_path / "lock", "waiting"), locked(tmp_path / "lock", "waiting"):
        pass


def test_a_folder_in_its_place_is_done_without(tmp_path: Path) -> None:
    with locked(tmp_path, "waiting"), locked(tmp_path, "waiting"):
        pass
