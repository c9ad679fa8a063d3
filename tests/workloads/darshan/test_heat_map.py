"""Heat maps of Darshan: when bytes were moved, added up over the ranks, and said in sentences."""

from __future__ import annotations

import numpy as np
import pytest
from darshan_logs import collective_writes, posix_writes, write_log

from xc40io.workloads.darshan.heat_map import Pace, heat_sentences
from xc40io.workloads.darshan.log import read_log
from xc40io.workloads.darshan.reconstruction import reconstruct
from xc40io.workloads.trace import TraceOp, join_blocks

MIB = 2**20
NAMES = {1: "/lus/theta-fs0/data", 8: "heatmap:POSIX", 9: "heatmap:MPIIO"}


def logged(path, *maps):
    return read_log(write_log(path, names=NAMES, POSIX=[posix_writes(0, 1, 2**20)], HEATMAP=maps))


def heat(number, rank, writes, reads=(0, 0, 0, 0)):
    return {"id": number, "rank": rank, "width": 2.5, "writes": writes, "reads": reads}


def test_the_bytes_of_all_ranks_are_added_up_by_module(tmp_path):
    maps = (heat(8, 0, (0, 10, 0, 90)), heat(8, 1, (0, 5, 0, 0), (7, 0, 0, 0)))
    log = logged(tmp_path / "a.darshan", *maps, heat(9, 0, (1, 1, 1, 1)))
    (posix, mpiio) = log.heat
    assert (posix.module, posix.width) == ("POSIX", 2.5)
    assert posix.written.tolist() == [0, 15, 0, 90]
    assert posix.read.tolist() == [7, 0, 0, 0]
    assert (mpiio.module, mpiio.written.sum(), mpiio.read.sum()) == ("MPI-IO", 4, 0)


def test_a_sentence_says_from_when_to_when_and_when_most(tmp_path):
    log = logged(tmp_path / "a.darshan", heat(8, 0, (0, 10**9, 0, 3 * 10**9), (10**9, 0, 0, 0)))
    read, written = heat_sentences(log.heat)
    assert read == (
        "By its heat map 1 GB were read through POSIX from 0 s to 2.500 s of the run, all in one "
        "interval."
    )
    assert written == (
        "By its heat map 4 GB were written through POSIX from 2.500 s to 10.00 s of the run, in 2 "
        "of 4 intervals of 2.50 s; half of it in 1, most at 7.500 s."
    )


def test_a_map_that_cannot_be_is_lost_and_the_rest_is_read(tmp_path):
    log = logged(tmp_path / "a.darshan", heat(8, 0, (0, 1, 0, 1)) | {"width": -1.0})
    assert log.heat == ()
    assert any("HEATMAP" in lost for lost in log.lost)
    assert len(log.posix) == 1


@pytest.mark.parametrize(
    ("side", "reached"), [("right", [2.0, 3.0, 7.0, 7.5]), ("left", [2.0, 3.0, 4.0, 7.5])]
)
def test_parts_of_the_bytes_are_reached_where_they_were_moved(side, reached):
    pace = Pace(1.0, np.array([9, 9, 1, 1, 0, 0, 0, 2, 9]))  # before and after the window: others
    found = pace.reached(np.array([0.0, 0.25, 0.5, 0.75]), (2.0, 8.0), side)
    assert found.tolist() == reached
    assert pace.reached(np.zeros(1), (4.0, 6.5), side) is None


WINDOW = {
    "F_WRITE_START_TIMESTAMP": 1.0,
    "F_WRITE_END_TIMESTAMP": 9.5,
    "F_CLOSE_START_TIMESTAMP": 9.5,
    "F_CLOSE_END_TIMESTAMP": 9.6,
}


def begun(log, op=TraceOp.WRITE):
    """Return when each rank began its calls, by rank."""
    rows = join_blocks(list(reconstruct(log).trace.blocks()))
    which = rows.op == op
    return {rank: rows.start[which & (rows.rank == rank)].tolist() for rank in np.unique(rows.rank)}


def evenly(log):
    """Return whether the writes of rank 0 are spread evenly from second 1 on."""
    gaps = np.diff(begun(log)[0])
    return np.allclose(gaps, gaps[0])


def test_each_rank_of_a_shared_file_makes_its_calls_when_its_bytes_were_moved(tmp_path):
    early = heat(8, 0, (2 * MIB, 0, 0, 2 * MIB))
    late = heat(8, 1, (0, 0, 4 * MIB, 0))
    both = posix_writes(-1, 8, MIB, OPENS=2, FSYNCS=2, **WINDOW)
    path = tmp_path / "a.darshan"
    log = read_log(write_log(path, ranks=2, names=NAMES, POSIX=[both], HEATMAP=[early, late]))
    found = begun(log)
    assert found[0] == [1.0, 1.75, 7.5, 8.5]
    assert found[1] == [5.0, 5.625, 6.25, 6.875]
    assert begun(log, TraceOp.FSYNC)[0] == [9.5]  # after all that was written


def test_files_that_share_a_map_have_their_calls_within_their_own_times(tmp_path):
    names = {**NAMES, 2: "/lus/theta-fs0/other"}
    first = {**WINDOW, "F_WRITE_END_TIMESTAMP": 4.0}
    other = {**WINDOW, "F_WRITE_START_TIMESTAMP": 7.5}
    posix = [posix_writes(0, 2, MIB, **first), posix_writes(0, 2, MIB, **other) | {"id": 2}]
    maps = [heat(8, 0, (0, 2 * MIB, MIB, MIB))]
    log = read_log(write_log(tmp_path / "a.darshan", names=names, POSIX=posix, HEATMAP=maps))
    assert begun(log)[0] == [2.5, 3.25, 7.5, 8.5]


def test_collective_calls_follow_the_bytes_of_all_ranks(tmp_path):
    maps = [heat(9, rank, (2 * MIB, 0, 0, 2 * MIB)) for rank in range(4)]
    wrote = collective_writes(4, 4, MIB, **WINDOW)
    log = read_log(write_log(tmp_path / "a.darshan", names=NAMES, MPIIO=[wrote], HEATMAP=maps))
    assert set(map(tuple, begun(log).values())) == {(1.0, 1.75, 7.5, 8.5)}


def test_where_map_and_counters_have_other_bytes_the_counters_win_and_it_is_said(tmp_path):
    wrote = posix_writes(0, 4, MIB, **WINDOW)
    path = tmp_path / "a.darshan"
    right = write_log(path, names=NAMES, POSIX=[wrote], HEATMAP=[heat(8, 0, (MIB, 0, 0, 3 * MIB))])
    assert not evenly(read_log(right))
    wrong = write_log(path, names=NAMES, POSIX=[wrote], HEATMAP=[heat(8, 0, (MIB, 0, 0, 9 * MIB))])
    log = read_log(wrong)
    assert evenly(log)
    assert log.warnings == (
        f"{path}: the heat map of POSIX has 10,485,760 bytes written, where its counters have "
        "4,194,304: the map is not used",
    )
    assert len(log.heat) == 1  # and yet is told of
