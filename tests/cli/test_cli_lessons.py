"""``xc40io lessons``: they are copied, opened, and what a student wrote stays."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from xc40io.cli import lessons
from xc40io.config import extras


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path) -> Path:
    return tmp_path


def test_they_are_copied_and_what_was_written_stays(xc40io) -> None:
    first = xc40io("lessons", "--copy", "--to", "mine")
    assert first.exit_code == 0, first.output
    paths = [Path(line) for line in first.stdout.splitlines()]
    assert len(paths) == 10
    assert paths[0] == Path("mine/lesson_1_one_rpc.ipynb")
    assert all(path.stat().st_size > 10_000 for path in paths)
    assert "10 of 10 notebooks copied to mine" in first.stderr
    paths[0].write_text("mine")
    paths[1].unlink()
    again = xc40io("lessons", "--copy", "--to", "mine")
    assert "1 of 10 notebooks copied to mine; 9 were there already" in again.stderr
    assert paths[0].read_text() == "mine"
    assert paths[1].exists()


def test_what_a_lesson_shares_with_others_is_found_from_there(xc40io) -> None:
    assert xc40io("lessons", "--copy").exit_code == 0
    command = [sys.executable, "-c", "import lesson; print(lesson.GB)"]
    ran = subprocess.run(command, cwd="xc40io-lessons", check=True, capture_output=True, text=True)
    assert ran.stdout == "1000000000.0\n"


@pytest.mark.parametrize(
    ("asked", "opened", "served"),
    [
        ((), "lesson_1_one_rpc", []),
        (("3",), "lesson_3_extent_locks", []),
        (("theta_curves",), "theta_curves", []),
        (("lesson_2_striping.ipynb",), "lesson_2_striping", []),
        (
            ("--address", "0.0.0.0", "--port", "8899"),
            "lesson_1_one_rpc",
            [
                *("--ServerApp.ip=0.0.0.0", "--no-browser"),
                *("--LabApp.default_url=/lab/tree/lesson_1_one_rpc.ipynb", "--ServerApp.port=8899"),
            ],
        ),
    ],
)
def test_the_lesson_that_is_asked_for_is_opened(
    xc40io, monkeypatch: pytest.MonkeyPatch, asked: tuple[str, ...], opened: str, served: list[str]
) -> None:
    started: list[list[str]] = []

    def start(command: list[str], *, check: bool) -> subprocess.CompletedProcess[str]:
        assert not check
        started.append(command)
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(extras, "find_spec", lambda _: object())
    monkeypatch.setattr(lessons.subprocess, "run", start)
    found = xc40io("lessons", *asked)
    assert found.exit_code == 0, found.output
    assert [command[1:] for command in started] == [
        ["-m", "jupyterlab", f"xc40io-lessons/{opened}.ipynb", *served]
    ]
    assert Path(started[0][3]).exists()


def test_without_jupyterlab_a_sentence_says_what_to_install(
    xc40io, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extras, "find_spec", lambda _: None)
    found = xc40io("lessons")
    assert found.exit_code == 1
    assert "JupyterLab is not installed; right would be: pip install 'xc40io[lessons]'" in (
        found.stderr
    )
    assert Path("xc40io-lessons/lesson_1_one_rpc.ipynb").exists()


@pytest.mark.parametrize("wrong", ["10", "0", "lesson_2_stripes", "../x"])
def test_a_lesson_that_is_not_there_is_refused_and_nothing_is_copied(xc40io, wrong: str) -> None:
    found = xc40io("lessons", wrong)
    assert found.exit_code == 2
    assert f"lessons {wrong}: there is no such lesson; right would be a number from 1 to 9" in (
        found.stderr
    )
    assert not Path("xc40io-lessons").exists()
