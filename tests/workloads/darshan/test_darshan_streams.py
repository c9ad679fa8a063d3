"""Streams of a log as the calls of POSIX that the C library makes of them."""

from __future__ import annotations

import shlex
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from darshan_logs import collective_writes, posix_writes, write_log

from xc40io import replay
from xc40io.cli.app import cli
from xc40io.findings.log_explained import phases_of_log
from xc40io.workloads.darshan.log import DarshanLog, read_log
from xc40io.workloads.darshan.module_counters import Counters, Phase
from xc40io.workloads.darshan.reconstruction import reconstruct
from xc40io.workloads.darshan.streams import BLOCK
from xc40io.workloads.trace import TraceOp, join_blocks

MIB = 2**20


def stream(rank: int = 0, **counters: Any) -> dict[str, Any]:
    """Return a record of STDIO on file 1, that was opened at second 1."""
    opened = {"F_OPEN_START_TIMESTAMP": 1.0, "F_OPEN_END_TIMESTAMP": 1.1, "OPENS": 1}
    return {"id": 1, "rank": rank, **opened, **counters}


def writing(calls: int, moved: int, **more: Any) -> dict[str, Any]:
    known = {"WRITES": calls, "BYTES_WRITTEN": moved, "MAX_BYTE_WRITTEN": moved - 1}
    times = {"F_WRITE_START_TIMESTAMP": 1.1, "F_WRITE_END_TIMESTAMP": 2.0, "F_WRITE_TIME": 0.5}
    return stream(**known, **times, **more)


def calls_of(log: DarshanLog, op: TraceOp) -> tuple[list[int], list[int]]:
    """Return the offsets and the lengths of reads or writes."""
    rows = join_blocks(list(reconstruct(log).trace.blocks()))
    which = rows.op == op
    return rows.offset[which].tolist(), rows.length[which].tolist()


@pytest.mark.parametrize(
    ("record", "lengths"),
    [
        (writing(9 * 1024, 9 * MIB), [BLOCK, BLOCK, MIB]),  # the last as it is closed
        (writing(4, 40), [40]),
        (writing(4, 40, FLUSHES=4), [10] * 4),
        (writing(4096, 12 * MIB, FLUSHES=1), [BLOCK, BLOCK, 2 * MIB, 2 * MIB]),
        (writing(2, 34 * MIB), [4 * BLOCK, 4 * BLOCK, 2 * MIB]),  # whole blocks go past the buffer
        (writing(0, 0), []),
    ],
)
def test_writes_leave_the_buffer_when_it_is_full_flushed_or_closed(record, lengths, tmp_path):
    log = read_log(write_log(tmp_path / "a.darshan", STDIO=[record]))
    offset, length = calls_of(log, TraceOp.WRITE)
    assert length == lengths
    assert offset == (np.cumsum([0, *lengths])[:-1]).tolist()
    assert not log.unreplayed


def test_a_file_that_is_opened_again_is_read_again(tmp_path):
    times = {"F_READ_START_TIMESTAMP": 1.1, "F_READ_END_TIMESTAMP": 2.0}
    amount = {"OPENS": 2, "READS": 1000, "BYTES_READ": 12 * MIB, "MAX_BYTE_READ": 6 * MIB - 1}
    log = read_log(write_log(tmp_path / "a.darshan", STDIO=[stream(**amount, **times)]))
    offset, length = calls_of(log, TraceOp.READ)
    assert sorted(length) == [2 * MIB, 2 * MIB, BLOCK, BLOCK]
    assert offset.count(0) == 2


def test_standard_streams_and_those_on_files_of_mpi_io_are_left_out(tmp_path):
    alone = {"id": 2, "rank": 0, "OPENS": 1, "BYTES_WRITTEN": 7}
    names = {1: "/lus/theta-fs0/data", 2: "/dev/out"}
    records = {"MPIIO": [collective_writes(4, 2, MIB)], "STDIO": [writing(4, 40), alone]}
    log = read_log(write_log(tmp_path / "a.darshan", names=names, **records))
    assert not len(log.streams)
    assert [(of.module, of.files, of.bytes) for of in log.unreplayed] == [("STDIO", 2, 47)]


def test_a_file_of_posix_and_of_a_stream_is_one_file_with_the_calls_of_both(tmp_path):
    records = {"POSIX": [posix_writes(0, 3, MIB)], "STDIO": [writing(10, 5 * MIB)]}
    path = write_log(tmp_path / "a.darshan", **records)
    (file,) = replay(path).files
    _, length = calls_of(read_log(path), TraceOp.WRITE)
    assert sorted(length) == [*[MIB] * 4, BLOCK]
    assert file.bytes == 8 * MIB


def as_stream(record: Counters, size: int) -> dict[str, Any]:
    """Return a record of POSIX as one of STDIO, of library calls of so many bytes."""
    whole = ("OPENS", "BYTES_READ", "BYTES_WRITTEN", "MAX_BYTE_READ", "MAX_BYTE_WRITTEN")
    found: dict[str, Any] = {"id": record.number[0], "rank": int(record.rank[0])}
    found |= {name: record.total(name) for name in whole}
    found["READS"], found["WRITES"] = found["BYTES_READ"] // size, found["BYTES_WRITTEN"] // size
    for what in ("OPEN", "READ", "WRITE", "CLOSE"):
        for end in ("START", "END"):
            name = f"F_{what}_{end}_TIMESTAMP"
            found[name] = float(record[name][0])
    return found | {f"F_{what}_TIME": record.seconds(f"F_{what}_TIME") for what in _TIMED}


_TIMED = ("READ", "WRITE", "META")


def test_a_job_that_is_told_as_streams_takes_as_long_as_by_its_log(tmp_path):
    path, told = tmp_path / "own.darshan", tmp_path / "streams.darshan"
    line = f"ior --machine theta --nodes 2 --ppn 4 --darshan {path} -- -F -w -r -C -b 32m -t 4m"
    assert CliRunner().invoke(cli, shlex.split(line)).exit_code == 0
    log = read_log(path)
    rows = [log.posix.take(np.array([row])) for row in range(len(log.posix))]
    streams = [as_stream(row, 2**16) for row in rows]
    hosts = [{"id": 0, "rank": rank, "host": host} for rank, host in log.hosts.items()]
    write_log(told, ranks=8, names=log.names, STDIO=streams, APMPI=hosts)
    report = replay(told)
    assert report.log.unreplayed == ()
    assert sum(file.bytes for file in report.files) == 2 * 8 * 32 * MIB
    for of in phases_of_log(report):
        if of.phase is not Phase.META:
            assert of.ratio is not None
            assert 1 / 1.5 < of.ratio < 1.5
