"""All pictures of a run, as files."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from matplotlib.image import imread

from xc40io import Result
from xc40io.config.errors import InputError
from xc40io.results.pictures.album import Album, album_of, write_pictures
from xc40io.telling.answer import Text

NAMES = {"bandwidth.png", "osts.png", "lnet_routers.png", "groups.png", "links.png", "ranks.png"}


def test_pictures_are_whole_and_the_same_every_time(lustre: Result, tmp_path: Path):
    first, second = tmp_path / "first", tmp_path / "second"
    for folder in (first, second):
        folder.mkdir()
        written = write_pictures(folder, album_of(lustre).pictures, "--plots")
        assert {path.name for path in written} == NAMES
        assert set(folder.iterdir()) == set(written)
    for name in NAMES:
        assert (first / name).read_bytes() == (second / name).read_bytes()
        height, width, colours = imread(first / name).shape
        assert min(height, width) > 200
        assert colours == 4


def test_what_is_not_there_is_left_out_without_a_word(home: Result):
    album = album_of(home)
    names = [one.name for one in album.pictures]
    assert names[0] == "bandwidth"
    assert not {"osts", "lnet_routers", "groups", "locks"} & {*names, *dict(album.left_out)}


def test_a_recording_adds_what_happened_when(recorded: Result):
    album = album_of(recorded)
    names = [one.name for one in album.pictures]
    assert names == ["bandwidth", "queues", "locks", "ranks", "gantt"]


def test_what_has_nothing_to_say_is_named_with_the_reason(recorded: Result):
    album = album_of(recorded)
    why = dict(album.left_out)
    assert why["osts"] == why["server_rates"] == why["oss_load"] == "one alone was used"
    assert why["groups"] == "all passed one group"
    assert re.fullmatch(r"\d+ operations in all", why["mdt_operations"])
    assert album.note.startswith("Not drawn, as there is nothing to see: ")
    assert all(one.name in album.note and one.why in album.note for one in album.left_out)
    assert album.blocks[-1] == Text(album.note), "a page has it, too"


def test_an_album_that_shows_all_has_no_note():
    assert Album([]).note == ""
    assert Album([]).blocks == []


def test_a_former_picture_is_replaced_and_a_refusal_is_one_sentence(lustre: Result, tmp_path: Path):
    (tmp_path / "bandwidth.png").write_text("old")
    (tmp_path / "osts.png").mkdir()
    with pytest.raises(InputError, match=r"--plots: .*osts\.png cannot be written"):
        write_pictures(tmp_path, album_of(lustre).pictures, "--plots")
    assert (tmp_path / "bandwidth.png").read_bytes().startswith(b"\x89PNG")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bandwidth.png", "osts.png"]
