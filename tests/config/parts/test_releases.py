"""Releases of Lustre: which values they stand for, and where these come from."""

from __future__ import annotations

import pytest

from xc40io.config.errors import InputError
from xc40io.config.machine import Machine, load_machine
from xc40io.config.parts.machine_changes import parse_changes
from xc40io.config.parts.releases import load_release, releases

MIB = 1 << 20
THETA = load_machine("theta")


def newer(*assignments: str) -> Machine:
    """Return Theta as changes make it."""
    return THETA.with_changes(parse_changes(assignments))


def test_the_releases_are_in_their_order() -> None:
    assert releases() == ("2.7", "2.10", "2.12", "2.14", "2.15")


@pytest.mark.parametrize("name", releases())
def test_each_value_is_one_of_a_machine_and_has_a_source(name: str) -> None:
    release = load_release(name)
    machine = newer(f"lustre.release={name}")
    values = machine.values(units=False)
    assert release.values.keys() <= values.keys()
    assert release.provenance.keys() == release.values.keys()
    for path in release.values:
        assert machine.provenance[path] == release.provenance[path]
    assert machine.lustre.version == name


def test_theta_with_the_release_that_it_has_is_theta() -> None:
    before, after = THETA.values(), newer("lustre.release=2.7").values()
    moved = {path for path in after if before.get(path) != after[path]}
    assert moved == {"lustre.version"}


def test_what_each_release_brings() -> None:
    """lustre/include/obd.h, llite_internal.h, tgt_grant.c, ldlm_lib.c of the releases' tags."""
    of = {name: newer(f"lustre.release={name}").lustre for name in releases()}
    assert [of[name].rpc_size // MIB for name in releases()] == [1, 4, 4, 4, 4]
    assert [of[name].mds.modifying_rpcs or 1 for name in releases()] == [1, 7, 7, 7, 7]
    assert [of[name].max_dirty // MIB for name in releases()] == [32, 32, 2000, 2000, 2000]
    assert [of[name].grant_chunk // of[name].rpc_size for name in releases()] == [2] * 5
    assert [of[name].readahead // MIB for name in releases()] == [40, 64, 64, 256, 256]
    assert [bool(of[name].composite_layouts) for name in releases()] == [False] + [True] * 4
    assert [bool(of[name].dom_size) for name in releases()] == [False] * 2 + [True] * 3
    assert [bool(of[name].overstriping) for name in releases()] == [False] * 3 + [True] * 2
    assert [bool(of[name].full_extents_first) for name in releases()] == [False] + [True] * 4
    assert [of[name].lock_ahead for name in releases()] == [False] * 2 + [True] * 3


def test_a_change_beside_a_release_goes_before_it() -> None:
    for order in (("lustre.rpc_size=16 MiB", "lustre.release=2.12"), ("lustre.release=2.12",) * 2):
        machine = newer(*order, "lustre.rpc_size=16 MiB")
        assert machine.lustre.rpc_size == 16 * MIB
        assert machine.provenance["lustre.rpc_size"].source.startswith("what if")


def test_a_release_may_be_a_number_of_yaml() -> None:
    assert THETA.with_changes({"lustre.release": 2.1}).lustre.version == "2.10"
    assert THETA.with_changes({"lustre.release": 2.12}).lustre.version == "2.12"


def test_what_is_no_release_is_one_sentence() -> None:
    with pytest.raises(
        InputError, match=r"changes to theta: lustre\.release = 2\.9: right would be"
    ):
        newer("lustre.release=2.9")
