from __future__ import annotations

import pytest

from sim.mpi.communicator import host_name
from sim.mpi.known_hints import EVERYBODY, HostLimit, parse_config_list


@pytest.mark.parametrize(
    ("text", "limits"),
    [
        ("*:1", [("*", 1)]),
        ("*", [("*", 1)]),
        ("*:*", [("*", EVERYBODY)]),
        ("nid00004:2,nid00000,*:0", [("nid00004", 2), ("nid00000", 1), ("*", 0)]),
    ],
)
def test_a_list_is_hosts_with_limits(text: str, limits: list[tuple[str, int]]) -> None:
    assert parse_config_list(text) == tuple(HostLimit(*limit) for limit in limits)


@pytest.mark.parametrize(
    "text", ["", "*:", "*:x", ":2", "nid*:1", "*:1,", "*:1:2", "a b:1", "*:-1"]
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        parse_config_list(text)


def test_a_node_has_the_name_of_a_cray_node() -> None:
    assert host_name(4) == "nid00004"
