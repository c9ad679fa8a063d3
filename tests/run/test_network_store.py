from __future__ import annotations

import os
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from xc40io.archive.user_cache import user_cache
from xc40io.config.machine import Machine, load_machine
from xc40io.run import fabric as run_fabric
from xc40io.run.fabric import fabric_of, kept_fabric
from xc40io.topology import Fabric


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return user_cache("networks")


def fresh(machine: Machine) -> Fabric:
    """Return the network of a machine as another process would get it."""
    run_fabric._built.cache_clear()
    return fabric_of(machine)


@pytest.fixture
def no_builder(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> Fabric:
        raise AssertionError("the network is built anew")

    monkeypatch.setattr(run_fabric, "build_fabric", refuse)


def same(one: Fabric, other: Fabric) -> bool:
    pairs = ((getattr(one, field.name), getattr(other, field.name)) for field in fields(Fabric))
    return all(type(a) is type(b) and np.array_equal(a, b) for a, b in pairs if not_a_dict(a, b))


def not_a_dict(a: object, b: object) -> bool:
    if isinstance(a, dict):
        assert isinstance(b, dict)
        assert list(a.items()) == list(b.items())
    return not isinstance(a, dict)


@pytest.mark.parametrize("name", ["theta", "titan"])
def test_a_kept_network_is_the_one_that_was_built(
    name: str, own_cache: Path, request: pytest.FixtureRequest
) -> None:
    machine = load_machine(name)
    built = fresh(machine)
    assert len(list(own_cache.iterdir())) == 1
    request.getfixturevalue("no_builder")
    kept = fresh(machine)
    assert same(built, kept)
    assert all(
        getattr(built, field.name).dtype == getattr(kept, field.name).dtype
        for field in fields(Fabric)
        if isinstance(getattr(built, field.name), np.ndarray)
    )


def test_another_description_is_another_network(own_cache: Path) -> None:
    theta = load_machine("theta")
    first = fresh(theta)
    second = fresh(theta.with_changes({"nodes.placement_seed": 7}))
    assert not np.array_equal(first.lnet_router, second.lnet_router)
    assert len(list(own_cache.iterdir())) == 2


def test_whichever_bit_is_damaged_the_network_is_the_same(own_cache: Path) -> None:
    built = fresh(load_machine("theta"))
    (path,) = own_cache.iterdir()
    whole = path.read_bytes()
    path.unlink()
    kept_fabric({}, lambda: built)
    (path,) = own_cache.iterdir()
    for place in (*range(0, 180, 2), *range(len(whole) - 200, len(whole), 3)):
        path.write_bytes(
            whole[:place] + bytes([whole[place] ^ 1 << place % 7]) + whole[place + 1 :]
        )
        assert same(built, kept_fabric({}, lambda: built)), place


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 cut off", b"no archive at all"])
def test_a_damaged_file_is_built_anew(content: bytes, own_cache: Path) -> None:
    theta = load_machine("theta")
    built = fresh(theta)
    (path,) = own_cache.iterdir()
    path.write_bytes(content)
    assert same(built, fresh(theta))
    assert path.read_bytes() != content  # and kept again


def test_nothing_need_be_kept(own_cache: Path) -> None:
    own_cache.parent.mkdir(parents=True)
    own_cache.write_text("a file where the folder would be")
    assert fresh(load_machine("theta")).kind == "dragonfly"


def test_a_network_that_is_old_makes_room(own_cache: Path) -> None:
    theta = load_machine("theta")
    fresh(theta)
    (old,) = own_cache.iterdir()
    os.utime(old, (0.0, 0.0))
    fresh(theta.with_changes({"nodes.placement_seed": 7}))
    (new,) = own_cache.iterdir()
    assert new != old
