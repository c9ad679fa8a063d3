"""Parts of communicators, and where on the machine their ranks are."""

import numpy as np

from sim.mpi.communicator import Communicator

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
