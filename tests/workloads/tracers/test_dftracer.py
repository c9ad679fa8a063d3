"""Traces of DFTracer: what its lines say, and what damaged files are told to be."""

from __future__ import annotations

from pathlib import Path

import pytest
from traced import event, note, rows_of, warnings_of, write_pfw

from xc40io.config.errors import InputError
from xc40io.workloads.trace import join_blocks
from xc40io.workloads.tracers.opening import open_tracers

NAMES = (note("n1", 5, "HH"), note("/lus/f", 9), note("/usr/lib/x", 8))
WRITE = event("write", 100, args={"hhash": 5, "fhash": 9, "fd": 3, "count": 10, "ret": 10})


def _rows(path: Path, *events: dict) -> list[tuple]:
    return [row[1:] for row in rows_of(write_pfw(path / "a.pfw", [*NAMES, *events]))]


def _call(name: str, start: int, **args: object) -> dict:
    return event(name, start, args={"hhash": 5, "fhash": 9, **args})


def test_positions_follow_reads_writes_and_seeks(tmp_path: Path) -> None:
    rows = _rows(
        tmp_path,
        _call("open64", 0, flags=2, ret=3),
        _call("write", 20, fd=3, count=10, ret=10),
        _call("lseek64", 40, fd=3, offset=-4, whence=1, ret=6),
        _call("read", 60, fd=3, count=100, ret=4),  # a short read
        _call("lseek", 80, fd=3, offset=0, whence=2, ret=500),
        _call("write", 100, fd=3, count=1, ret=1),
        _call("write", 120, fd=3, count=7, ret=-1),  # failed
        _call("close", 140, fd=3, ret=0),
    )
    assert rows == [
        ("open", "/lus/f", 0, 0),
        ("write", "/lus/f", 0, 10),
        ("read", "/lus/f", 6, 4),
        ("write", "/lus/f", 500, 1),
        ("close", "/lus/f", 0, 0),
    ]


def test_appends_go_to_the_end_and_truncation_empties(tmp_path: Path) -> None:
    appends = 0o2000 | 0o100 | 1
    rows = _rows(
        tmp_path,
        _call("open", 0, flags=appends, ret=3),
        _call("write", 20, fd=3, count=10, ret=10),
        _call("lseek", 40, fd=3, offset=0, whence=0, ret=0),
        _call("write", 60, fd=3, count=5, ret=5),
        _call("open", 80, flags=appends | 0o1000, ret=4),
        _call("write", 100, fd=4, count=3, ret=3),
    )
    assert [row[2:] for row in rows if row[0] == "write"] == [(0, 10), (10, 5), (0, 3)]


def test_two_files_whose_names_have_one_hash_are_told_apart_by_their_descriptors(tmp_path: Path):
    rows = _rows(
        tmp_path,
        _call("open", 0, flags=66, ret=3),
        _call("write", 20, fd=3, count=10, ret=10),
        note("/lus/other", 9),
        _call("open", 40, flags=66, ret=4),
        _call("write", 60, fd=4, count=7, ret=7),
        _call("write", 80, fd=3, count=10, ret=10),
    )
    assert [row[1:] for row in rows if row[0] == "write"] == [
        ("/lus/f", 0, 10),
        ("/lus/other", 0, 7),
        ("/lus/f", 10, 10),
    ]


def test_streams_count_items_and_open_by_their_mode(tmp_path: Path) -> None:
    rows = _rows(
        tmp_path,
        {**_call("fopen64", 0, mode="w"), "cat": "STDIO"},
        {**_call("fwrite", 20, size=8, count=4, ret=3), "cat": "STDIO"},
        {**_call("fseek", 40, offset=100, whence=0, ret=0), "cat": "STDIO"},
        {**_call("fwrite", 60, size=1, count=4, ret=4), "cat": "STDIO"},
        {**_call("fclose", 80), "cat": "STDIO"},
    )
    assert rows == [
        ("create", "/lus/f", 0, 0),
        ("write", "/lus/f", 0, 24),
        ("write", "/lus/f", 100, 4),
        ("close", "/lus/f", 0, 0),
    ]


def test_what_is_read_before_it_is_written_was_there(tmp_path: Path) -> None:
    rows = _rows(
        tmp_path,
        _call("open", 0, flags=0o100 | 2, ret=3),
        _call("read", 20, fd=3, count=5, ret=5),
        _call("write", 40, fd=3, count=5, ret=5),
    )
    assert rows[0][0] == "open"


def test_newest_lines_with_numbers_for_phases_and_names_in_full(tmp_path: Path) -> None:
    new = event("pwrite64", 0, ph=1, type=1)
    new["args"] = {"hhash": "ab", "fhash": "cd", "fd": 3, "count": 4, "offset": 8, "ret": 4}
    hashed = {**note("/lus/g", "cd"), "ph": 4}
    summed = {**event("write", 5), "ph": 3}
    old = {**event("write", 50), "pid": "7", "tid": "7", "ts": str(1_700_000_000_000_050)}
    old["args"] = {"hostname": "n1", "fname": "/lus/f", "fd": 4, "count": "6", "ret": "6"}
    path = write_pfw(tmp_path / "a.pfw.gz", [hashed, new, summed, old])
    assert [row[1:] for row in rows_of(path)] == [
        ("write", "/lus/g", 8, 4),
        ("write", "/lus/f", 0, 6),
    ]
    assert "sum calls up" in warnings_of(path)


