"""Subfiles of HDF5: who is an I/O concentrator, and what ranks ask of whom."""

from __future__ import annotations

import numpy as np
import pytest

from xc40io.config.errors import InputError
from xc40io.libraries.hdf5_subfiles import Subfiling, ends_of, requests_of
from xc40io.mpi.accesses import Accesses

CRITERIA = "H5FD_SUBFILING_IOC_SELECTION_CRITERIA"
PER_NODE = "H5FD_SUBFILING_IOC_PER_NODE"


@pytest.mark.parametrize(
    ("environment", "subfiles", "ranks"),
    [
        ({}, None, [0, 4, 8]),
        ({}, 2, [0, 4]),
        ({PER_NODE: "2"}, None, [0, 1, 4, 5, 8, 9]),
        ({PER_NODE: "9"}, None, list(range(12))),
        # Fewer subfiles than concentrators: those of a node become fewer, too, and then nodes.
        ({PER_NODE: "2"}, 5, [0, 4, 8]),
        ({CRITERIA: "1:5"}, None, [0, 5, 10]),
        ({CRITERIA: "1:99"}, None, [0]),
        ({CRITERIA: "3:3"}, None, [0, 5, 10]),
        ({CRITERIA: "3:4"}, None, [0, 3, 6, 9]),
        ({CRITERIA: "3:1"}, None, [0]),
        ({CRITERIA: "3:99"}, 4, [0, 1, 2, 3]),
        ({CRITERIA: "64"}, None, [0, 4, 8]),
    ],
)
def test_concentrators_are_chosen_as_in_hdf5(environment, subfiles, ranks):
    told = Subfiling.told(environment, subfiles)
    assert told.concentrators(np.repeat([0, 1, 2], 4)).tolist() == ranks


def test_ranks_are_counted_node_by_node_wherever_they_are():
    told = Subfiling.told({CRITERIA: "1:2"})
    assert told.concentrators(np.array([7, 3, 7, 3])).tolist() == [0, 1]
    assert Subfiling().concentrators(np.array([7, 3, 7, 3])).tolist() == [0, 1]


@pytest.mark.parametrize(
    "environment",
    [
        {"H5FD_SUBFILING_STRIPE_SIZE": "32M"},
        {"H5FD_IOC_THREAD_POOL_SIZE": "0"},
        {PER_NODE: "many"},
        {CRITERIA: "2:4"},
        {CRITERIA: "1:none"},
    ],
)
def test_what_hdf5_would_pass_over_is_refused(environment):
    (name,) = environment
    with pytest.raises(InputError, match=f"{name} = .*right would be"):
        Subfiling.told(environment)


def test_a_number_may_be_written_as_c_reads_it():
    assert Subfiling.told({"H5FD_SUBFILING_STRIPE_SIZE": "0x100000"}).stripe_size == 2**20


def test_a_piece_asks_for_a_stripe_of_each_subfile_at_a_time():
    """10 to 75 in stripes of 10 over 3 subfiles, then 5 to 7."""
    accesses = Accesses(np.array([1, 1]), np.array([12, 5]), np.array([63, 2]))
    asked = requests_of(accesses, 10, 3, each=True)
    assert asked.turn.tolist() == [0, 0, 0, 1, 1, 1, 2, 3]
    assert asked.subfile.tolist() == [1, 2, 0, 1, 2, 0, 1, 0]
    assert asked.offset.tolist() == [2, 0, 10, 10, 10, 20, 20, 5]
    assert asked.length.tolist() == [8, 10, 10, 10, 10, 10, 5, 2]


def test_every_rank_counts_its_own_turns():
    accesses = Accesses(np.array([0, 0, 2]), np.array([0, 40, 5]), np.array([20, 5, 1]))
    asked = requests_of(accesses, 10, 2, each=False)
    assert asked.rank.tolist() == [0, 0, 0, 2]
    assert asked.turn.tolist() == [0, 0, 1, 0]


def test_a_single_subfile_gets_all_pieces_of_a_call_at_once():
    accesses = Accesses(np.array([0, 0]), np.array([0, 40]), np.array([20, 5]))
    assert requests_of(accesses, 10, 1, each=False).turn.tolist() == [0, 0]
    assert requests_of(accesses, 10, 1, each=True).turn.tolist() == [0, 1]


@pytest.mark.parametrize("end", [0, 1, 9, 10, 11, 29, 30, 75, 90])
def test_subfiles_end_where_the_file_does(end):
    """Byte after byte dealt to its subfile."""
    stripes = np.arange(end) // 10
    held = np.bincount(stripes % 3, minlength=3)
    assert ends_of(end, 10, 3).tolist() == held.tolist()
