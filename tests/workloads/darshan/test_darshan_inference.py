"""What counters tell that no record of a log says: hints, striping, ranks a node, holes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from darshan_logs import collective_writes, posix_writes, write_log

from xc40io.config.striping import StripeRequest
from xc40io.workloads.darshan.inference import hints_shown
from xc40io.workloads.darshan.log import read_log
from xc40io.workloads.darshan.place import fitting, shape_of
from xc40io.workloads.darshan.reconstruction import reconstruct
from xc40io.workloads.trace import TraceBlock, TraceOp, join_blocks

MIB = 2**20


def variance(moved: list[int]) -> float:
    """Return what Darshan keeps of the ranks' bytes in a shared record."""
    return float(np.var(np.array(moved, float)))


def hints_of(path: Path) -> dict[str, str]:
    return {name: value for of in hints_shown(read_log(path)) for name, value in of.hints.items()}


def strided(rank: int, workers: int, size: int = MIB) -> dict[str, Any]:
    """Return what an aggregator leaves that writes 16 stripes of a file of ``workers`` stripes."""
    gap = {"STRIDE1_STRIDE": (workers - 1) * size, "STRIDE1_COUNT": 15}
    return posix_writes(rank, 16, size, CONSEC_WRITES=0, **gap)


def writes_of(path: Path) -> tuple[TraceBlock, tuple[str, ...]]:
    found = reconstruct(read_log(path))
    rows = join_blocks(list(found.trace.blocks()))
    which = rows.op == TraceOp.WRITE
    return TraceBlock(*(column[which] for column in rows)), found.stories[0]


@pytest.mark.parametrize("shared", [True, False])
def test_as_many_calls_below_by_all_ranks_are_no_collective_buffering(tmp_path, shared):
    if shared:
        below = [posix_writes(-1, 16, 8 * MIB, OPENS=8, F_VARIANCE_RANK_BYTES=0.0)]
    else:
        below = [posix_writes(rank, 2, 8 * MIB) for rank in range(8)]
    above = collective_writes(8, 2, 8 * MIB)
    path = write_log(tmp_path / "a.darshan", ranks=8, POSIX=below, MPIIO=[above])
    (shown,) = hints_shown(read_log(path))
    assert shown.hints == {"romio_cb_write": "disable"}
    assert shown.why.startswith("16 writes below for 16 collective ones, by 8 of 8 ranks")


def test_one_rank_that_writes_as_often_is_an_aggregator(tmp_path):
    moved = [16 * MIB, *[0] * 7]
    below = posix_writes(-1, 16, MIB, OPENS=8, F_VARIANCE_RANK_BYTES=variance(moved))
    above = collective_writes(8, 2, MIB)
    path = write_log(tmp_path / "a.darshan", ranks=8, POSIX=[below], MPIIO=[above])
    assert hints_of(path) == {}


def test_reads_count_where_nothing_was_written(tmp_path):
    renamed = {"WRITE": "READ", "WRITTEN": "READ"}

    def reading(record: dict[str, Any]) -> dict[str, Any]:
        found = {}
        for name, value in record.items():
            for old, new in sorted(renamed.items(), reverse=True):
                name = name.replace(old, new)
            found[name] = value
        return found

    below = [reading(posix_writes(rank, 4, MIB)) for rank in range(2)]
    above = reading(collective_writes(8, 1, MIB))
    osts = [{"id": 1, "rank": -1, "size": MIB, "osts": np.arange(4)}]
    path = write_log(tmp_path / "a.darshan", ranks=8, POSIX=below, MPIIO=[above], LUSTRE=osts)
    assert hints_of(path)["cb_nodes"] == "2"


def test_records_that_are_missing_tell_nothing(tmp_path):
    below = [posix_writes(rank, 1, 100) for rank in range(1, 8)]
    above = collective_writes(8, 2, MIB)
    path = write_log(tmp_path / "a.darshan", ranks=8, POSIX=below, MPIIO=[above])
    assert hints_of(path) == {}
    assert "nothing shows the striping" in reconstruct(read_log(path)).stories[0][0]


def test_aggregators_and_their_strides_tell_the_striping(tmp_path):
    below = [strided(rank, 4) for rank in range(4)]
    above = collective_writes(32, 2, MIB)
    path = write_log(tmp_path / "a.darshan", ranks=32, POSIX=below, MPIIO=[above])
    found = reconstruct(read_log(path))
    assert found.trace.files[0].striping == StripeRequest(count=4, size=MIB)
    assert found.stories[0][0] == (
        "No LUSTRE record. Striped over 4 OSTs, 1,048,576 bytes a stripe, since 4 of 32 ranks "
        "wrote for all in calls of 1 MiB, each 3 MiB after the end of the last."
    )
    assert hints_of(path) == {"romio_no_indep_rw": "true"}


