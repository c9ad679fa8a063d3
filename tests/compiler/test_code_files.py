"""Machine code that is kept: only what was written is ever loaded, and only the user's own."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from xc40io.compiler.code_files import LINKED, Code, CodeFolder, RefusedError, keep_code, read_code
from xc40io.engine.compiled import is_compiling
from xc40io.run.simulate import compiled_core

KEY = "0123456789abcdef"
CODE = random.Random(1).randbytes(50_000)
compiled = pytest.mark.skipif(not is_compiling(), reason="nothing is compiled")


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """Return a file of machine code."""
    tmp_path.chmod(0o700)
    return keep_code(tmp_path, KEY, LINKED, CODE)


def test_what_was_kept_is_found_and_read(kept: Path) -> None:
    folder = CodeFolder(kept.parent)
    assert folder.files(KEY, (LINKED,)) == [kept]
    assert folder.read(kept) == Code(kept, CODE)
    assert folder.files(KEY[1:], (LINKED,)) == folder.files(KEY, (".o",)) == []
    assert CodeFolder(kept.parent / "missing").files(KEY, (LINKED,)) == []


def refused(path: Path) -> str:
    """Return why a file is refused."""
    with pytest.raises(RefusedError) as caught:
        read_code(path)
    return str(caught.value)


@compiled
def test_no_bit_of_a_core_can_change_unseen(tmp_path: Path) -> None:
    core = compiled_core()
    content = core.read_bytes()
    damaged = tmp_path / core.name
    damaged.write_bytes(content)
    damaged.chmod(0o600)
    assert read_code(damaged).content == content
    drawn = random.Random(48)
    with damaged.open("r+b", buffering=0) as file:
        for bit in drawn.sample(range(8 * len(content)), 1000):
            changed = content[bit // 8] ^ (1 << bit % 8)
            os.pwrite(file.fileno(), bytes([changed]), bit // 8)
            assert refused(damaged) == f"{damaged}: it is damaged"
            os.pwrite(file.fileno(), content[bit // 8 : bit // 8 + 1], bit // 8)
    assert read_code(damaged).content == content


def halved(path: Path) -> None:
    os.truncate(path, len(CODE) // 2)


def emptied(path: Path) -> None:
    os.truncate(path, 0)


def lengthened(path: Path) -> None:
    path.write_bytes(CODE + b"\0")


def foreign(path: Path) -> None:
    """Have another whole file in its place."""
    other = keep_code(path.parent, "another", LINKED, b"another library")
    other.replace(path)


def folder(path: Path) -> None:
    path.unlink()
    (path / "inside").mkdir(parents=True)


def pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def loop(path: Path) -> None:
    path.unlink()
    path.symlink_to(path.name)


def huge(path: Path) -> None:
    os.truncate(path, 1 << 34)  # of which nothing is on the disk


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (halved, "it is damaged"),
        (emptied, "it is damaged"),
        (lengthened, "it is damaged"),
        (foreign, "it is damaged"),
        (huge, "it is damaged"),
        (folder, "it is no file"),
        (pipe, "it is no file"),
        (loop, "Too many levels of symbolic links"),
        (Path.unlink, "No such file or directory"),
    ],
)
def test_what_has_its_name_and_is_not_it_is_refused_and_written_over(
    kept: Path, change: Callable[[Path], None], reason: str
) -> None:
    change(kept)
    assert refused(kept) == f"{kept}: {reason}"
    assert keep_code(kept.parent, KEY, LINKED, CODE) == kept
    assert read_code(kept).content == CODE


def test_code_does_not_pass_for_that_of_other_sources(kept: Path) -> None:
    other = kept.with_name(kept.name.replace(KEY, "another"))
    shutil.copy(kept, other)
    assert refused(other) == f"{other}: it is damaged"


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_what_others_may_write_to_is_not_loaded(kept: Path, mode: int) -> None:
    kept.chmod(mode)
    assert refused(kept) == f"{kept}: others may write to it"
    assert read_code(kept, shared=True).content == CODE
    kept.chmod(0o640)
    assert read_code(kept).content == CODE
    kept.parent.chmod(0o770)
    assert CodeFolder(kept.parent).files(KEY, (LINKED,)) == []


def test_what_belongs_to_another_user_is_not_loaded(
    kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if os.geteuid() != 0:
        monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    else:
        os.chown(kept, 1, -1)
    assert refused(kept) == f"{kept}: it belongs to another user"


SMALL = """
import numpy as np
from xc40io.compiler.core import core_of, prepare
from xc40io.engine.compiled import entry
from xc40io.engine.component import Component
from xc40io.engine.pool import NoRowLeftError, Pool, make_pool, take

