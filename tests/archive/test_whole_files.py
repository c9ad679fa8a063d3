"""Files appear whole, or not at all."""

from __future__ import annotations

import os
import platform
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from xc40io.archive.whole_files import check_writable, replacing, write_whole
from xc40io.config.errors import InputError


def test_replaces_a_file_and_leaves_nothing_else(tmp_path):
    path = tmp_path / "out.txt"
    path.write_text("before")
    write_whole(path, "after", "-o")
    assert path.read_text() == "after"
    assert list(tmp_path.iterdir()) == [path]


def test_a_failure_leaves_the_former_file(tmp_path):
    path = tmp_path / "out.txt"
    path.write_text("before")

    def fail() -> None:
        with replacing(path, "-o") as draft:
            draft.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_keeps_pointing_to_the_file(tmp_path):
    path, link = tmp_path / "out.txt", tmp_path / "link"
    link.symlink_to(path)
    write_whole(link, "text", "-o")
    assert link.is_symlink()
    assert path.read_text() == "text"


def test_new_files_have_the_usual_permissions(tmp_path):
    write_whole(tmp_path / "ours", "text", "-o")
    (tmp_path / "usual").touch()
    modes = {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("ours", "usual")}
    assert len(modes) == 1


@pytest.mark.skipif(not os.path.exists("/dev/null"), reason="no /dev/null here")  # noqa: PTH110
def test_a_device_is_written_not_replaced():
    check_writable("/dev/null", "-o")
    write_whole("/dev/null", "text", "-o")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)  # noqa: PTH116


@pytest.mark.parametrize("place", ["", "missing/out.txt"])
def test_what_cannot_be_written_is_said_beforehand(tmp_path, place):
    with pytest.raises(InputError, match=r"^-o: "):
        check_writable(tmp_path / place, "-o")


def test_a_refusal_of_the_system_is_bad_input(tmp_path):
    with pytest.raises(InputError, match=r"^-o: "):
        write_whole(tmp_path / "missing" / "out.txt", "text", "-o")


def test_drafts_of_killed_processes_go_with_the_next_file_of_that_name(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        ended.wait()
    target = tmp_path / "result"
    here = platform.node()
    stale = tmp_path / f".{here}-{ended.pid}-result"
    others = [
        tmp_path / f".{here}-{os.getppid()}-result",
        tmp_path / f".{here}-{ended.pid}-other",
        tmp_path / f".elsewhere-{ended.pid}-result",
    ]
    for path in (stale, *others):
        path.touch()
    write_whole(target, "whole", "--save")
    assert not stale.exists()
    assert all(path.exists() for path in others)


def test_a_name_may_be_as_long_as_names_can_be(tmp_path: Path) -> None:
    target = tmp_path / ("n" * 255)
    write_whole(target, "whole", "--save")
    assert target.read_text() == "whole"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a full disk of Linux")
def test_what_a_library_does_with_a_draft_is_nothing_to_a_device() -> None:
    with replacing("/dev/full", "--darshan") as draft:
        assert draft.parent != Path("/dev")
        draft.write_bytes(b"")
        draft.unlink()
        draft.write_bytes(b"")
    assert Path("/dev/full").is_char_device()