def test_a_record_of_lustre_goes_before_what_calls_show(tmp_path):
    below = [strided(rank, 4) for rank in range(4)]
    above = collective_writes(32, 2, MIB)
    osts = [{"id": 1, "rank": -1, "size": MIB, "osts": [9, 8]}]
    path = write_log(tmp_path / "a.darshan", ranks=32, POSIX=below, MPIIO=[above], LUSTRE=osts)
    assert reconstruct(read_log(path)).trace.files[0].striping.count == 2
    assert hints_of(path) == {"romio_no_indep_rw": "true", "cb_nodes": "4"}


def test_files_elsewhere_have_no_stripes(tmp_path):
    below, above = [strided(rank, 4) for rank in range(4)], collective_writes(32, 2, MIB)
    mounts = {"/lus/theta-fs0": "gpfs"}
    path = tmp_path / "a.darshan"
    write_log(path, ranks=32, mounts=mounts, POSIX=below, MPIIO=[above])
    found = reconstruct(read_log(path))
    assert found.trace.files[0].striping == StripeRequest()
    assert "It lay on gpfs" in found.stories[0][0]


def test_holes_lie_between_the_pieces_of_ranks_that_wrote_for_themselves(tmp_path):
    more = {"F_VARIANCE_RANK_BYTES": 0.0, "MAX_BYTE_WRITTEN": 16 * MIB - 1}
    below = posix_writes(-1, 8, MIB, OPENS=8, **more)
    above = collective_writes(8, 1, MIB)
    path = write_log(tmp_path / "a.darshan", ranks=8, POSIX=[below], MPIIO=[above])
    rows, story = writes_of(path)
    begin = np.sort(rows.offset)
    assert (rows.length == MIB).all()
    assert begin[-1] > 13 * MIB
    assert np.ptp(np.diff(begin)) <= 1
    assert any("holes between the ranks' pieces" in sentence for sentence in story)


def test_holes_that_aggregators_did_not_read_are_whole_stripes(tmp_path):
    below = posix_writes(0, 8, MIB, MAX_BYTE_WRITTEN=16 * MIB - 1)
    above = collective_writes(8, 1, MIB)
    path = write_log(tmp_path / "a.darshan", ranks=8, POSIX=[below], MPIIO=[above])
    rows, _ = writes_of(path)
    assert (rows.offset % MIB == 0).all()
    assert int((rows.offset + rows.length).max()) > 13 * MIB


@pytest.mark.parametrize(
    ("nodes", "ranks", "each"),
    [
        ({0: "a", 7: "a", 8: "b", 16: "c"}, 64, 8),
        ({0: "a", 1: "b"}, 64, 1),
        ({0: "a"}, 64, 0),  # any number fits
        ({0: "a", 8: "b"}, 64, 0),  # 4 as well as 8
        ({0: "a", 1: "b", 2: "a"}, 64, 0),  # dealt in turn: none fits
        ({rank: "abc"[rank // 5] for rank in range(12)}, 12, 5),
        ({}, 64, 0),
    ],
)
def test_ranks_a_node_are_what_alone_fits_the_known_ones(nodes, ranks, each):
    assert fitting(nodes, ranks, 64) == each


def test_names_of_files_on_a_node_tell_whose_node_it_is(tmp_path):
    names = {1: "/lus/theta-fs0/data"}
    names |= {10 + node: f"/tmp/ompi.sn{176 + node}.28751/job" for node in range(4)}
    local = [
        {"id": 10 + rank // 4, "rank": rank, "OPENS": 1, "F_OPEN_END_TIMESTAMP": 1.0}
        for rank in range(16)
    ]
    host = [{"id": 2, "rank": 0, "host": "sn176.localdomain"}]
    path = tmp_path / "a.darshan"
    write_log(path, ranks=16, names=names, POSIX=[posix_writes(0, 2, MIB), *local], APMPI=host)
    shape = shape_of(read_log(path), 64)
    assert (shape.nodes, shape.ppn) == (4, 4)
    assert shape.why == "it fits the 16 ranks whose node the log shows"


def test_full_nodes_are_a_guess(tmp_path):
    path = write_log(tmp_path / "a.darshan", ranks=16, POSIX=[posix_writes(0, 2, MIB)])
    assert shape_of(read_log(path), 8).why == "a guess: as full as 8 cores allow"