class Bin(Component):
    spare_things: Pool

@entry(raises=NoRowLeftError)
def take_one(bin_: Bin) -> int:
    return take(bin_.spare_things) + 5

def main() -> None:
    made = Bin(spare_things=make_pool(2))
    prepare([take_one], made)
    print(take_one(made), core_of(take_one.symbol))
"""


class Small:
    """A core of one function, in a cache of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "small_core.py").write_text(SMALL)
        self.cache = folder / "cache/xc40io/compiled"

    def start(self) -> subprocess.Popen[str]:
        """Start a process that needs it."""
        paths = [str(self.folder), *filter(None, sys.path)]
        return subprocess.Popen(
            [sys.executable, "-c", "import small_core; small_core.main()"],
            env=os.environ
            | {"XDG_CACHE_HOME": str(self.folder / "cache"), "PYTHONPATH": os.pathsep.join(paths)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def told(self, process: subprocess.Popen[str] | None = None) -> list[str]:
        """Return what a process says beside the right answer."""
        process = process or self.start()
        answer, said = process.communicate(timeout=120)
        assert process.returncode == 0, said
        value, core = answer.split(maxsplit=1)
        assert value == "5"
        assert Path(core.strip()).parent == self.cache
        return said.splitlines()


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Small:
    """Return a core that two processes have asked for at once."""
    made = Small(tmp_path_factory.mktemp("small"))
    both = [made.start(), made.start()]
    said = [line for one in both for line in made.told(one)]
    assert sum("0 of 1 functions" in line for line in said) == 1
    assert all("compiling the data plane" in line for line in said)  # one may have had to wait
    assert made.told() == []
    return made


def spoilt(path: Path) -> None:
    path.write_bytes(random.Random(2).randbytes(100_000))


@compiled
@pytest.mark.parametrize("change", [halved, spoilt, folder])
def test_a_process_tells_what_it_makes_anew_once(
    small: Small, change: Callable[[Path], None]
) -> None:
    (core,) = small.cache.glob("*.so")
    change(core)
    (said,) = small.told()
    assert said.startswith(f"xc40io: {core}: ")
    assert said.endswith(": the data plane is compiled anew")
    assert small.told() == []


@compiled
def test_a_damaged_object_is_not_linked(small: Small) -> None:
    (core,) = small.cache.glob("*.so")
    (one,) = small.cache.glob("objects/*.o")
    core.unlink()
    one.write_bytes(one.read_bytes()[:-1] + b"?")
    said = small.told()
    assert said[0] == f"xc40io: {one}: it is damaged: compiled anew"
    assert "1 of 1 functions" in said[-1]
    assert small.told() == []


@compiled
def test_a_folder_that_others_could_write_to_is_emptied_and_closed(small: Small) -> None:
    planted = small.cache / "planted"
    planted.touch()
    small.cache.chmod(0o777)
    said = small.told()
    assert said[0] == f"xc40io: {small.cache}: others may write to it: what was there is removed"
    assert small.cache.stat().st_mode & 0o777 == 0o700
    assert not planted.exists()
    assert small.told() == []


@compiled
@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_a_folder_of_another_user_is_left_alone(small: Small) -> None:
    os.chown(small.cache, 1, -1)
    before = sorted(small.cache.iterdir())
    answer, said = small.start().communicate(timeout=120)
    assert said.startswith(f"xc40io: nothing can be kept in {small.cache} (it belongs to another")
    assert answer.startswith("5 ")
    assert sorted(small.cache.iterdir()) == before
    os.chown(small.cache, 0, -1)
    assert small.told() == []
