"""Traces made of logs: ranks, files, calls and bytes are those of the log."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from darshan_logs import Segment, collective_writes, posix_writes, write_log
from logged_jobs import JOBS

from xc40io.config.striping import StripeRequest
from xc40io.workloads.darshan.inference import as_hints, hints_shown
from xc40io.workloads.darshan.log import DarshanLog, read_log
from xc40io.workloads.darshan.module_counters import Counters, Layer, Phase, recorded
from xc40io.workloads.darshan.place import dealt
from xc40io.workloads.darshan.reconstruction import Reconstruction, reconstruct, trace_of_log
from xc40io.workloads.trace import TraceBlock, TraceOp, join_blocks

MIB = 2**20
SIZE = MIB + 8


REAL = {
    path.stem: path
    for path in (Path(__file__).parents[4] / "shared/data/darshan").glob("*.darshan")
}
"""Logs of real jobs, where somebody has put some beside the checkout; they are not needed."""


def rows_of(path: Path) -> tuple[DarshanLog, Reconstruction, TraceBlock]:
    log = read_log(path)
    found = reconstruct(log)
    return log, found, join_blocks(list(found.trace.blocks()))


def count(rows: TraceBlock, *ops: TraceOp, mpi: int, coll: bool | None = None) -> int:
    """Count calls: the rows of one rank in a collective call are one."""
    which = np.isin(rows.op, [int(op) for op in ops]) & (rows.mpi == mpi)
    together = which & (rows.coll >= 0)
    pairs = len(np.unique(rows.coll[together] * 2**32 + rows.rank[together]))
    alone = int((which & (rows.coll < 0)).sum())
    return {None: pairs + alone, True: pairs, False: alone}[coll]


def moved(rows: TraceBlock, op: TraceOp, mpi: int) -> int:
    return int(rows.length[(rows.op == op) & (rows.mpi == mpi)].sum())


def test_posix_records_of_each_rank_become_its_calls(tmp_path):
    path = write_log(
        tmp_path / "a.darshan",
        POSIX=[posix_writes(rank, 3 + rank, SIZE, FSYNCS=1, STATS=2) for rank in range(4)],
    )
    _, found, rows = rows_of(path)
    assert [file.name for file in found.trace.files] == ["/lus/theta-fs0/data"]
    assert count(rows, TraceOp.CREATE, mpi=0) == 1
    assert count(rows, TraceOp.OPEN, TraceOp.CREATE, mpi=0) == 4
    assert count(rows, TraceOp.STAT, mpi=0) == 8
    assert count(rows, TraceOp.FSYNC, TraceOp.CLOSE, mpi=0) == 8
    for rank in range(4):
        mine = rows.rank == rank
        writes = mine & (rows.op == TraceOp.WRITE)
        assert rows.offset[writes].tolist() == [SIZE * call for call in range(3 + rank)]
        assert (rows.length[writes] == SIZE).all()
        assert rows.op[mine][0] in (TraceOp.OPEN, TraceOp.CREATE)
        assert rows.op[mine][-1] == TraceOp.CLOSE
        assert (np.diff(rows.start[mine]) >= 0.0).all()
        assert rows.think[mine][0] == pytest.approx(0.9)


def test_think_time_is_what_lies_between_calls(tmp_path):
    segments = [Segment(0, SIZE, 1.0, 1.25), Segment(SIZE, SIZE, 2.0, 2.5)]
    path = write_log(
        tmp_path / "t.darshan",
        ranks=1,
        POSIX=[posix_writes(0, 2, SIZE, F_WRITE_END_TIMESTAMP=2.5, F_CLOSE_END_TIMESTAMP=3.0)],
        DXT_POSIX=[{"id": 1, "rank": 0, "writes": segments}],
    )
    _, _, rows = rows_of(path)
    writes = rows.op == TraceOp.WRITE
    assert rows.start[writes].tolist() == [1.0, 2.0]
    assert rows.think[writes][1] == pytest.approx(0.75)


def test_dxt_that_ran_out_of_room_goes_on_from_where_it_was(tmp_path):
    path = write_log(
        tmp_path / "d.darshan",
        ranks=1,
        POSIX=[posix_writes(0, 10, SIZE)],
        DXT_POSIX=[{"id": 1, "rank": 0, "writes": [Segment(0, SIZE, 1.0, 1.1)]}],
    )
    _, found, rows = rows_of(path)
    writes = rows.op == TraceOp.WRITE
    assert count(rows, TraceOp.WRITE, mpi=0) == 10
    assert moved(rows, TraceOp.WRITE, 0) == 10 * SIZE
    assert rows.offset[writes].tolist() == [SIZE * call for call in range(10)]
    assert any("no room for 9 more calls" in sentence for sentence in found.stories[0])


def test_by_the_counters_alone_dxt_is_left_aside_but_for_where_the_job_ran(tmp_path):
    far = Segment(64 * SIZE, SIZE, 1.0, 1.1)
    path = write_log(
        tmp_path / "c.darshan",
        ranks=1,
        POSIX=[posix_writes(0, 1, SIZE)],
        DXT_POSIX=[{"id": 1, "rank": 0, "host": "nid00077", "writes": [far]}],
    )
    offsets = []
    for counters in (False, True):
        rows = join_blocks(list(trace_of_log(path, counters=counters).blocks()))
        offsets.append(rows.offset[rows.op == TraceOp.WRITE].tolist())
    assert offsets == [[64 * SIZE], [0]]
    assert read_log(path).without_dxt().hosts == {0: "nid00077"}


def test_collective_calls_are_calls_of_all_ranks(tmp_path):
    below = posix_writes(-1, 8, SIZE, OPENS=4, SLOWEST_RANK_BYTES=8 * SIZE)
    path = write_log(
        tmp_path / "c.darshan", POSIX=[below], MPIIO=[collective_writes(4, 2, SIZE, SYNCS=4)]
    )
    _, found, rows = rows_of(path)
    assert found.trace.files[0].mpi
    assert (rows.mpi == 1).all()
    assert count(rows, TraceOp.CREATE, mpi=1, coll=True) == 4
    assert count(rows, TraceOp.FSYNC, mpi=1, coll=True) == 4
    writes = rows.op == TraceOp.WRITE
    assert count(rows, TraceOp.WRITE, mpi=1, coll=True) == 8
    numbers = rows.coll[writes]
    assert [np.count_nonzero(numbers == number) for number in np.unique(numbers)] == [4, 4]
    order = np.argsort(rows.offset[writes])
    assert rows.offset[writes][order].tolist() == [SIZE * call for call in range(8)]


def test_data_with_holes_spreads_over_what_the_aggregators_wrote(tmp_path):
    below = posix_writes(
        0, 16, MIB - 8192, READS=16, RW_SWITCHES=31, MAX_BYTE_WRITTEN=16 * MIB - 1, OPENS=1
    )
    mpiio = collective_writes(4, 1, SIZE)
    path = write_log(tmp_path / "h.darshan", POSIX=[below], MPIIO=[mpiio])
    log, found, rows = rows_of(path)
    writes = rows.op == TraceOp.WRITE
    assert moved(rows, TraceOp.WRITE, 1) == 4 * SIZE
    assert count(rows, TraceOp.WRITE, mpi=1) == 4
    assert writes.sum() > 16
    assert (rows.offset + rows.length)[writes].max() > 15 * MIB
    assert any("windows with holes" in sentence for sentence in found.stories[0])
    assert hints_shown(log)[0].hints == {"romio_no_indep_rw": "true"}
    assert as_hints(hints_shown(log)) == "/lus/theta-fs0/data:romio_no_indep_rw=true"


def test_dxt_of_collective_calls_puts_the_kth_of_each_rank_together(tmp_path):
    def segments(rank: int) -> list[Segment]:
        call = [Segment((4 * turn + rank) * SIZE, SIZE, 1.0 + turn, 1.5 + turn) for turn in (0, 1)]
        return [Segment(0, 16, 0.99, 1.0), *call] if rank == 0 else call

    known: dict[str, Any] = {"INDEP_WRITES": 1, "BYTES_WRITTEN": 8 * SIZE + 16}
    path = write_log(
        tmp_path / "m.darshan",
        MPIIO=[collective_writes(4, 2, SIZE, **known)],
        DXT_MPIIO=[{"id": 1, "rank": rank, "writes": segments(rank)} for rank in range(4)],
    )
    _, _, rows = rows_of(path)
    writes = rows.op == TraceOp.WRITE
    assert count(rows, TraceOp.WRITE, mpi=1, coll=False) == 1
    numbers = rows.coll[writes & (rows.coll >= 0)]
    assert sorted(np.unique(numbers, return_counts=True)[1].tolist()) == [4, 4]
    for number in np.unique(numbers):
        assert len(set(rows.start[writes & (rows.coll == number)].tolist())) == 1


def test_what_is_read_before_it_is_written_was_there_before(tmp_path):
    read = {
        "id": 1,
        "rank": 0,
        "OPENS": 1,
        "READS": 4,
        "BYTES_READ": 400,
        "MAX_BYTE_READ": 399,
        "CONSEC_READS": 3,
        "SEQ_READS": 3,
        "SIZE_READ_0_100": 4,
        "F_READ_START_TIMESTAMP": 1.0,
        "F_READ_END_TIMESTAMP": 2.0,
    }
    _, found, rows = rows_of(write_log(tmp_path / "r.darshan", POSIX=[read]))
    assert found.trace.files[0].size == 400
    assert count(rows, TraceOp.OPEN, mpi=0) == 1
    assert count(rows, TraceOp.CREATE, TraceOp.CLOSE, mpi=0) == 0


def test_striping_that_a_file_system_cannot_have_becomes_all_of_it():
    wide = StripeRequest(count=248, size=MIB, offset=100)
    assert wide.fitting(56) == StripeRequest(count=-1, size=MIB, offset=-1)
    assert wide.fitting(248) == wide


def test_recorded_times_are_those_of_the_log(tmp_path):
    below = posix_writes(-1, 8, SIZE, OPENS=5, SLOWEST_RANK_BYTES=8 * SIZE)
    path = write_log(tmp_path / "c.darshan", POSIX=[below], MPIIO=[collective_writes(4, 2, SIZE)])
    log = read_log(path)
    table = recorded(log.mpiio.of_file(1), log.posix.of_file(1), log.ranks)
    written = table[Layer.MPIIO, Phase.WRITE]
    assert (written.calls, written.bytes, written.ranks) == (8, 8 * SIZE, 4)
    assert written.seconds == written.ranks * 1.5
    assert written.span == 2.0
    assert table[Layer.BELOW, Phase.WRITE].seconds == 0.5


def kept(log: DarshanLog) -> tuple[Counters, Counters]:
    """Return the records that are calls of the application: MPI-IO's, and others of other files."""
    alone = ~np.isin(log.calls.number, log.mpiio.number)
    return log.calls.take(alone), log.mpiio


