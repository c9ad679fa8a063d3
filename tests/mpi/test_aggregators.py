from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xc40io.config.errors import InputError
from xc40io.engine.types import Indices
from xc40io.lustre.striping import Layout
from xc40io.mpi.aggregators import choose_aggregators, fit_to_stripes
from xc40io.mpi.communicator import host_name
from xc40io.mpi.hints import Hints
from xc40io.mpi.known_hints import EVERYBODY, parse_config_list


def blocks(nodes: int, ranks: int) -> Indices:
    return np.repeat(np.arange(nodes, dtype=np.int32), ranks)


def cray(node: Indices, hints: Hints, stripes: int) -> list[int]:
    return choose_aggregators(node, hints, Layout.striped(1, range(stripes)), "cray").tolist()


def romio(node: Indices, hints: Hints, stripes: int, *, reading: bool = False) -> list[int]:
    return choose_aggregators(
        node, hints, Layout.striped(1, range(stripes)), "romio", reading=reading
    ).tolist()


def test_512_ranks_of_theta_over_56_osts() -> None:
    """A Darshan log of Theta: ranks 0 to 6 of each of 8 nodes wrote, 56 OSTs apart."""
    chosen = cray(blocks(8, 64), Hints(), 56)
    assert set(chosen) == {64 * node + local for node in range(8) for local in range(7)}
    assert chosen[:9] == [0, 64, 128, 192, 256, 320, 384, 448, 1]


@pytest.mark.parametrize(
    ("hints", "aggregators"),
    [
        (Hints(), 48),
        (Hints(cray_cb_nodes_multiplier=4), 192),
        (Hints(cb_nodes=24), 24),
        (Hints(cb_nodes=24, cray_cb_nodes_multiplier=2), 48),
        (Hints(cb_nodes=50), 48),
        (Hints(cb_nodes=20), 16),
        (Hints(cray_cb_nodes_multiplier=1000), 4080),
        (Hints(cb_config_list="*:1", cray_cb_nodes_multiplier=8), 240),
    ],
)
def test_how_many_aggregators_cray_takes_on_256_nodes_and_48_osts(
    hints: Hints, aggregators: int
) -> None:
    assert len(cray(blocks(256, 16), hints, 48)) == aggregators


@pytest.mark.parametrize(
    ("stride", "aggregators", "nodes"),
    [
        (1, 4, [0, 1, 2, 3]),
        (2, 4, [0, 2, 4, 6]),
        (-1, 4, [0, 2, 4, 6]),
        (-1, 2, [0, 4]),
        (2, 8, [0, 2, 4, 6, 1, 3, 5, 7]),
        (3, 8, [0, 3, 6, 1, 4, 7, 2, 5]),
        (-1, 8, [0, 1, 2, 3, 4, 5, 6, 7]),
        (16, 2, [0, 1]),
    ],
)
def test_the_stride_says_from_how_many_nodes_one_is_taken(
    stride: int, aggregators: int, nodes: list[int]
) -> None:
    hints = Hints(aggregator_placement_stride=stride)
    assert cray(blocks(8, 4), hints, aggregators) == [4 * node for node in nodes]


def test_ranks_dealt_over_the_nodes_in_turn() -> None:
    node = np.tile(np.arange(4, dtype=np.int32), 3)
    assert cray(node, Hints(), 8) == [0, 1, 2, 3, 4, 5, 6, 7]


def test_fewer_ranks_than_stripes() -> None:
    assert cray(blocks(1, 1), Hints(), 56) == [0]
    assert len(cray(blocks(5, 2), Hints(), 56)) == 8
    assert len(cray(blocks(5, 1), Hints(), 7)) == 1


def test_a_list_that_leaves_nobody_is_refused() -> None:
    for library in ("cray", "romio"):
        for config_list in ("nid00009:4", "*:0"):
            with pytest.raises(InputError, match="among the job's, nid00000 to nid00007"):
                choose_aggregators(
                    blocks(8, 2),
                    Hints(cb_config_list=config_list),
                    Layout.striped(1, range(4)),
                    library,
                )


_NODES = st.lists(st.integers(0, 6), min_size=1, max_size=40).map(
    lambda nodes: np.array(nodes, np.int32)
)
_LISTS = st.sampled_from(
    ["*:*", "*:1", "*:2", "nid00001:3,*:1", "nid00000:0,*:*", "nid00002,nid00001:2,*:*", "*:1,*:9"]
)


