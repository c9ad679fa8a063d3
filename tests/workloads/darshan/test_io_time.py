"""How long the I/O of a job took by its log: of all ranks, and of the slowest."""

from __future__ import annotations

import pytest
from darshan_logs import collective_writes, posix_writes, write_log

from xc40io.workloads.darshan.io_time import io_time
from xc40io.workloads.darshan.log import read_counts


def time_of(path, **modules):
    return io_time(read_counts(write_log(path, ranks=4, seconds=100, **modules)))


def test_files_of_one_rank_add_up_for_it(tmp_path):
    times = {"F_WRITE_TIME": 3.0, "F_META_TIME": 1.0}
    own = [posix_writes(rank, 4, 2**20, id=1 + rank, **times) for rank in range(3)]
    own.append(posix_writes(2, 4, 2**20, id=9, **times))
    assert tuple(time_of(tmp_path / "a.darshan", POSIX=own)) == (16.0, 8.0)


def test_of_a_shared_file_the_slowest_rank_counts_and_of_layers_the_outer_one(tmp_path):
    times = {"F_WRITE_TIME": 6.0, "F_META_TIME": 2.0}
    shared = collective_writes(4, 2, 2**20, F_SLOWEST_RANK_TIME=5.0, **times)
    below = posix_writes(-1, 8, 2**20, F_WRITE_TIME=50.0)
    stdio = {"id": 7, "rank": 0, "F_READ_TIME": 0.5}
    found = time_of(tmp_path / "a.darshan", POSIX=[below], MPIIO=[shared], STDIO=[stdio])
    assert tuple(found) == (8.5, 5.5)


def test_no_rank_is_longer_in_its_io_than_the_job_took(tmp_path):
    found = time_of(tmp_path / "a.darshan", POSIX=[posix_writes(0, 4, 2**20, F_WRITE_TIME=1e4)])
    assert found.slowest == pytest.approx(100.0)
    assert found.all_ranks == pytest.approx(10000.1)
