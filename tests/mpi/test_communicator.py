"""Parts of communicators, where their ranks are, and collectives' cost against measurements."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xc40io.config.machine import load_machine
from xc40io.mpi.communicator import Collectives, Communicator

WORLD = Communicator(
    np.array([7, 5, 3, 1]),
    np.array([0, 0, 1, 2], np.int32),
    4,
    np.array([40, 9, 31], np.int32),
)


def test_ranks_are_on_the_nodes_that_the_job_was_given():
    assert WORLD.host.tolist() == [40, 40, 9, 31]


def test_without_a_placement_the_jobs_nodes_are_the_machines():
    assert Communicator(WORLD.owners, WORLD.node, 0).host.tolist() == [0, 0, 1, 2]


def test_a_part_has_its_ranks_where_they_were():
    part = WORLD.part(np.array([3, 0]), 6)
    assert (part.owners.tolist(), part.node.tolist(), part.meeting) == ([1, 7], [2, 0], 6)
    assert part.host.tolist() == [31, 40]
    assert (part.size, part.nodes, WORLD.nodes) == (2, 2, 3)


MPI = load_machine("theta").mpi
NODES = (32, 64, 128, 256, 512, 1024, 2048)
MEASURED = {  # microseconds with 4 KiB (ALCF, Aries network)
    "allreduce": (120, 135, 168, 186, 238, 308, 307),
    "bcast": (28, 33, 44, 42, 60, 56, 104),
    "gather": (23, 23, 25, 25, 24, 30, 34),
}


def cost(name: str, nodes: int, ranks: int, *size: int) -> float:
    """Return the seconds of one collective."""
    seconds: float = getattr(Collectives(MPI, nodes, ranks), name)(*size)
    return seconds


@pytest.mark.parametrize("name", MEASURED)
@pytest.mark.parametrize("nodes", NODES)
def test_every_measured_point_is_met_within_25_percent(name: str, nodes: int) -> None:
    measured = MEASURED[name][NODES.index(nodes)] * 1e-6
    assert cost(name, nodes, nodes, 4096) == pytest.approx(measured, rel=0.25)


def test_an_alltoall_of_a_word_over_a_quarter_of_theta_takes_some_milliseconds() -> None:
    # 64 ranks a node send 32 MiB in all; ten steps of half of that at 10 GB/s are 17 ms.
    assert 5e-3 < cost("alltoall", 1024, 65_536, 8) < 50e-3


def test_a_long_alltoall_costs_the_node_what_its_interface_must_carry() -> None:
    seconds = cost("alltoall", 16, 256, 1 << 20)
    assert seconds == pytest.approx(16 * 240 * 2**20 / MPI.node_rate, rel=0.05)


def test_a_gather_ends_at_the_root_when_all_bytes_have_come() -> None:
    assert cost("gatherv", 1024, 65_536, 1 << 30) == pytest.approx(2**30 / MPI.step_rate, rel=0.01)


def test_every_rank_of_an_allgather_receives_everything() -> None:
    seconds = cost("allgather", 128, 128, 1 << 20)
    assert seconds == pytest.approx(127 * 2**20 / MPI.step_rate, rel=0.01)


def test_an_allreduce_of_a_long_vector_moves_it_twice_and_adds_it_up_once() -> None:
    size = 1 << 30
    added = size / MPI.reduce_rate + 2 * size / MPI.step_rate
    assert cost("allreduce", 128, 128, size) == pytest.approx(added, rel=0.02)
    for nodes in (64, 256, 1024):  # offsets of all ranks: in proportion to them, and no more
        long = cost("allreduce", nodes, 64 * nodes, 16 * 64 * nodes)
        assert long < cost("allreduce", 2 * nodes, 128 * nodes, 16 * 128 * nodes) < 2.1 * long


@pytest.mark.parametrize(
    "name", ["bcast", "allreduce", "gather", "gatherv", "allgather", "alltoall"]
)
@given(
    nodes=st.integers(1, 4392),
    per_node=st.integers(1, 64),
    size=st.integers(0, 1 << 20),
    more=st.integers(0, 1 << 20),
)
def test_more_bytes_never_take_less_time(
    name: str, nodes: int, per_node: int, size: int, more: int
) -> None:
    less = cost(name, nodes, nodes * per_node, size)
    assert 0 <= less <= cost(name, nodes, nodes * per_node, size + more)


@pytest.mark.parametrize("name", ["bcast", "allreduce", "gather", "allgather", "alltoall"])
@given(nodes=st.integers(1, 2196), per_node=st.integers(1, 64))
def test_twice_the_nodes_never_take_less_time(name: str, nodes: int, per_node: int) -> None:
    few = cost(name, nodes, nodes * per_node, 64)
    assert few <= cost(name, 2 * nodes, 2 * nodes * per_node, 64)


@given(nodes=st.integers(1, 4392), per_node=st.integers(1, 64))
def test_a_barrier_costs_no_more_than_an_allreduce(nodes: int, per_node: int) -> None:
    ranks = nodes * per_node
    assert cost("barrier", nodes, ranks) <= cost("allreduce", nodes, ranks, 8)


def test_a_single_rank_waits_for_nobody() -> None:
    one = Collectives(MPI, 1, 1)
    assert one.barrier() == one.alltoall(8) == 0.0
