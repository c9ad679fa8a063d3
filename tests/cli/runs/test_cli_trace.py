"""``xc40io trace``, and tables as workloads."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from logged_jobs import file_per_process

TABLE = """\
rank,op,file,offset,length,think,coll
0,create,/scratch/out,,,,1
1,create,/scratch/out,,,,1
0,write,/scratch/out,0,1048576,0.5,2
1,write,/scratch/out,1048576,1048576,0.5,2
0,close,/scratch/out,,,,3
1,close,/scratch/out,,,,3
1,stat,/scratch/out,,,,
"""

SIDE = "nodes: 1\nppn: 2\nfiles: {'/scratch/*': {stripe_count: 4, size: 1 GiB}}\n"


@pytest.fixture
def table(tmp_path: Path) -> str:
    path = tmp_path / "job.csv"
    path.write_text(TABLE, encoding="utf-8")
    return str(path)


def test_a_summary_is_printed(xc40io, table: str) -> None:
    text = xc40io("trace", "summary", table).stdout
    assert f"Trace {table}: 7 rows, 2 ranks, 1 file\n" in text
    assert "3 collective calls, 0 barriers" in text
    lines = {" ".join(line.split()) for line in text.splitlines()}
    assert "write collective 2 2.000 MiB" in lines
    assert "stat POSIX 1" in lines
    assert "/scratch/out 0 B 2.00 MiB MPI-IO" in lines


def test_a_table_is_converted_with_what_is_known_of_its_files(
    xc40io, table: str, tmp_path: Path
) -> None:
    side, target = tmp_path / "side.yaml", tmp_path / "job.parquet"
    side.write_text(SIDE, encoding="utf-8")
    text = xc40io("trace", "convert", table, str(target), "--files", str(side)).stdout
    beside = f"{target}.files.yaml"
    assert text == f"{target}: 7 rows; {beside}: 1 file\n"
    found = json.loads(xc40io("trace", "summary", str(target), "--files", beside, "--json").stdout)
    assert (found["rows"], found["nodes"], found["ppn"]) == (7, 1, 2)
    assert "stripe_count: 4" in Path(beside).read_text(encoding="utf-8")
    job = ("--nodes", "1", "--ppn", "2", "--getstripe")
    replayed = xc40io("kernel", "replay", "--trace", str(target), "--files", beside, *job).stdout
    assert "mpi coll write" in replayed
    assert "lmm_stripe_count: 4" in " ".join(replayed.split())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("summary", "nothing.csv"), "nothing.csv: there is no such file"),
        (("summary", "job.xlsx"), "right would be a table (.csv, .parquet) or a Darshan log"),
        (("convert", "TABLE", "out.txt"), "right would be a name that ends in .csv or .parquet"),
    ],
)
def test_what_cannot_be_is_one_sentence(
    xc40io, table: str, arguments: tuple[str, ...], message: str
) -> None:
    given = [table if argument == "TABLE" else argument for argument in arguments]
    done = xc40io("trace", *given)
    assert done.exit_code == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""


def test_a_wrong_row_leaves_no_table_behind(xc40io, tmp_path: Path) -> None:
    source, target = tmp_path / "job.csv", tmp_path / "out.parquet"
    source.write_text(f"{TABLE}2,scribble,a,,,,\n", encoding="utf-8")
    done = xc40io("trace", "convert", str(source), str(target))
    assert done.exit_code == 2
    assert f"{source}: row 8: op = 'scribble'; right would be one of" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["job.csv"]


def test_a_log_is_converted(xc40io, tmp_path: Path) -> None:
    log, target = file_per_process(tmp_path / "job.darshan"), tmp_path / "log.csv"
    assert xc40io("trace", "convert", str(log), str(target)).exit_code == 0
    found = xc40io("trace", "summary", str(target), "--files", f"{target}.files.yaml", "--json")
    document = json.loads(found.stdout)
    assert (document["ranks"], len(document["files"])) == (48, 48)
    assert document["calls"]["write"]["POSIX"] == 48 * 16
    assert document["bytes"]["write"] == 48 * 16 << 20


def test_nodes_without_any_rank_of_a_table_have_nothing_to_do(xc40io, table: str) -> None:
    done = xc40io("replay", table, "--nodes", "4", "--ppn", "2", "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["xc40io"]["scenario"]["nodes"] == 4
    refused = xc40io("replay", table, "--nodes", "1", "--ppn", "1")
    assert "have room for 2" in refused.output
