"""``--animate FILE`` on a command that runs something, and on ``show``."""

from __future__ import annotations

from pathlib import Path

IOR = ("ior", "--nodes", "1", "--ppn", "2")
WRITE = ("--", "-w", "-e", "-b", "1m", "-t", "1m")


def test_a_run_and_its_kept_result_have_the_same_animation(xc40io, tmp_path: Path):
    kept, films = tmp_path / "kept.xc40io", [tmp_path / "run.html", tmp_path / "shown.html"]
    done = xc40io(*IOR, "--save", str(kept), "--animate", str(films[0]), *WRITE)
    assert done.exit_code == 0, done.stderr
    assert f"xc40io: wrote {films[0]}" in done.stderr.splitlines()
    assert xc40io("show", str(kept), "--animate", str(films[1])).exit_code == 0
    assert films[0].read_bytes() == films[1].read_bytes()
