"""Recorder's own files where they are damaged, of another version, or too long."""

from __future__ import annotations

import struct
import zlib
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st
from traced import Did, as_native, rows_of

from xc40io.config.errors import InputError
from xc40io.workloads.tracers.opening import open_tracers

CALLS = [Did("open", "/lus/f", 3, 0, flags=66)]
CALLS += [Did("write", "/lus/f", 3, 100 * k, 50, 4096) for k in range(1, 9)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return as_native(tmp_path / "run", [CALLS, CALLS], shared=True)


def test_eight_equal_calls_of_two_ranks_are_one_grammar(folder: Path) -> None:
    assert [row[3] for row in rows_of(folder)] == [0, *range(0, 8 * 4096, 4096)] * 2
    (folder / "_text").mkdir()
    (folder / "_text" / "0.txt").write_text("0.0 0.1 write 0 0 ( /lus/g %p 5 )\n")
    assert rows_of(folder) == [(0, "write", "/lus/g", 0, 5)]  # the text goes before


def test_another_version_is_answered_with_the_way_to_the_text(folder: Path) -> None:
    (folder / "VERSION").write_text("2.5.0")
    with pytest.raises(InputError, match=r"of Recorder 2\.5\.0; right would be .*recorder2text"):
        open_tracers(str(folder))


def test_a_folder_without_a_trace_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no trace; right would be"):
        open_tracers(str(tmp_path))


@pytest.mark.parametrize("name", ["recorder.mt", "recorder.cst", "recorder.ts", "ug.cfg", "ug.mt"])
@pytest.mark.parametrize("keep", [0.0, 0.6])
def test_damaged_files_are_refused_in_a_sentence(folder: Path, name: str, keep: float) -> None:
    content = (folder / name).read_bytes()
    (folder / name).write_bytes(content[: int(keep * len(content))])
    with pytest.raises(InputError) as refused:
        open_tracers(str(folder))
    assert str(folder) in str(refused.value)
    (folder / name).unlink()
    with pytest.raises(InputError, match=r"there is no such file"):
        open_tracers(str(folder))


@given(st.data())
def test_bytes_that_were_changed_give_a_trace_or_a_sentence(data: st.DataObject) -> None:
    with TemporaryDirectory() as name:
        folder = as_native(Path(name) / "run", [CALLS, CALLS], shared=data.draw(st.booleans()))
        path = data.draw(st.sampled_from(sorted(folder.iterdir())))
        content = bytearray(path.read_bytes())
        for _ in range(data.draw(st.integers(1, 4))):
            content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
        path.write_bytes(content)
        with suppress(InputError):
            assert open_tracers(str(folder)).ranks == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((1, -1, 1, -1, 1), "nests too deeply"),  # a rule that is made of itself
        ((1, -1, 1, 0, 1 << 30), "there are 1,073,741,824 calls or more"),
        ((1, -1, 1, 99, 1), "belongs there"),
    ],
)
def test_grammars_without_an_end_are_refused(tmp_path: Path, words, said: str) -> None:
    folder = as_native(tmp_path / "run", [CALLS], shared=False)
    block = struct.pack(f"<{len(words)}i", *words)
    packed = zlib.compress(block)
    (folder / "0.cfg").write_bytes(struct.pack("<QQ", len(packed), len(block)) + packed)
    with pytest.raises(InputError, match=said):
        open_tracers(str(folder))
