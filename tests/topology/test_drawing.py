from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from dragonflies import full
from whole_networks import drawn_words

from xc40io.topology import DragonflyShape, Fabric, draw


@pytest.mark.parametrize(
    ("suffix", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")]
)
def test_pictures_of_all_formats(tmp_path: Path, suffix: str, start: bytes) -> None:
    fabric = full(DragonflyShape(groups=3, chassis=2, slots=4, group_links=4))
    path = tmp_path / f"machine.{suffix}"
    draw(fabric, path, "A small machine")
    assert path.read_bytes().startswith(start)


def test_a_picture_of_theta_is_1600_by_1000(tmp_path: Path, theta: Fabric) -> None:
    path = tmp_path / "theta.png"
    draw(theta, path, "Theta")
    header = path.read_bytes()[:24]
    assert (int.from_bytes(header[16:20]), int.from_bytes(header[20:24])) == (1600, 1000)


def test_a_picture_says_what_the_machine_has(tmp_path: Path, theta: Fabric) -> None:
    text = drawn_words(theta, "Theta, Cray XC40", tmp_path)
    for words in (
        "Theta, Cray XC40",
        "4,392 compute nodes",
        "30 service blades with LNET router",
        "3,168 blue links between groups, 3.00 GB/s each way per link",
        ">g11<",
    ):
        assert words in text


def test_a_single_group_can_be_drawn(tmp_path: Path) -> None:
    fabric = full(DragonflyShape(groups=1, chassis=1, slots=2))
    draw(fabric, tmp_path / "one.png", "One chassis of two")
    assert (tmp_path / "one.png").stat().st_size > 0


def test_other_networks_cannot_be_drawn(tmp_path: Path, theta: Fabric) -> None:
    with pytest.raises(ValueError, match="there is no kind of network that is called mesh"):
        draw(replace(theta, kind="mesh"), tmp_path / "mesh.png", "Mesh")


def test_unknown_formats(tmp_path: Path, theta: Fabric) -> None:
    with pytest.raises(ValueError, match=r"must end in \.png, \.svg, \.pdf"):
        draw(theta, tmp_path / "theta.bmp", "Theta")
