"""Recorder's text: arguments, MPI-IO with its pointers and views, and who waits for whom."""

from __future__ import annotations

from pathlib import Path

import pytest
from traced import rows_of, warnings_of

from xc40io.config.errors import InputError
from xc40io.workloads.replay.intake import take_in
from xc40io.workloads.trace import join_blocks
from xc40io.workloads.tracers.opening import open_tracers

OPEN = "MPI_File_open ( MPI_COMM_WORLD /lus/f 5 %p 0-0 )"


def _written(folder: Path, *ranks: str) -> Path:
    """Write what ranks did: a line each, NAME ( ARGUMENTS ), one call after the other."""
    (folder / "_text").mkdir()
    for rank, text in enumerate(ranks):
        lines = []
        for number, line in enumerate(text.strip().splitlines()):
            name, _, rest = line.strip().partition(" ")
            start = 0.001 * number
            if name == "within":  # the call before, which takes longer
                start -= 0.0005
                name, _, rest = rest.partition(" ")
            lines.append(f"{start:.6f} {start + 0.0009:.6f} {name} 0 1 {rest}\n")
        (folder / "_text" / f"{rank}.txt").write_text("".join(lines))
    return folder


def _inside(outer: str, *inner: str) -> str:
    """Return lines with times: inner calls within an outer one."""
    lines = [f"1.0 2.0 {outer}"]
    lines += [f"1.{k + 1} 1.{k + 2} {one}" for k, one in enumerate(inner)]
    return "".join(line.replace(" (", " 0 0 (", 1) + "\n" for line in lines)


def test_collective_calls_with_offsets_pointers_and_views(tmp_path: Path) -> None:
    calls = """
        MPI_File_open ( MPI_COMM_WORLD /lus/f 5 %p 0-0 )
        MPI_File_write_at_all ( 0-0 {at} %p 10 MPI_INT MPI_STATUS_IGNORE )
        MPI_File_set_view ( 0-0 1000 MPI_DOUBLE MPI_DOUBLE %p %p )
        MPI_File_write_all ( 0-0 %p 5 MPI_DOUBLE MPI_STATUS_IGNORE )
        MPI_File_write ( 0-0 %p 1 MPI_DOUBLE MPI_STATUS_IGNORE )
        MPI_File_seek ( 0-0 3 MPI_SEEK_SET )
        MPI_File_iread ( 0-0 %p 2 MPI_DOUBLE %p )
        MPI_File_sync ( 0-0 )
        MPI_File_close ( 0-0 )
    """
    path = _written(tmp_path, calls.format(at=0), calls.format(at=40))
    rows = rows_of(path)
    assert [row[1:] for row in rows if row[0] == 1] == [
        ("create", "/lus/f", 0, 0),
        ("write", "/lus/f", 40, 40),
        ("write", "/lus/f", 1000, 40),
        ("write", "/lus/f", 1040, 8),
        ("read", "/lus/f", 1024, 16),
        ("fsync", "/lus/f", 0, 0),
        ("close", "/lus/f", 0, 0),
    ]
    trace = open_tracers(str(path))
    block = join_blocks(list(trace.blocks()))
    coll = block.coll.reshape(2, 7)
    assert (coll[0] == coll[1]).all()
    assert (coll[0] < 0).tolist() == [False, False, False, True, True, False, False]
    assert (block.mpi == 1).all()
    assert take_in(trace, "think", "t").together.op.tolist() == [3, 1, 1, 5, 4]
    assert trace.files[0].mpi
    assert trace.files[0].ranks is None
    assert "do not wait" in warnings_of(path)


@pytest.mark.parametrize(
    "call",
    [
        "MPI_File_write_at_all ( 0-0 0 %p 2 MPI_TYPE_UNKNOWN MPI_STATUS_IGNORE )",
        "MPI_File_write_ordered ( 0-0 %p 2 MPI_INT MPI_STATUS_IGNORE )",
    ],
)
def test_what_mpi_io_did_beneath_stands_for_what_is_not_known(tmp_path: Path, call: str) -> None:
    beneath = "pwrite ( /lus/f %p 800 4096 )"
    known = "MPI_File_write_at_all ( 0-0 0 %p 2 MPI_INT MPI_STATUS_IGNORE )"
    (tmp_path / "0.txt").write_text(
        f"0.1 0.2 {OPEN.replace(' (', ' 0 0 (')}\n" + _inside(call, beneath)
    )
    other = call if "ordered" in call else known
    (tmp_path / "1.txt").write_text(
        f"0.1 0.2 {OPEN.replace(' (', ' 0 0 (')}\n" + _inside(other, beneath)
    )
    assert [row for row in rows_of(tmp_path) if row[1] == "write"] == [
        (0, "write", "/lus/f", 4096, 800),
        (1, "write", "/lus/f", 4096, 800),
    ]


