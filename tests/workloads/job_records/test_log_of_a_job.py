"""A Darshan log as a job of a table."""

from __future__ import annotations

from darshan_logs import collective_writes, posix_writes, write_log

from xc40io.workloads.job_records.darshan_log import job_of_log

MIB = 2**20


def test_posix_and_stdio_are_added_up_and_mpi_io_counts_where_nothing_is_below(tmp_path):
    names = {1: "/lus/theta-fs0/a", 2: "/lus/theta-fs0/b", 3: "/lus/theta-fs0/c", 4: "<STDERR>"}
    path = write_log(
        tmp_path / "a.darshan",
        names=names,
        POSIX=[posix_writes(-1, 8, MIB)],
        MPIIO=[collective_writes(4, 2, MIB), collective_writes(4, 1, MIB, id=2)],
        LUSTRE=[{"id": 1, "rank": -1, "size": 4 * MIB, "osts": [1, 2, 3]}],
        STDIO=[
            {"id": 3, "rank": 0, "OPENS": 1, "READS": 2, "BYTES_READ": 100, "F_READ_TIME": 0.25},
            {"id": 4, "rank": 0, "OPENS": 1, "WRITES": 9, "BYTES_WRITTEN": 10**9},
        ],
    )
    job = job_of_log("a", path)
    record = job.record
    assert (record.name, record.ranks, record.runtime, record.nodes) == ("a", 4, 10.0, None)
    assert (record.read, record.written, record.read_call) == (100, 12 * MIB, 50)
    assert record.write_call == MIB
    assert (record.write_layout, record.files) == ("job", 2)
    assert (record.stripe_count, record.stripe_size) == (3, 4 * MIB)
    assert record.read_seconds == 0.25
    assert record.write_seconds == 0.5 + 6.0
    assert job.began == 100
    assert job.warnings == ()


def test_a_log_of_stdio_alone_is_a_job_too(tmp_path):
    written = {"id": 1, "OPENS": 1, "WRITES": 1, "BYTES_WRITTEN": 7}
    stdio = [{"rank": rank, **written} for rank in (0, 1)]
    record = job_of_log("a", write_log(tmp_path / "a.darshan", STDIO=stdio)).record
    assert (record.written, record.write_layout, record.files) == (14, "rank", None)
