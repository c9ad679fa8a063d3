"""ARCHER, an XC30, with two of its file systems: what guides say of it."""

from __future__ import annotations

import pytest

from xc40io.config.machine import load_machine


@pytest.mark.parametrize(("name", "servers"), [("archer-fs3", 12), ("archer-fs4", 14)])
def test_it_is_what_the_guides_say(name: str, servers: int) -> None:
    archer = load_machine(name)
    assert archer.lustre.oss_count == servers
    assert archer.lustre.osts == 4 * servers
    assert archer.nodes.count == 4920
    assert archer.network.routers == 4920 // 4 + archer.nodes.service_blades
    assert archer.burst_buffer is None


def test_its_file_systems_are_of_one_kind() -> None:
    third, fourth = (load_machine(f"archer-{name}").values() for name in ("fs3", "fs4"))
    assert {path for path in third | fourth if third.get(path) != fourth.get(path)} == {
        "lnet.routers",
        "lnet.groups",
        "lustre.mounts",
        "lustre.osts",
        "lustre.capacity",
    }
