"""What is kept from one run to the next: found where it is, and passed over where it cannot be."""

from __future__ import annotations

import errno
import os
import time
from contextlib import suppress
from pathlib import Path

import pytest

from xc40io.archive.user_cache import forget_old, is_there, user_cache, written
from xc40io.config.errors import InputError


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


def test_what_is_there_in_its_place_gives_way(tmp_path: Path) -> None:
    (tmp_path / "kept" / "inside").mkdir(parents=True)
    with written(tmp_path / "kept") as draft:
        draft.write_text("whole")
    assert (tmp_path / "kept").read_text() == "whole"
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("folder", ["cache", "./cache", "~/cache", ".", "x" * 200])
def test_a_relative_cache_is_refused(monkeypatch: pytest.MonkeyPatch, folder: str) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", folder)
    with pytest.raises(InputError, match=r"^XDG_CACHE_HOME: .* is relative, .* begins with /$"):
        user_cache("runs")
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    monkeypatch.setenv("HOME", folder.replace("~", "home"))
    with pytest.raises(InputError, match=r"^HOME: .* is relative"):
        user_cache("runs")
    monkeypatch.setenv("XDG_CACHE_HOME", "/cache")
    assert user_cache("runs") == Path("/cache/xc40io/runs")
