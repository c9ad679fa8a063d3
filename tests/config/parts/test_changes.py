"""The counts of OSTs and LNET routers that a machine can have."""

from __future__ import annotations

import pytest

from xc40io.config.errors import InputError
from xc40io.config.machine import load_machine
from xc40io.config.parts.machine_changes import nearest_count


@pytest.mark.parametrize(
    ("routers", "per_group", "metadata"), [(15, 1, 1), (16, 1, 2), (44, 3, 2), (45, 3, 3)]
)
def test_lnet_routers_are_shared_out(routers: int, per_group: int, metadata: int) -> None:
    lnet = load_machine("theta").with_changes({"lnet.routers": routers}).lnet
    assert (lnet.routers_per_group, lnet.metadata_routers) == (per_group, metadata)
    assert lnet.data_routers + lnet.metadata_routers == routers


@pytest.mark.parametrize(
    ("path", "count", "near"),
    [
        ("lnet.routers", 20, (16, 30)),
        ("lnet.routers", 61, (60, 72)),
        ("lnet.routers", 1, (15,)),
        ("lustre.osts", 100, (98, 112)),
        ("lustre.osts", 5, (14,)),
    ],
)
def test_the_nearest_counts_are_named_and_can_be_had(
    path: str, count: int, near: tuple[int, ...]
) -> None:
    theta = load_machine("theta")
    with pytest.raises(InputError) as refused:
        theta.with_changes({path: count})
    right = f"the nearest right counts: {' and '.join(map(str, near))}; or lnet.groups = null"
    assert right in str(refused.value)
    for each in near:
        theta.with_changes({path: each})
    between = range(min(near) + 1, max(near)) if len(near) > 1 else ()
    for each in between:
        with pytest.raises(InputError):
            theta.with_changes({path: each})


def test_more_routers_than_service_nodes_get_blades_in_place_of_compute_blades() -> None:
    theta = load_machine("theta")
    more = theta.with_changes({"lnet.routers": 60})
    assert more.nodes.service_nodes == 60 + 60  # the DVS nodes of home stay
    assert theta.nodes.count - more.nodes.count == 4 * (60 - 54)
    assert more.provenance["nodes.count"].source == "follows from the changes; was 4392"
    assert theta.with_changes({"lnet.routers": 44}).nodes == theta.nodes
    with pytest.raises(InputError, match="is more than the 108 service"):
        theta.with_changes({"lnet.routers_per_group": 4, "nodes.service_blades": 54})
    with pytest.raises(InputError, match="room for 48; the nearest right counts: 45"):
        theta.with_changes({"lnet.routers": 60, "nodes.count": 4392})


@pytest.mark.parametrize("path", ["nodes.service_blades", "network.slots"])
def test_what_is_no_count_is_refused_as_such(path: str) -> None:
    with pytest.raises(InputError, match=f"{path} = 'many'"):
        load_machine("theta").with_changes({path: "many", "lnet.routers": 60})


def test_a_torus_has_blades_for_more_routers_too() -> None:
    titan = load_machine("titan")
    before = titan.nodes.service_nodes
    more = titan.with_changes({"lnet.routers_per_group": 8 * titan.lnet.routers_per_group})
    assert before < more.lnet.routers <= more.nodes.service_nodes


@pytest.mark.parametrize(
    ("path", "count", "near"),
    [
        ("lnet.routers", 45, 45),
        ("lnet.routers", 23, 16),
        ("lnet.routers", 24, 30),
        ("lustre.osts", 84, 84),
        ("lustre.osts", 3, 14),
        ("lustre.osts", 64, 70),
        ("lustre.osts", 63, 56),
        ("lustre.ost_disks", 0, 1),
    ],
)
def test_a_count_that_cannot_be_becomes_the_nearest_that_can(
    path: str, count: int, near: int
) -> None:
    theta = load_machine("theta")
    assert nearest_count(path, count, theta.values()) == near
    theta.with_changes({path: near})
