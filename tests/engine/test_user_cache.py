"""What is kept from one run to the next: found where it is, and passed over where it cannot be."""

from __future__ import annotations

import errno
import os
import time
from contextlib import suppress
from pathlib import Path

import pytest

from xc40io.engine.user_cache import forget_old, is_there, written


def test_only_a_file_is_there(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "file").touch()
    names = ("file", "pipe", "loop", ".", "missing", "n" * 300)
    assert [is_there(tmp_path / name) for name in names] == [True, *[False] * 5]


def test_what_may_not_be_looked_at_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> os.stat_result:
        raise PermissionError(errno.EACCES, "Permission denied")

    (tmp_path / "file").touch()
    monkeypatch.setattr(Path, "stat", refuse)
    assert not is_there(tmp_path / "file")
    forget_old(tmp_path)
    monkeypatch.undo()
    assert is_there(tmp_path / "file")


def test_what_nobody_has_written_to_for_a_month_goes(tmp_path: Path) -> None:
    for name, days in (("old", 31), ("older", 400), ("recent", 29)):
        (tmp_path / name / "inside").mkdir(parents=True)
        os.utime(tmp_path / name, (time.time() - days * 86400,) * 2)
    forget_old(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["recent"]


def test_what_fails_leaves_the_former_file(tmp_path: Path) -> None:
    path = tmp_path / "kept"
    path.write_text("former")
    full = OSError(errno.ENOSPC, "No space left on device")
    with suppress(OSError), written(path) as draft:
        draft.write_text("ne")
        raise full
    assert [(one.name, one.read_text()) for one in tmp_path.iterdir()] == [("kept", "former")]
