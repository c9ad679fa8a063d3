"""All pictures of a run, as files."""

from __future__ import annotations

from pathlib import Path

import pytest
from matplotlib.image import imread

from xc40io import Result
from xc40io.config.errors import InputError
from xc40io.results.pictures.album import pictures_of, write_pictures

NAMES = {"bandwidth.png", "osts.png", "lnet_routers.png", "groups.png", "links.png", "ranks.png"}


def test_pictures_are_whole_and_the_same_every_time(lustre: Result, tmp_path: Path):
    first, second = tmp_path / "first", tmp_path / "second"
    for folder in (first, second):
        folder.mkdir()
        written = write_pictures(folder, pictures_of(lustre), "--plots")
        assert {path.name for path in written} == NAMES
        assert set(folder.iterdir()) == set(written)
    for name in NAMES:
        assert (first / name).read_bytes() == (second / name).read_bytes()
        height, width, colours = imread(first / name).shape
        assert min(height, width) > 200
        assert colours == 4


def test_what_has_nothing_to_show_is_left_out(home: Result):
    names = [one.name for one in pictures_of(home)]
    assert names == ["bandwidth", "service_nodes", "links", "ranks"]


def test_a_recording_adds_what_happened_when(recorded: Result):
    names = [one.name for one in pictures_of(recorded)]
    assert names == [
        *("bandwidth", "osts", "lnet_routers", "groups", "links", "queues", "locks"),
        *("mdt_operations", "server_rates", "oss_load", "ranks", "gantt"),
    ]


def test_a_former_picture_is_replaced_and_a_refusal_is_one_sentence(lustre: Result, tmp_path: Path):
    (tmp_path / "bandwidth.png").write_text("old")
    (tmp_path / "osts.png").mkdir()
    with pytest.raises(InputError, match=r"--plots: .*osts\.png cannot be written"):
        write_pictures(tmp_path, pictures_of(lustre), "--plots")
    assert (tmp_path / "bandwidth.png").read_bytes().startswith(b"\x89PNG")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bandwidth.png", "osts.png"]
