"""Trace tables: what can be written in them, and what is said of what cannot."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from xc40io.config.errors import InputError
from xc40io.config.striping import StripeRequest
from xc40io.workloads.replay.intake import take_in
from xc40io.workloads.replay.kernel import open_trace
from xc40io.workloads.replay.side_table import side_table_text
from xc40io.workloads.replay.summary import summarise
from xc40io.workloads.replay.trace_table import write_table
from xc40io.workloads.trace import (
    ListedTrace,
    Trace,
    TraceBlock,
    TraceFile,
    TraceOp,
    join_blocks,
    make_block,
)

HEADER = "rank,op,file,offset,length,start,think,coll,api"
ANY = list(HealthCheck)


def table(folder: Path, text: str) -> Trace:
    path = folder / "trace.csv"
    path.write_text(text, encoding="utf-8")
    return open_trace(str(path))


def whole(trace: Trace) -> TraceBlock:
    return join_blocks(list(trace.blocks()))


def refused(trace: Trace) -> str:
    with pytest.raises(InputError) as error:
        whole(trace)
    return str(error.value)


def test_a_table_has_what_it_says(tmp_path: Path) -> None:
    trace = table(
        tmp_path,
        f"{HEADER}\n"
        "1,create,/scratch/b,,,0.5,,,posix\n"
        "0,Write,/scratch/a,4096,512,0.25,0.125,3,mpiio\n"
        "1,compute,,,,,2.5,,\n"
        "0,barrier,,,,,,,\n",
    )
    block = whole(trace)
    assert [file.name for file in trace.files] == ["/scratch/b", "/scratch/a"]
    assert (trace.ranks, len(block.rank), trace.nodes) == (2, 4, None)
    assert block.rank.tolist() == [1, 0, 1, 0]
    assert block.op.tolist() == [TraceOp.CREATE, TraceOp.WRITE, TraceOp.COMPUTE, TraceOp.BARRIER]
    assert block.file.tolist() == [0, 1, -1, -1]
    assert block.offset.tolist() == [0, 4096, 0, 0]
    assert block.coll.tolist() == [-1, 3, -1, -1]
    assert block.mpi.tolist() == [0, 1, 0, 0]
    assert np.isnan(block.start).tolist() == [False, False, True, True]
    assert block.think[[1, 2]].tolist() == [0.125, 2.5]
    assert [file.mpi for file in trace.files] == [False, True]
    assert trace.files[1].ranks is not None
    assert trace.files[1].ranks.tolist() == [0]  # who accesses it collectively


def test_two_columns_and_those_of_a_file_will_do(tmp_path: Path) -> None:
    trace = table(tmp_path, "rank,op,file\n0,stat,a\n2,unlink,b\n")
    assert trace.ranks == 3
    assert whole(trace).op.tolist() == [TraceOp.STAT, TraceOp.UNLINK]


def test_computing_follows_from_starts_and_ends(tmp_path: Path) -> None:
    rows = ["0,stat,a,1,1.5", "1,stat,a,2,4", "0,stat,a,2.5,3", "1,stat,a,3,5", "0,stat,a,7,8"]
    trace = table(tmp_path, "\n".join(["rank,op,file,start,end", *rows]) + "\n")
    assert whole(trace).think.tolist() == [1.0, 2.0, 1.0, 0.0, 4.0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("op\n", "column rank is missing; a trace needs rank and op"),
        ("rank,file\n0,a\n", "column op is missing"),
        ("rank,op,ofset\n", "there is no column 'ofset' in a trace; did you mean offset?"),
        ("rank,op,op\n", "column op is there twice"),
        (f"{HEADER}\n", "has no rows; right would be one row for each call"),
        ("rank,op,file\n0,stat,a\n1,stat\n", "row 2: has 2 values; right would be 3"),
        ("rank,op,file\n0,stat,a\nx,stat,a\n", "row 2: rank = 'x'; right would be a rank"),
        ("rank,op,file\n-1,stat,a\n", "row 1: rank = '-1'; right would be a rank"),
        ("rank,op,file\n,stat,a\n", "row 1: rank = ''; right would be a rank"),
        ("rank,op,file\n99999999999,stat,a\n", "row 1: rank = '99999999999'"),
        ("rank,op,file\n0,scribble,a\n", "row 1: op = 'scribble'; right would be one of read"),
        ("rank,op,file\n0,stat,a\n0,read,\n", "row 2: file = ''; right would be the name of"),
        ("rank,op,file,length\n0,read,a,-5\n", "row 1: length = '-5'; right would be a number"),
        ("rank,op,file,length\n0,read,a,1.5\n", "row 1: length = '1.5'; right would be a number"),
        ("rank,op,file,think\n0,stat,a,-1\n", "row 1: think = '-1.0'; right would be seconds"),
        ("rank,op,file,start\n0,stat,a,soon\n", "row 1: start = 'soon'; right would be seconds"),
        ("rank,op,file,start\n0,stat,a,nan\n", "row 1: start = 'nan'; right would be seconds"),
        ("rank,op,file,end\n0,stat,a,inf\n", "row 1: end = 'inf'; right would be seconds"),
        (
            "rank,op,file,start,end\n0,stat,a,1,2\n0,stat,a,4,3\n",
            "row 2: end = '3.0'; right would be no time before start",
        ),
        (f"rank,op,file,offset\n0,read,a,{2**62}\n", "a number of bytes, from 0 to 2^60 - 1"),
        ("rank,op,file,api\n0,stat,a,hdf5\n", "row 1: api = 'hdf5'; right would be posix or mpiio"),
        ("rank,op,file,coll,api\n0,open,a,1,posix\n", "row 1: api = 'posix'; right would be mpiio"),
    ],
)
def test_a_wrong_row_is_named(tmp_path: Path, text: str, message: str) -> None:
    sentence = refused(table(tmp_path, text))
    assert message in sentence
    assert sentence.startswith(str(tmp_path / "trace.csv"))


def test_wrong_rows_of_parquet_are_named_too(tmp_path: Path) -> None:
    path = str(tmp_path / "t.parquet")
    columns = {"rank": [0, 1], "op": ["stat", "stat"], "file": ["a", "b"], "offset": [0.0, 0.5]}
    pyarrow.parquet.write_table(pa.table(columns), path)
    assert "row 2: offset = '0.5'; right would be a number of bytes" in refused(open_trace(path))


@pytest.mark.parametrize("name", ["missing.csv", "trace.txt"])
def test_what_is_no_table_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=r"no such file|would be a table"):
        open_trace(str(tmp_path / name))


@st.composite
def traces(draw: st.DrawFn) -> Trace:
    """Traces of a few ranks, files and rows."""
    count = draw(st.integers(1, 40))

    def column(elements: st.SearchStrategy) -> np.ndarray:
        return np.array(draw(st.lists(elements, min_size=count, max_size=count)))

    op = column(st.integers(0, len(TraceOp) - 1))
    moves = op <= TraceOp.WRITE
    no_file = np.isin(op, (TraceOp.COMPUTE, TraceOp.BARRIER))
    mpi = column(st.integers(0, 1))
    sizes, times = st.integers(0, 2**40), st.one_of(st.just(np.nan), st.floats(0, 1e6))
    numbers = column(st.integers(-1, 5))
    block = make_block(
        rank=column(st.integers(0, 4)),
        op=op,
        file=np.where(no_file, -1, column(st.integers(0, 3))),
        offset=np.where(moves, column(sizes), 0),
        length=np.where(moves, column(sizes), 0),
        start=column(times),
        think=column(times),
        coll=np.where((mpi == 1) & ~no_file, numbers, -1),
        mpi=mpi,
    )
    names = draw(st.lists(st.text("ab/ ,\"'é\n", min_size=1), min_size=4, max_size=4, unique=True))
    return ListedTrace(5, [TraceFile(name) for name in names], [block])


@settings(max_examples=40, suppress_health_check=ANY)
@given(trace=traces(), kind=st.sampled_from([".csv", ".parquet"]))
def test_what_is_written_is_read_again(
    trace: Trace, kind: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("tables") / f"trace{kind}"
    rows = write_table(trace, path, kind)
    again = open_trace(str(path))
    was, found = whole(trace), whole(again)
    assert rows == len(found.rank) == len(was.rank)
    for column in ("rank", "op", "offset", "length", "start", "think", "coll", "mpi"):
        np.testing.assert_array_equal(getattr(found, column), getattr(was, column), column)
    names = [trace.files[number].name if number >= 0 else "" for number in was.file]
    assert [again.files[n].name if n >= 0 else "" for n in found.file] == names


def test_a_side_table_says_what_rows_do_not(tmp_path: Path) -> None:
    files = [
        TraceFile("a", StripeRequest(count=4, size=1 << 20), size=4096, mpi=True),
        TraceFile("b", direct=True, mpi=True, ranks=np.array([1, 2])),
    ]
    block = make_block(rank=[0, 1, 3], op=TraceOp.OPEN, file=[0, 1, 0], coll=[1, 2, -1], mpi=1)
    trace = ListedTrace(4, files, [block], nodes=2, ppn=2)
    path, side = tmp_path / "t.parquet", tmp_path / "files.yaml"
    write_table(trace, path, ".parquet")
    side.write_text(side_table_text(trace), encoding="utf-8")
    again = open_trace(str(path), str(side))
    assert (again.ranks, again.nodes, again.ppn) == (4, 2, 2)
    for was, found in zip(files, again.files, strict=True):
        for field in ("name", "striping", "size", "mpi", "direct", "shared_directory"):
            assert getattr(found, field) == getattr(was, field), field
    assert again.files[0].ranks is None
    assert again.files[1].ranks is not None
    assert again.files[1].ranks.tolist() == [1, 2]


def test_a_wrong_side_table_is_refused(tmp_path: Path) -> None:
    path, side = tmp_path / "t.csv", tmp_path / "files.yaml"
    path.write_text("rank,op,file\n0,stat,a\n", encoding="utf-8")
    side.write_text("files: {a: {sice: 5}}\n", encoding="utf-8")
    with pytest.raises(InputError, match="there is no such field; did you mean size"):
        open_trace(str(path), str(side))


CSV = f"{HEADER}\n" + "".join(
    f"{rank},{op},f{rank},{65536 * rank},65536,{rank}.5,0.1,,posix\n"
    for rank in range(20)
    for op in ("create", "write", "close")
)


def harmless(path: Path) -> None:
    """A file may be read, or refused with one sentence; nothing else."""
    sentence = ""
    try:
        trace = open_trace(str(path))
        take_in(trace, "think", str(path))
        summarise(trace)
    except InputError as error:
        sentence = str(error)
    assert not sentence or sentence.startswith(str(path))
    assert "\n" not in sentence


@settings(max_examples=60, suppress_health_check=ANY)
@given(data=st.data(), kind=st.sampled_from([".csv", ".parquet"]))
def test_damaged_tables_end_in_a_sentence(
    data: st.DataObject, kind: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("damaged")
    path = folder / f"t{kind}"
    path.with_suffix(".csv").write_text(CSV, encoding="utf-8")
    if kind == ".parquet":
        write_table(open_trace(str(path.with_suffix(".csv"))), path, kind)
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(0, 5))):
        place = data.draw(st.integers(0, len(content) - 1))
        content[place] ^= 1 << data.draw(st.integers(0, 7))
    content = content[: data.draw(st.integers(0, len(content)))]
    path.write_bytes(bytes(content))
    harmless(path)


@settings(max_examples=40, suppress_health_check=ANY)
@given(garbage=st.binary(max_size=500), kind=st.sampled_from([".csv", ".parquet"]))
def test_garbage_ends_in_a_sentence(
    garbage: bytes, kind: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("garbage") / f"t{kind}"
    path.write_bytes(garbage)
    harmless(path)


def test_a_summary_counts_everything(tmp_path: Path) -> None:
    trace = table(
        tmp_path,
        "rank,op,file,offset,length,coll\n"
        "0,write,a,0,100,\n0,write,a,100,50,\n0,write,a,1000,50,\n0,write,a,0,7,\n"
        "1,write,b,0,5000,9\n1,write,b,9000,5000,9\n0,write,b,20000,1,9\n1,barrier,,,,\n"
        "0,read,a,5,0,\n",
    )
    found = summarise(trace)
    assert (found.rows, found.ranks, len(found.files)) == (9, 2, 2)
    assert (found.collective_calls, found.barriers) == (1, 1)
    assert found.totals.calls[:, TraceOp.WRITE].tolist() == [[4, 0, 0], [0, 0, 2]]
    assert found.totals.bytes[:, TraceOp.WRITE].sum(axis=1).tolist() == [207, 10001]
    assert found.sizes[TraceOp.WRITE, :3].tolist() == [4, 1, 2]
    assert found.consecutive.tolist() == [0, 1]
    assert found.sequential.tolist() == [0, 3]
