"""Records in a file."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from xc40io.archive.archive import Format, read_archive, write_archive
from xc40io.config.errors import InputError
from xc40io.config.kept import kept


@kept
class Note(NamedTuple):
    text: str
    numbers: Any = None
    later: str = "as usual"


FORMAT = Format("note", 3, "--keep")
NUMBERS = {
    "floats": np.linspace(0.0, 1.0, 300).reshape(100, 3),
    "whole": np.arange(1000, dtype=np.int32),
    "wide": np.arange(20_000.0).reshape(100, 200),
    "flags": np.arange(100) % 3 == 0,
    "large": np.arange(100, dtype=np.uint64) + np.uint64(2**63),
    "names": tuple(f"node {number}" for number in range(100)),
}


def test_what_was_written_is_read(tmp_path: Path):
    write_archive(tmp_path / "a", FORMAT, "1.0", Note("hello", NUMBERS))
    back = read_archive(tmp_path / "a", FORMAT)
    assert back.text == "hello"
    assert back.numbers.keys() == NUMBERS.keys()
    for name, value in NUMBERS.items():
        found = back.numbers[name]
        assert np.array_equal(found, value)
        assert isinstance(value, tuple) or found.dtype == value.dtype


def test_equal_contents_make_equal_files(tmp_path: Path):
    for name in ("a", "b"):
        write_archive(tmp_path / name, FORMAT, "1.0", Note("hello", NUMBERS))
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_it_is_a_zip_of_json_and_parquet(tmp_path: Path):
    write_archive(tmp_path / "a", FORMAT, "1.0", Note("hello", NUMBERS))
    with zipfile.ZipFile(tmp_path / "a") as archive:
        assert archive.testzip() is None
        assert set(archive.namelist()) == {
            *("content.json", "rows-100.parquet", "rows-1000.parquet", "rows-20000.parquet"),
            "seal",
        }


def test_an_older_file_opens_and_a_newer_one_does_not(tmp_path: Path):
    write_archive(tmp_path / "a", FORMAT, "1.0", Note("hello"))
    assert read_archive(tmp_path / "a", FORMAT._replace(version=4)) == Note("hello")
    with pytest.raises(InputError, match="newer xc40io"):
        read_archive(tmp_path / "a", FORMAT._replace(version=2))


def test_what_cannot_be_kept_leaves_no_file(tmp_path: Path):
    with pytest.raises(TypeError, match="not among what can be kept"):
        write_archive(tmp_path / "a", FORMAT, "1.0", Note("hello", FORMAT))
    assert list(tmp_path.iterdir()) == []


def changed(path: Path, **members: bytes | None) -> Path:
    """Write a file anew, a zip without a fault, with some members replaced or left out."""
    new = path.with_name("changed")
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(new, "w") as archive:
        for name in old.namelist():
            data = members.get(name.partition(".")[0].replace("-", "_"), old.read(name))
            if data is not None:
                archive.writestr(name, data)
    return new


def test_a_figure_that_was_changed_is_told(tmp_path: Path):
    write_archive(tmp_path / "a", FORMAT, "1.0", Note("0.125", NUMBERS))
    assert read_archive(changed(tmp_path / "a"), FORMAT).text == "0.125"  # packed anew, no more
    with zipfile.ZipFile(tmp_path / "a") as archive:
        text = archive.read("content.json")
        rows = archive.read("rows-100.parquet")
    for members in (
        {"content": text.replace(b"0.125", b"0.126")},
        {"rows_1000": rows},
        {"rows_100": None},
        {"seal": None},
        {"seal": b"0" * 32},
        {"seal": b""},
        {"content": text.replace(b"0.125", b"0.126"), "seal": None},
    ):
        with pytest.raises(InputError, match="changed after it was written, its seal does not fit"):
            read_archive(changed(tmp_path / "a", **members), FORMAT)


def test_a_file_of_a_version_without_seals_is_read(tmp_path: Path):
    write_archive(tmp_path / "a", FORMAT, "1.0", Note("hello", NUMBERS))
    with zipfile.ZipFile(tmp_path / "a") as archive:
        text = archive.read("content.json").replace(b'"sealed":true,', b"")
    assert read_archive(changed(tmp_path / "a", content=text, seal=None), FORMAT).text == "hello"