def test_ranks_nodes_and_times_of_several_processes(tmp_path: Path) -> None:
    for rank, (pid, host) in enumerate([(31, "b"), (30, "a"), (33, "b"), (30, "c")]):
        args = {"hhash": host, "fhash": 9, "fd": 3, "count": 10, "ret": 10}
        events = [
            note(host, host, "HH", pid),
            note("/lus/f", 9, pid=pid),
            event("write", 1000 * rank, 10, pid=pid, tid=pid, args=args),
            event("write", 1000 * rank + 260, 10, pid=pid, tid=pid, args=args),
            note("rank", str(rank), "PR", pid),
        ]
        write_pfw(tmp_path / f"{host}{pid}.pfw", events)
    trace = open_tracers(str(tmp_path))
    block = join_blocks(list(trace.blocks()))
    assert (trace.ranks, trace.nodes, trace.ppn) == (4, None, None)  # two nodes have one rank
    assert block.rank.tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    assert block.start[::2] == pytest.approx([0.0, 1e-3, 2e-3, 3e-3], abs=1e-6)
    assert block.think == pytest.approx([k for n in range(4) for k in (n * 1e-3, 250e-6)], abs=1e-6)


def test_what_is_left_out_is_told_with_its_number(tmp_path: Path) -> None:
    local = {**WRITE, "args": {**WRITE["args"], "fhash": 8}}
    events = [*NAMES, WRITE, local, local, _call("rename", 300), event("write", 400)]
    said = warnings_of(write_pfw(tmp_path / "a.pfw", events))
    assert "calls on files of the node (/etc/, /dev/, /usr/ ...) are left out (2)" in said
    assert "calls of rename have no counterpart in a replay and are left out (1)" in said
    assert "DFTRACER_INC_METADATA=1 has them (1)" in said


@pytest.mark.parametrize("suffix", [".pfw", ".pfw.gz"])
def test_a_line_that_is_cut_short_at_the_end_is_told(tmp_path: Path, suffix: str) -> None:
    path = write_pfw(tmp_path / f"a{suffix}", [*NAMES, WRITE], end='{"id":4,"name":"wri')
    assert len(rows_of(path)) == 1
    assert "the line is left out (1)" in warnings_of(path)


def test_a_packed_file_that_ends_too_early_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    events = [*NAMES, *(_call("write", 20 * k, fd=3, count=1 + k, ret=1 + k) for k in range(9999))]
    path = write_pfw(tmp_path / "a.pfw.gz", events)
    path.write_bytes(path.read_bytes()[:-2000])
    assert 0 < len(rows_of(path)) < 9999
    assert "the line is left out (" in warnings_of(path)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (['{"id": 1', '{"ph": "M"}'], r"a\.pfw: line 1: '{\"id\": 1' is no event; right would be"),
        (["[1, 2]", "{}"], "line 1: '\\[1, 2\\]' is no event"),
        (
            ['{"name":"write","cat":"POSIX","pid":"x","ph":"X","args":{"fname":"f"}}'],
            "line 1: pid = 'x'; right would be a number",
        ),
        (["{}"], "has no calls that can be replayed; right would be reads, writes and opens"),
        ([], "has no calls that can be replayed"),
    ],
)
def test_bad_lines_are_refused_with_their_number(tmp_path: Path, lines, said: str) -> None:
    (tmp_path / "a.pfw").write_text("\n".join(lines))
    with pytest.raises(InputError, match=said):
        open_tracers(str(tmp_path / "a.pfw"))


def test_two_runs_in_one_folder_are_refused(tmp_path: Path) -> None:
    for pid in (7, 8):
        events = [*NAMES, {**WRITE, "pid": pid}, note("rank", "0", "PR", pid)]
        write_pfw(tmp_path / f"{pid}.pfw", events)
    with pytest.raises(InputError, match="rank 0 is there twice; right would be the trace of one"):
        open_tracers(str(tmp_path))


def test_ranks_that_are_missing_are_told(tmp_path: Path) -> None:
    path = write_pfw(tmp_path / "a.pfw", [*NAMES, WRITE, note("rank", "2", "PR")])
    assert open_tracers(str(path)).ranks == 1
    assert "ranks are not in the trace" in warnings_of(path)


def test_calls_of_mpi_keep_ranks_together_but_not_their_files(tmp_path: Path) -> None:
    for pid in (7, 8):
        events = [
            *NAMES[:1],
            note("/lus/f", 9, pid=pid),
            {**WRITE, "pid": pid, "tid": pid},
            event("MPI_Barrier", 200, cat="collective", pid=pid, args={"hhash": 5, "comm": 1}),
            event("MPI_File_write_at", 300, cat="MPIIO", pid=pid, args={"hhash": 5, "fh": 4}),
        ]
        write_pfw(tmp_path / f"{pid}.pfw", events)
    assert [row[1] for row in rows_of(tmp_path)] == ["write", "barrier"] * 2
    assert "do not say which file they are about" in warnings_of(tmp_path)
