"""Frames of PyDarshan as tables."""

from __future__ import annotations

from pathlib import Path

import pytest

from xc40io.config.errors import InputError
from xc40io.workloads.job_records.job_table import read_job_table

HEAD = "id,rank,POSIX_OPENS,POSIX_READS,POSIX_BYTES_READ,POSIX_WRITES,POSIX_BYTES_WRITTEN,"
HEAD += "POSIX_STATS,STDIO_BYTES_WRITTEN,STDIO_WRITES"


def written(folder: Path, head: str, *rows: str) -> Path:
    path = folder / "frame.csv"
    path.write_text("\n".join([head, *rows]) + "\n")
    return path


def test_files_and_ranks_are_added_up(tmp_path: Path) -> None:
    rows = ("11,0,2,4,4000,0,0,1,0,0", "12,3,2,0,0,2,2000,3,100,1", "13,-1,4,0,0,1,500,0,,")
    found = read_job_table(written(tmp_path, HEAD, *rows))
    (job,) = found.records
    assert found.read_as == "a frame of PyDarshan"
    assert (job.name, job.ranks, job.nodes) == ("frame", 4, None)
    assert (job.read, job.written, job.read_call, job.write_call) == (4000, 2600, 1000, 650)
    assert (job.opens, job.stats, job.write_layout) == (2, 1, "rank")


def test_a_column_tells_jobs_apart_and_nprocs_their_ranks(tmp_path: Path) -> None:
    head = f"jobid,nprocs,nodes,{HEAD}"
    rows = ("5,64,4,1,-1,64,1,10,1,900,0,0,0", "6,8,2,1,-1,8,1,10,1,90,0,0,0")
    first, second = read_job_table(written(tmp_path, head, *rows)).records
    assert (first.name, first.ranks, first.nodes, first.written) == ("5", 64, 4, 900)
    assert (second.name, second.ranks, second.read_layout) == ("6", 8, "job")


def test_without_any_rank_their_number_is_asked_for(tmp_path: Path) -> None:
    path = written(tmp_path, HEAD, "11,-1,2,4,4000,0,0,1,0,0")
    with pytest.raises(InputError, match=r"rank = -1 in all rows.*right would be a column nprocs"):
        read_job_table(path)


def test_frames_that_pydarshan_writes(tmp_path: Path) -> None:
    darshan = pytest.importorskip("darshan")
    logs = Path(__file__).parents[4] / "shared" / "data"
    found = sorted(logs.rglob("*.darshan"))
    if not found:
        pytest.skip("the real logs are not here")
    with darshan.DarshanReport(str(found[0]), read_all=True) as report:
        if "POSIX" not in report.records:
            pytest.skip("the log has no module POSIX")
        counters = report.records["POSIX"].to_df()["counters"]
        nprocs = report.metadata["job"]["nprocs"]
    counters.assign(nprocs=nprocs).to_csv(tmp_path / "log.csv", index=False)
    (job,) = read_job_table(tmp_path / "log.csv").records
    assert (job.ranks, job.read) == (nprocs, counters["POSIX_BYTES_READ"].clip(lower=0).sum())