def limits(node: Indices, config_list: str) -> dict[int, int]:
    found = {}
    for number in set(node.tolist()):
        entries = parse_config_list(config_list)
        allowed = [e.ranks for e in entries if e.host in ("*", host_name(number))]
        most = allowed[0] if allowed else 0
        present = int((node == number).sum())
        found[number] = present if most == EVERYBODY else min(most, present)
    return found


@given(
    _NODES,
    _LISTS,
    st.one_of(st.none(), st.integers(1, 50)),
    st.integers(1, 4),
    st.integers(1, 60),
    st.sampled_from([-1, 1, 2, 3, 5]),
)
def test_what_always_holds_for_cray(
    node: Indices,
    config_list: str,
    cb_nodes: int | None,
    multiplier: int,
    stripes: int,
    stride: int,
) -> None:
    room = limits(node, config_list)
    hints = Hints(
        cb_config_list=config_list,
        cb_nodes=cb_nodes,
        cray_cb_nodes_multiplier=multiplier,
        aggregator_placement_stride=stride,
    )
    if not sum(room.values()):
        with pytest.raises(InputError):
            cray(node, hints, stripes)
        return
    chosen = cray(node, hints, stripes)
    assert len(set(chosen)) == len(chosen)
    assert 1 <= len(chosen) <= (cb_nodes or stripes) * multiplier
    assert stripes % len(chosen) == 0 or len(chosen) % stripes == 0
    taken = {number: [rank for rank in chosen if node[rank] == number] for number in room}
    for number, ranks in taken.items():  # the lowest ranks of each node, in order
        assert ranks == np.flatnonzero(node == number)[: len(ranks)].tolist()
        assert len(ranks) <= room[number]
    most = max(len(ranks) for ranks in taken.values())
    for number, ranks in taken.items():  # as even as there is room
        assert len(ranks) >= min(most - 1, room[number])


def walk_list(node: Indices, config_list: str, wanted: int) -> list[int]:
    """Go through a list as ROMIO does, name by name (cb_config_list.c)."""
    names = [host_name(number) for number in node.tolist()]
    if config_list == "*:*":
        return list(range(wanted))
    chosen: list[int] = []
    used: set[str] = set()
    for host, ranks in parse_config_list(config_list):
        for name in dict.fromkeys(names):
            if name in used or host not in ("*", name):
                continue
            used.add(name)
            same = [rank for rank, other in enumerate(names) if other == name]
            chosen += same if ranks == EVERYBODY else same[:ranks]
    return chosen[:wanted]


@given(
    _NODES,
    _LISTS,
    st.one_of(st.none(), st.integers(1, 50)),
    st.integers(1, 60),
    st.integers(1, 3),
)
def test_romio_goes_through_the_list(
    node: Indices, config_list: str, cb_nodes: int | None, stripes: int, ratio: int
) -> None:
    hints = Hints(cb_config_list=config_list, cb_nodes=cb_nodes, romio_lustre_co_ratio=ratio)
    expected = walk_list(node, config_list, min(cb_nodes or len(node), len(node)))
    if not expected:
        with pytest.raises(InputError):
            romio(node, hints, stripes)
        return
    assert romio(node, hints, stripes, reading=True) == expected
    written = romio(node, hints, stripes)
    assert written == expected[: len(written)]
    assert stripes % len(written) == 0 or len(written) % stripes == 0
    assert len(written) <= ratio * stripes


def test_romio_has_an_aggregator_on_each_node() -> None:
    hints = Hints(cb_config_list="*:1")
    assert romio(blocks(8, 64), hints, 8) == [64 * node for node in range(8)]
    assert romio(blocks(8, 64), hints, 56) == [64 * node for node in range(8)]
    assert romio(blocks(8, 64), hints, 6) == [64 * node for node in range(6)]
    assert len(romio(blocks(8, 64), hints, 6, reading=True)) == 8


def test_examples_of_romio() -> None:
    """From the comments of ADIOI_LUSTRE_Get_striping_info."""
    assert fit_to_stripes(42, 20, 3) == 40
    assert fit_to_stripes(8, 60, 1) == 6


@given(st.integers(1, 300), st.integers(1, 300), st.integers(1, 5))
def test_as_many_as_fit_the_stripes(available: int, stripes: int, ratio: int) -> None:
    fitting = [
        n
        for n in range(1, available + 1)
        if (n % stripes == 0 and n <= ratio * stripes) or stripes % n == 0
    ]
    assert fit_to_stripes(available, stripes, ratio) == max(fitting)


def test_65_536_ranks_are_no_trouble() -> None:
    hints = Hints(cray_cb_nodes_multiplier=8)
    chosen = cray(blocks(1024, 64), hints, 56)
    assert chosen == [64 * 2 * index for index in range(448)]
