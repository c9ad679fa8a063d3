"""Tables of jobs: what is read of them, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xc40io.config.errors import InputError
from xc40io.workloads.job_records.job_table import read_job_table

HEAD = "job,nodesUsed,nprocs,readBytes,written,runtime,submit,began,walltime,layout,call,owner\n"
ROWS = """\
a,4,16,64 MiB,128 MB,20,2022-01-21 23:08:07,2022-01-21 23:10:07,00:01:00,rank,64k,me
b,4,,0,1e9,30 s,2022-01-21 23:08:17,2022-01-21 23:08:18,2 min,,,me
,,8,,,,2022-01-21T23:08:18+00:00,,1-00:00:00,job,,
"""


def written(folder: Path, text: str, name: str = "jobs.csv") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_a_csv_file_by_names_of_others(tmp_path: Path) -> None:
    table = read_job_table(written(tmp_path, HEAD + ROWS))
    first, second, third = table.records
    assert (first.name, first.nodes, first.ranks) == ("a", 4, 16)
    assert (first.read, first.written) == (64 << 20, 128_000_000)
    assert (first.runtime, first.walltime) == (20.0, 60.0)
    assert (first.read_layout, first.write_layout) == ("rank", "rank")
    assert (first.read_call, first.write_call) == (65536, 65536)
    assert (second.written, second.ranks, second.read_call) == (10**9, None, None)
    assert (third.name, third.ranks, third.walltime) == ("job-3", 8, 86400.0)
    assert [record.start for record in table.records] == [0.0, 10.0, 11.0]
    assert table.unused == ("owner",)


def test_begins_are_taken_where_they_are_asked_for(tmp_path: Path) -> None:
    text = HEAD + "\n".join(ROWS.splitlines()[:2])
    records = read_job_table(written(tmp_path, text), recorded=True).records
    assert [record.start for record in records] == [109.0, 0.0]


def test_parquet_and_yaml_say_the_same(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet

    rows = [{"id": 7, "nodes": 2, "nprocs": 4, "written": 10}, {"id": 8, "nodes": 1, "written": 0}]
    pa.parquet.write_table(pa.Table.from_pylist(rows), tmp_path / "jobs.parquet")
    text = (
        "jobs:\n- {id: 7, nodes: 2, writtenBytes: 10, runs: [{nprocs: 4}]}\n- {id: 8, nodes: 1}\n"
    )
    yaml = read_job_table(written(tmp_path, text, "jobs.yaml"))
    parquet = read_job_table(tmp_path / "jobs.parquet")
    assert yaml.records == parquet.records
    assert [record.ranks for record in yaml.records] == [4, None]


DARSHAN = """\
# darshan log version: 3.41
# exe: ./app
# nprocs: 512
# run time: 727.0
total_POSIX_OPENS: 1024
total_POSIX_READS: 100
total_POSIX_BYTES_READ: 409600
total_POSIX_WRITES: 0
total_POSIX_BYTES_WRITTEN: 0
total_POSIX_STATS: 512
total_POSIX_F_READ_TIME: 1.5
total_POSIX_F_META_TIME: 0.25
total_STDIO_OPENS: 0
total_STDIO_WRITES: 10
total_STDIO_BYTES_WRITTEN: 130
total_MPIIO_BYTES_WRITTEN: 5
# <file_type> <file_count> <total_bytes> <max_byte_offset>
# total: 3 409730 100
# unique: 1 130 100
# shared: 2 409600 100
"""


def test_totals_of_darshan_are_a_job(tmp_path: Path) -> None:
    (job,) = read_job_table(written(tmp_path, DARSHAN, "app.txt")).records
    assert (job.name, job.ranks, job.nodes, job.runtime) == ("app", 512, None, 727.0)
    assert (job.read, job.read_call, job.written, job.write_call) == (409600, 4096, 130, 13)
    assert (job.opens, job.stats) == (2, 1)
    assert (job.read_layout, job.files, job.application) == ("job", 2, "app")
    assert job.measured == 1.75


def test_a_real_log_by_its_totals(tmp_path: Path) -> None:
    """What darshan-parser of 3.4 prints: spaces, blanks and the words around it."""
    text = DARSHAN.replace("# nprocs: 512", "# nprocs: \t512").replace("READS: 100", "READS: 1e2")
    (job,) = read_job_table(written(tmp_path, text, "app.txt")).records
    assert (job.ranks, job.read_call) == (512, 4096)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "has no rows"),
        ("nodes\n", "has no rows"),
        ("nodes\nfour\n", r"row 2: nodes = 'four'"),
        ("nodes\n1.5\n", r"row 2: nodes = 1.5; right would be a whole number"),
        ("nodes\n0\n", "row 2: nodes = 0"),
        ("nodes,read\n1,-5\n", "row 2: read: "),
        ("nodes,read\n1,lots\n", "row 2: read: 'lots'"),
        ("nodes,read\n1\n", "row 2: has 1 cells; right would be 2"),
        ("nodes,Nodes\n1,2\n", "row 1: a column comes twice"),
        ("read\n5\n", "has no column for the size of a job, but read; right"),
        ("job,nodes\n../x,1\n", "row 2: name: '../x' is not a name"),
        ("nodes,start\n1,soon\n", "row 2: start: 'soon'"),
        ("nodes,layout\n1,all\n", "row 2: read_layout = 'all'"),
        ("nodes,ranks,io_ranks\n1,2,3\n", "io_ranks = 3 of 2 ranks"),
        ('nodes\n"1\n', "row 2: is not a row of a CSV file"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(InputError, match=words) as refused:
        read_job_table(written(tmp_path, text))
    assert str(refused.value).startswith(f"{tmp_path / 'jobs.csv'}: ")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("text", "jobs", "words"),
    [
        (
            "job,nodes\na,1\na,2\n",
            "a",
            "1 row that cannot be read (row 3: name = a is the name of ",
        ),
        ("job,nodes,start\na,1,2022-01-01\nb,1,5\n", "a", "(row 3: start = 5, but a date in other"),
        ("job,nodes\na,1\nb,2,3\nc,1\n", "a c", "(row 3: has 3 cells)"),
        ("job,nodes\na,1\nb,\nc,1\n", "a c", "(row 3: neither nodes nor ranks are given)"),
        ('job,nodes\na,1\n"b,1\nc,1\n', "a c", "(row 3: is not a row of a CSV file: unexpected"),
        ("job,nodes\na,1\nb,x\nc,0\nd,1.5\ne,-2\nf,2\n", "a f", "4 rows that cannot be read ("),
    ],
)
def test_rows_that_cannot_be_read_are_left_out_and_told(
    tmp_path: Path, text: str, jobs: str, words: str
) -> None:
    table = read_job_table(written(tmp_path, text))
    assert " ".join(job.name for job in table.records) == jobs
    assert words in table.left_out


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("jobs.yaml", "jobs: 5", "holds 5; right would be a list of jobs"),
        ("jobs.yaml", "- 5", "row 1 is 5; right would be fields with values"),
        ("jobs.parquet", "no", "is not a Parquet file"),
        ("jobs.txt", "no", "not a table of jobs"),
        ("app.txt", "# darshan log\n# nprocs: 4\n", "has no total of POSIX or STDIO"),
    ],
)
def test_what_is_no_table_is_refused(tmp_path: Path, name: str, text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        read_job_table(written(tmp_path, text, name))


@pytest.mark.parametrize(
    ("head", "row", "ended"),
    [
        ("State", "COMPLETED", "completed"),
        ("State,ExitCode", "CANCELLED by 5,0:15", "cancelled"),
        ("State", "OUT_OF_MEMORY", "failed"),
        ("state", "Timed out", "timed out"),
        ("state", "NODE_FAIL", "failed"),
        ("state", "PREEMPTED", "cancelled"),
        ("job_state", "RUNNING", "running"),
        ("status,exit_status", "finished,0", "completed"),
        ("EXIT_STATUS", "0.0", "completed"),
        ("exit_code", "1", "failed"),
        ("ExitCode", "0:9", "cancelled"),
        ("Exit_status,elapsed,timelimit", "271,3600,01:00:00", "timed out"),
        ("Exit_status,elapsed,timelimit", "271,60,01:00:00", "cancelled"),
        ("Exit_status,elapsed,timelimit", "-29,3605,01:00:00", "timed out"),
        ("Exit_status,elapsed,timelimit", "-11,5,01:00:00", "failed"),
        ("exit_status,elapsed,timelimit", "1,3600,01:00:00", "failed"),
        ("state", "odd", None),
        ("exit_status", "odd", None),
    ],
)
def test_how_jobs_ended(tmp_path: Path, head: str, row: str, ended: str | None) -> None:
    table = read_job_table(written(tmp_path, f"nodes,{head}\n1,{row}\n"))
    assert [job.ended for job in table.records] == [ended]
    assert not table.unused


def test_jobs_that_did_not_complete_are_counted_and_can_be_left_out(tmp_path: Path) -> None:
    rows = "a,1,COMPLETED\nb,1,FAILED\nc,1,TIMEOUT\nd,1,FAILED\ne,1,\n"
    table = read_job_table(written(tmp_path, f"job,nodes,state\n{rows}"))
    assert table.unlike == "2 failed, 1 timed out of 5 jobs"
    assert [job.name for job in table.completed.records] == ["a", "e"]
    assert not table.completed.unlike
    with pytest.raises(InputError, match="--completed: 2 failed of 2 jobs; right would be"):
        table._replace(records=(table.records[1], table.records[3])).completed  # noqa: B018


def test_several_rows_none_of_which_can_be_read(tmp_path: Path) -> None:
    words = r"row 2: nodes = 'x': should be a whole number; nor can any of the other 2 rows be read"
    with pytest.raises(InputError, match=words):
        read_job_table(written(tmp_path, "nodes\nx\ny\n0\n"))


def test_of_many_rows_three_are_named(tmp_path: Path) -> None:
    told = read_job_table(written(tmp_path, "nodes\n1\n" + "1.5\n" * 5)).left_out
    named = "; ".join(f"row {number}: nodes = 1.5" for number in (3, 4, 5))
    assert told == f"5 rows that cannot be read ({named}; ...)"


@settings(max_examples=60, deadline=None)  # the first example imports pyarrow
@given(st.data())
def test_damaged_tables_are_refused_in_a_sentence(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    text = list(data.draw(st.sampled_from([HEAD + ROWS, DARSHAN])))
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(text) - 1))
        text[place] = data.draw(st.characters(codec="utf-8"))
    kind = data.draw(st.sampled_from(["x.csv", "x.yaml", "x.txt", "x.parquet"]))
    path = tmp_path_factory.mktemp("damaged") / kind
    path.write_text("".join(text))
    try:
        read_job_table(path)
    except InputError as error:
        said = str(error)
    else:
        said = ""
    assert "\n" not in said
