"""Heat maps of Darshan: when bytes were moved, added up over the ranks, and said in sentences."""

from __future__ import annotations

from darshan_logs import posix_writes, write_log

from xc40io.workloads.darshan.heat_map import heat_sentences
from xc40io.workloads.darshan.log import read_log

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
