"""A picture of a machine shows its network and the storage behind it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import matplotlib

from xc40io.config.machine import load_machine
from xc40io.results.machine_picture import draw_machine
from xc40io.run.fabric import fabric_of


def words_of(name: str, folder: Path, changes: Mapping[str, float] = MappingProxyType({})) -> str:
    machine = load_machine(name).with_changes(changes)
    path = folder / "machine.svg"
    with matplotlib.rc_context({"svg.fonttype": "none"}):
        draw_machine(machine, fabric_of(machine), path)
    return path.read_text(encoding="utf-8")


def test_storage_stands_below_the_network_with_what_was_changed(tmp_path: Path) -> None:
    drawn = words_of("theta", tmp_path, {"lustre.ost_write_rate": 4e9})
    for words in (
        "Theta, Cray XC40",
        "3,168 blue links between groups",
        "Behind the LNET routers",
        "14 groups of 2 routers and 4 OSSs each",
        "30 LNET routers, 2 InfiniBand links of 5.80 GB/s each way on each",
        "56 OSTs, 4.00 GB/s written, 4.29 GB/s read each",
        "1 metadata server behind 2 routers",
        "an SSD in each compute node",
    ):
        assert words in drawn


def test_what_a_machine_has_not_is_not_told(tmp_path: Path) -> None:
    drawn = words_of("titan", tmp_path)
    assert "672 OSTs" in drawn
    assert "an SSD" not in drawn
    assert "1 metadata server<" in drawn


def test_of_many_groups_only_the_bundles_of_one_are_drawn(tmp_path: Path) -> None:
    drawn = words_of("cori-knl", tmp_path)
    assert "561 pairs of groups are joined like this;" in drawn
    assert "288 service nodes for the burst buffer" in drawn