@pytest.mark.parametrize("name", [*JOBS, *REAL])
def test_logs_keep_ranks_files_calls_and_bytes(name, tmp_path):
    log, found, rows = rows_of(REAL.get(name) or JOBS[name](tmp_path / "job.darshan"))
    posix, mpiio = kept(log)
    assert found.trace.ranks == log.ranks
    assert len(found.trace.files) == len(np.unique(np.append(posix.number, mpiio.number)))
    opens = TraceOp.OPEN, TraceOp.CREATE
    assert count(rows, *opens, mpi=0) == posix.total("OPENS")
    assert count(rows, TraceOp.STAT, mpi=0) == posix.total("STATS")
    assert count(rows, TraceOp.FSYNC, mpi=0) == posix.total("FSYNCS") + posix.total("FDSYNCS")
    assert count(rows, *opens, mpi=1, coll=True) == mpiio.total("COLL_OPENS")
    assert count(rows, *opens, mpi=1, coll=False) == mpiio.total("INDEP_OPENS")
    assert count(rows, TraceOp.FSYNC, mpi=1) == mpiio.total("SYNCS")
    for op, kind, size in (
        (TraceOp.READ, "READS", "BYTES_READ"),
        (TraceOp.WRITE, "WRITES", "BYTES_WRITTEN"),
    ):
        assert count(rows, op, mpi=0) == posix.total(kind)
        assert count(rows, op, mpi=1, coll=True) == mpiio.total(f"COLL_{kind}")
        assert count(rows, op, mpi=1, coll=False) == mpiio.total(f"INDEP_{kind}")
        assert moved(rows, op, 0) == posix.total(size)
        assert moved(rows, op, 1) == mpiio.total(size)


@pytest.mark.parametrize(
    ("ranks", "most", "nodes", "ppn"),
    [(496, 64, 8, 62), (65536, 64, 1024, 64), (509, 64, 8, 64), (7, 4, 2, 4), (3, 64, 1, 3)],
)
def test_ranks_are_dealt_to_full_nodes(ranks, most, nodes, ppn):
    assert dealt(ranks, most) == (nodes, ppn)
