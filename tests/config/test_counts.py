"""The counts of OSTs and LNET routers that a machine can have."""

from __future__ import annotations

import pytest

from sim.config.errors import InputError
from sim.config.machine import load_machine


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
        ("lnet.routers", 60, (45,)),
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
    assert str(refused.value).endswith(f"the nearest right counts: {' and '.join(map(str, near))}")
    for each in near:
        theta.with_changes({path: each})
    between = range(min(near) + 1, max(near)) if len(near) > 1 else ()
    for each in between:
        with pytest.raises(InputError):
            theta.with_changes({path: each})
