"""The rows of long work, beside the file that it becomes."""

from __future__ import annotations

import os
import platform
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from xc40io.archive.part_file import PartFile
from xc40io.archive.whole_files import new_file, write_whole
from xc40io.config.errors import InputError


def test_rows_are_there_when_they_are_known_and_gone_when_all_are(tmp_path):
    part = PartFile(str(tmp_path / "o.csv"), "--csv")
    assert part.path == tmp_path / "o.csv.part"
    assert not part.path.exists()
    part.add("a\n1\n")
    part.add("2\n")
    assert part.path.read_text() == "a\n1\n2\n"
    part.remove()
    assert not list(tmp_path.iterdir())


def test_the_first_rows_replace_what_an_earlier_work_has_left(tmp_path):
    stale = tmp_path / "o.csv.part"
    stale.write_text("rows of one that was killed\n")
    part = PartFile(str(tmp_path / "o.csv"), "--csv")
    assert stale.exists()  # until there is something in its place
    part.add("a\n")
    assert stale.read_text() == "a\n"


def test_another_name_of_what_was_left_keeps_its_content(tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("mine\n")
    (tmp_path / "o.csv.part").hardlink_to(victim)
    PartFile(str(tmp_path / "o.csv"), "--csv").add("a\n")
    assert victim.read_text() == "mine\n"


@pytest.mark.parametrize("kind", ["link", "dangling", "pipe", "folder"])
def test_a_part_that_is_no_ordinary_file_is_refused_beforehand(tmp_path, kind):
    part, victim = tmp_path / "o.csv.part", tmp_path / "victim"
    if kind == "pipe":
        os.mkfifo(part)
    elif kind == "folder":
        part.mkdir()
    else:
        part.symlink_to(victim)
    if kind == "link":
        victim.write_text("mine\n")
    with pytest.raises(InputError, match=r"^--csv: .*o\.csv\.part"):
        PartFile(str(tmp_path / "o.csv"), "--csv")
    assert victim.exists() == (kind == "link")


@pytest.mark.parametrize("planted", ["link", "pipe"])
def test_what_is_planted_later_is_not_opened(tmp_path, planted):
    part = PartFile(str(tmp_path / "o.csv"), "--csv")
    victim = tmp_path / "victim"
    victim.write_text("mine\n")
    assert part.path is not None
    if planted == "link":
        part.path.symlink_to(victim)
    else:
        os.mkfifo(part.path)
    part.add("a\n")
    assert part.path.read_text() == "a\n"
    assert victim.read_text() == "mine\n"


def test_a_draft_is_not_opened_through_a_link_either(tmp_path):
    victim, draft = tmp_path / "victim", tmp_path / "draft"
    victim.write_text("mine\n")
    draft.symlink_to(victim)
    os.close(new_file(draft))
    assert victim.read_text() == "mine\n"
    assert not draft.is_symlink()


def test_a_planted_draft_does_not_stand_in_the_way(tmp_path):
    """Whoever sees the number of a process can foresee the name of its draft."""
    victim = tmp_path / "victim"
    victim.write_text("mine\n")
    (tmp_path / f".{platform.node()}-{os.getpid()}-out").symlink_to(victim)
    write_whole(tmp_path / "out", "whole", "--csv")
    assert (tmp_path / "out").read_text() == "whole"
    assert victim.read_text() == "mine\n"


@pytest.mark.parametrize("name", ["", "x" * 300, "missing/o.csv", "x" * 252])
def test_a_name_that_cannot_be_written_is_told_as_its_option(tmp_path, name):
    place = str(tmp_path / name) if name else ""
    with pytest.raises(InputError, match=r"^--csv: "):
        PartFile(place, "--csv")


def test_a_pipe_has_no_part(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    part = PartFile(str(pipe), "--csv")
    assert part.path is None
    part.add("a\n")
    part.remove()


_FULL = """
import resource, sys
from xc40io.archive.part_file import PartFile
from xc40io.config.errors import InputError
import signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (20, 20))
part = PartFile(sys.argv[1], "--csv")
part.add("0123456789\\n")
try:
    part.add("0123456789abcdef\\n")
except InputError as error:
    sys.exit(str(error))
"""


@pytest.mark.skipif(not hasattr(resource, "RLIMIT_FSIZE"), reason="no limit of files here")
def test_a_full_disk_leaves_whole_lines(tmp_path: Path):
    ended = subprocess.run(
        [sys.executable, "-c", _FULL, str(tmp_path / "o.csv")],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert ended.stderr.startswith("--csv: ")
    assert (tmp_path / "o.csv.part").read_text() == "0123456789\n"
