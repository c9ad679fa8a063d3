"""The Standard Workload Format: processors and statuses, no nodes and no bytes."""

from __future__ import annotations

from pathlib import Path

from xc40io.workloads.job_records.job_table import JobTable, read_job_table

HEAD = "; Version: 2.2\n; MaxNodes: 64 (of two racks)\n; MaxProcs: 256\n;\n"
JOBS = """\
1 0 10 600 128 -1 -1 128 3600 -1 1 1 1 7 1 -1 -1 -1
2 60 0 600.5 6 -1 -1 8 -1 -1 0 1 1 -1 1 -1 -1 -1
3 70 30 0 -1 -1 -1 64 600 -1 5 1 1 -1 1 -1 -1 -1
4 80 5 60 -1 -1 -1 64 600 -1 5 1 1 -1 1 -1 -1 -1
5 90 5 60 4 -1 -1 4 600 -1 1 1 1 -1 1 -1 -1 -1
5 90 5 30 4 -1 -1 4 600 -1 2 1 1 -1 1 -1 -1 -1
5 -1 9 30 4 -1 -1 4 600 -1 3 1 1 -1 1 -1 -1 -1
6 95 5 60 -1 -1 -1 -1 600 -1 -1 1 1 -1 1 -1 -1 -1
7 95 5
"""


def read(folder: Path, text: str, *, recorded: bool = False, cores: int | None = None) -> JobTable:
    path = folder / "log.swf"
    path.write_text(text)
    return read_job_table(path, recorded=recorded, cores=cores)


def test_lines_are_jobs_by_processors(tmp_path: Path) -> None:
    found = read(tmp_path, HEAD + JOBS)
    assert [(job.name, job.nodes, job.ranks) for job in found.records] == [
        ("1", 32, 128),
        ("2", 2, 6),
        ("4", 16, 64),
        ("5", 1, 4),
    ]
    first, second, *_ = found.records
    assert (first.start, first.runtime, first.walltime) == (0.0, 600.0, 3600.0)
    assert (second.start, second.runtime, second.walltime) == (60.0, 600.5, None)
    assert [job.ended for job in found.records] == ["completed", "failed", "cancelled", "completed"]
    assert (first.application, second.application) == ("app7", None)
    assert (found.read_as, found.never_began) == ("the Standard Workload Format", 1)
    assert found.left_out == (
        "2 rows that cannot be read (row 13: has 3 numbers; "
        "row 12: neither nodes nor ranks are given)"
    )
    assert found.nodes_from == (
        "Nodes are counted from processors, 4 a node by the head of the file, and each has a rank."
    )
    assert not any(job.read or job.written for job in found.records)
    recorded = read(tmp_path, HEAD + JOBS, recorded=True).records
    assert [job.start for job in recorded] == [10.0, 60.0, 85.0, 95.0]


def test_cores_of_a_node_are_those_of_the_machine_where_the_head_is_silent(tmp_path: Path) -> None:
    found = read(tmp_path, JOBS, cores=64)
    assert [job.nodes for job in found.records] == [2, 1, 1, 1]
    assert "64 a node of the machine" in found.nodes_from
    found = read(tmp_path, "; a log\n" + JOBS)
    assert [(job.nodes, job.ranks) for job in found.records][:2] == [(None, 128), (None, 6)]
    assert found.nodes_from == "Of nodes nothing is told: processors are taken for ranks."


def test_processors_of_other_tables(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("job,cores,nodes,ranks\na,48,,\nb,48,4,\nc,48,,24\n")
    found = read_job_table(path, cores=32)
    assert [(job.nodes, job.ranks) for job in found.records] == [(2, 48), (4, None), (2, 24)]