def test_what_mpi_io_does_beneath_a_call_that_is_known_is_no_call(tmp_path: Path) -> None:
    call = "MPI_File_write_at ( 0-0 8 %p 2 MPI_INT MPI_STATUS_IGNORE )"
    text = f"0.1 0.2 {OPEN.replace(' (', ' 0 0 (')}\n"
    text += _inside(call, "lseek ( /lus/f 8 0 )", "write ( /lus/f %p 8 )")
    text += "3.0 3.1 write 0 0 ( /lus/g %p 5 )\n"
    (tmp_path / "0.txt").write_text(text)
    assert [row[1:] for row in rows_of(tmp_path)[1:]] == [
        ("write", "/lus/f", 8, 8),
        ("write", "/lus/g", 0, 5),
    ]


def test_all_ranks_meet_in_collective_calls_and_parts_of_them_do_not(tmp_path: Path) -> None:
    calls = """
        write ( /lus/{rank} %p 5 )
        MPI_Allreduce ( %p %p 1 MPI_INT 3 MPI_COMM_WORLD )
        MPI_Barrier ( {part} )
        MPI_Bcast ( %p 1 MPI_INT 0 MPI_COMM_WORLD )
        MPI_Barrier ( 2-9 )
        write ( /lus/{rank} %p 5 )
    """
    ranks = [calls.format(rank=rank, part=f"0-{rank // 2}") for rank in range(4)]
    path = _written(tmp_path, *ranks)
    assert [row[1] for row in rows_of(path) if row[0] == 3] == [
        *("write", "barrier", "barrier", "write")
    ]
    said = warnings_of(path)
    assert "leave ranks out are dropped: who meets there is not kept (4)" in said
    assert "calls of MPI_Bcast order ranks in a way that a replay does not keep (4)" in said


def test_meetings_that_a_killed_rank_did_not_come_to_are_left_out(tmp_path: Path) -> None:
    calls = f"{OPEN}\nMPI_Barrier ( MPI_COMM_WORLD )\n"
    more = f"{calls}MPI_Barrier ( MPI_COMM_WORLD )\nMPI_File_close ( 0-0 )\n"
    path = _written(tmp_path, calls, more)
    assert [row[:2] for row in rows_of(path)] == [
        (rank, op) for rank in (0, 1) for op in ("create", "barrier")
    ]
    assert "are not in the trace of all of them, and are left out (2)" in warnings_of(path)


def test_a_file_that_a_rank_opens_by_itself_is_accessed_independently(tmp_path: Path) -> None:
    calls = """
        MPI_File_open ( MPI_COMM_SELF /lus/{rank} 5 %p {rank}-0 )
        MPI_File_write_all ( {rank}-0 %p 4 MPI_BYTE MPI_STATUS_IGNORE )
    """
    path = _written(tmp_path, *(calls.format(rank=rank) for rank in range(2)))
    block = join_blocks(list(open_tracers(str(path)).blocks()))
    assert (block.coll == -1).all()
    assert (block.mpi == 1).all()


def test_a_part_of_the_ranks_is_the_communicator_of_a_file(tmp_path: Path) -> None:
    opens = "MPI_File_open ( 0-5 /lus/f 4 %p 0-0 )"
    path = _written(tmp_path, opens, "write ( /lus/g %p 5 )", opens)
    ranks = open_tracers(str(path)).files[0].ranks
    assert ranks is not None
    assert ranks.tolist() == [0, 2]


def test_descriptors_of_old_traces_are_followed_through_dup(tmp_path: Path) -> None:
    (tmp_path / "0.txt").write_text(
        "0.0 0.1 5 open ( /lus/f 577 420 )\n"
        "0.2 0.3 10 write ( 5 %p 10 )\n"
        "0.4 0.5 6 dup ( 5 )\n"
        "0.6 0.7 0 close ( 5 )\n"
        "0.8 0.9 7 write ( 6 %p 7 )\n"
        "1.0 1.1 9 write ( 1 %p 9 )\n"
        "1.2 1.3 0 PMPI_Barrier ( MPI_COMM_WORLD )\n"
    )
    assert [row[1:] for row in rows_of(tmp_path)] == [
        ("create", "/lus/f", 0, 0),
        ("write", "/lus/f", 0, 10),
        ("close", "/lus/f", 0, 0),
        ("write", "/lus/f", 10, 7),
        ("barrier", "", 0, 0),
    ]
    assert "descriptors that the trace does not open are left out" in warnings_of(tmp_path)


def test_a_cut_line_is_told_and_a_bad_one_refused(tmp_path: Path) -> None:
    right = "0.0 0.1 write 0 0 ( /lus/f %p 5 )\n"
    (tmp_path / "0.txt").write_text(right + "0.2 0.3 write 0 0 ( /l")
    assert len(rows_of(tmp_path / "0.txt")) == 1
    assert "as a killed run leaves them: the line is left out (1)" in warnings_of(tmp_path)
    (tmp_path / "0.txt").write_text("0.2 write ( /lus )\n" + right)
    with pytest.raises(InputError, match=r"0\.txt: line 1: '0\.2 write .* is no call; right would"):
        open_tracers(str(tmp_path))
    (tmp_path / "0.txt").write_text("x 0.3 write 0 0 ( /l %p 5 )\n" + right)
    with pytest.raises(InputError, match="line 1: start = 'x'; right would be a number"):
        open_tracers(str(tmp_path))
