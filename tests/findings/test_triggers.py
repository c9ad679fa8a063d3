"""What strikes in a run: troubles that were planted are found, with who, where and how much."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import small_jobs

from xc40io.findings.trigger import Remedy, Trigger
from xc40io.findings.triggers import triggers
from xc40io.plane.counters import Stat

run = partial(small_jobs.run, record=True)


def ior(words: str, count: int = 4, **more: Any) -> dict[str, Trigger]:
    striping = {"striping": {"count": count, "size": "1m"}}
    return {found.name: found for found in triggers(run({"ior": words}, **(striping | more)))}


def of_trace(tmp_path: Path, rows: list[str], **more: Any) -> dict[str, Trigger]:
    path = tmp_path / "job.csv"
    path.write_text("\n".join(["rank,op,file,offset,length,think", *rows]), encoding="utf-8")
    result = run({"kernel": {"name": "replay", "trace": str(path)}}, **more)
    return {found.name: found for found in triggers(result)}


def test_nothing_strikes_in_large_calls_to_own_files():
    assert ior("-F -w -e -b 64m -t 8m", count=1) == {}


def test_one_rank_that_writes_for_all(tmp_path: Path):
    rows = ["0,create,/a,,,", "0,write,/a,0,268435456,", "0,close,/a,,,"]
    found = of_trace(tmp_path, [*rows, *(f"{rank},compute,,,,0.0" for rank in range(1, 16))])
    one = found["few ranks do nearly all"]
    assert one.sentence == "Rank 0 alone asks for 100 % of the 268.4 MB of all 16 ranks."
    assert one.rows[0][:5] == (0, 0, 268435456, 1.0, 1)
    assert Remedy.MORE_RANKS in one.remedies


def test_ranks_that_ask_alike_are_told_by_their_aggregator_not_by_themselves():
    found = ior("-a MPIIO -c -w -b 4m -t 4m", count=1)
    assert "few ranks do nearly all" not in found
    assert found["few aggregators"].rows[0][1:5] == ([0], 1, 4, 1)
    assert found["few aggregators"].remedies == (Remedy.AGGREGATION, Remedy.STRIPING)


@pytest.mark.parametrize(("block", "idle"), [("8m", True), ("9m", False)])
def test_aggregators_are_idle_where_blocks_are_a_whole_round_of_stripes_apart(block, idle):
    found = ior(f"-a MPIIO -c -w -b {block} -t 1m", count=4, nodes=4)
    assert ("idle aggregators" in found) == idle
    if idle:
        assert found["idle aggregators"].rows[0][1:5] == ("write", 4, 1.0, 1.0)
        assert found["idle aggregators"].sentence.endswith(
            " a call meets 1 of 4 OSTs, and with stripes of 8 MiB 4."
        )
        assert found["idle aggregators"].remedies[:2] == (Remedy.STRIPE_SIZE, Remedy.SIDE_BY_SIDE)


def test_idle_aggregators_are_told_with_which_stripes_a_call_meets_more():
    found = ior("-a MPIIO -c -w -b 16m -t 4m", nodes=4, striping={"count": 4, "size": "4m"})
    assert found["idle aggregators"].sentence.endswith(
        " a call meets 1 of 4 OSTs, and with stripes of 1 MiB 4."
    )


def test_small_calls_that_begin_amid_pages():
    found = ior("-F -w -e -b 1000000 -t 10000", count=1)
    assert found["many small calls"].sentence.startswith(
        "1,600 of 1,600 reads and writes (100 %) are below 1 MiB. They move 16 MB of 16 MB"
    )
    assert found["many small calls"].rows[0][1:5] == (100, 100, 1_000_000, 10_000)
    assert found["unaligned calls"].rows[0][3] == 1 << 20


def test_calls_that_cross_one_stripe_more_than_they_need():
    found = ior("-F -w -e -b 64m -t 4m", count=1, striping={"count": 1, "size": "3m"})
    assert "in the middle of a page of the cache (4 KiB); " in found["unaligned calls"].sentence
    assert found["unaligned calls"].sentence.startswith("0 of 256 ")


def test_locks_that_nodes_take_from_each_other():
    found = ior("-w -e -b 64k -t 64k -s 8", count=1)["locks that change hands"]
    file, back, locks, nodes, _ = found.rows[0]
    assert file == "testFile"
    assert 0 < back <= locks
    assert nodes > 1


def test_a_burst_in_which_all_wait_for_who_came_first():
    burst = {"nodes": 16, "ppn": 16, "striping": {"count": 48, "size": "8m"}}
    found = ior("-w -e -b 8m -t 8m", **burst)["locks held by who came first"]
    assert found.sentence.startswith("In write a rank waited ")
    assert " Of 48 such first locks node " in found.sentence
    assert sum(row[1] for row in found.rows) <= 48
    first = [row[1] for row in found.rows]
    assert first == sorted(first, reverse=True)
    assert first[0] > 48 / 16
    assert Remedy.OWN_FILES in found.remedies


def test_without_a_recording_phases_stand_for_the_nodes_that_came_first():
    burst = {"nodes": 16, "ppn": 16, "striping": {"count": 48, "size": "8m"}}
    result = replace(run({"ior": "-w -e -b 8m -t 8m"}, **burst), recording=None)
    (found,) = (one for one in triggers(result) if one.name == "locks held by who came first")
    assert found.rows[0][0] == "write"
    assert "such first" not in found.sentence


@pytest.mark.parametrize("words", ["-F -w -e -b 8m -t 8m", "-a MPIIO -c -w -e -b 8m -t 8m"])
def test_nobody_came_first_where_each_object_has_one_writer(words: str):
    assert "locks held by who came first" not in ior(words, nodes=8, ppn=8)


def test_locks_that_wait_for_commits_are_not_those_of_who_came_first():
    found = ior("-w -e -b 64k -t 64k -s 8", count=1)
    assert "locks that change hands" in found
    assert "locks held by who came first" not in found


def test_a_file_on_one_ost_that_many_nodes_write():
    found = ior("-w -e -b 128m -t 8m", count=1)["few OSTs have nearly all"]
    assert found.sentence == (
        "90 % of the 2.147 GB go to 1 OST; the files lie on 1, the job has 4 nodes, and the "
        "machine has 56 OSTs."
    )
    assert found.rows[0][2] == 1.0


def test_many_osts_with_even_shares_are_not_few():
    assert "few OSTs have nearly all" not in ior("-w -e -b 128m -t 8m", count=3)


def test_holes_that_mpi_io_fills(tmp_path: Path):
    path = tmp_path / "job.csv"
    ranks = range(16)
    rows = ["rank,op,file,offset,length,coll,api"]
    rows += [f"{rank},create,/a,,,1,mpiio" for rank in ranks]
    rows += [f"{rank},write,/a,{rank * 2**17},65536,2,mpiio" for rank in ranks]
    rows += [f"{rank},close,/a,,,3,mpiio" for rank in ranks]
    path.write_text("\n".join(rows), encoding="utf-8")
    result = run({"kernel": {"name": "replay", "trace": str(path)}})
    (found,) = (one for one in triggers(result) if one.name == "read, modified, written back")
    assert found.rows[0][0] == "/a"
    assert found.rows[0][3] == 1 << 20
    assert Remedy.COLLECTIVE in found.remedies


def test_one_rank_that_computes_longer_is_waited_for(tmp_path: Path):
    rows = [f"{rank},compute,,,,{9.0 if rank == 5 else 0.1}" for rank in range(16)]
    rows += [f"{rank},barrier,,,," for rank in range(16)]
    found = of_trace(tmp_path, rows)
    assert found["waiting for the slowest rank"].rows[0][0] == 5
    assert found["little to gain"].sentence.startswith("Rank 5 computes 9.000 s of the 9.0")


def test_files_opened_again_and_again(tmp_path: Path):
    rows = [row for _ in range(12) for row in ("0,open,/a,,,", "0,close,/a,,,")]
    rows += [f"{rank},compute,,,,0.0" for rank in range(1, 16)]
    found = of_trace(tmp_path, ["0,create,/a,,,", "0,close,/a,,,", *rows])
    assert found["many opens"].sentence == "A rank opens a file 13 times on average."
    assert found["many opens"].rows[0][:3] == ("/a", 1, 13)


def test_metadata_and_many_files_in_one_directory():
    result = run({"mdtest": "-n 100 -F -C"})
    found = {one.name: one for one in triggers(result)}
    assert found["many opens"].sentence == "1,600 files are made in one directory."
    assert found["time in metadata"].rows[0][0] == "create"
    assert Remedy.FEWER_FILES in found["time in metadata"].remedies


@pytest.mark.parametrize("name", ["adios", "hacc-io", "e3sm", "wrf-restart"])
def test_every_kind_of_run_can_be_looked_at_recorded_or_not(name: str):
    result = run({"kernel": {"name": name}}, nodes=2, ppn=2)
    whole = triggers(result)
    less = triggers(replace(result, recording=None))
    assert {one.name for one in less} <= {one.name for one in whole}
    for one in whole:
        assert one.rows
        assert all(len(row) == len(one.columns) for row in one.rows)
        assert one.sentence.endswith(".")


def unrecorded(tmp_path: Path, rows: list[str], **more: Any) -> dict[str, Trigger]:
    path = tmp_path / "job.csv"
    path.write_text("\n".join(["rank,op,file,offset,length,think", *rows]), encoding="utf-8")
    result = small_jobs.run({"kernel": {"name": "replay", "trace": str(path)}}, **more)
    assert result.recording is None
    return {found.name: found for found in triggers(result)}


def test_a_replay_without_a_recording_tells_of_one_rank(tmp_path: Path):
    rows = ["0,create,/a,,,", "0,write,/a,0,268435456,", "0,close,/a,,,"]
    rows += [f"{rank},compute,,,,0.0" for rank in range(1, 16)]
    one, same = (find(tmp_path, rows)["few ranks do nearly all"] for find in (unrecorded, of_trace))
    assert one.sentence == same.sentence
    assert one.rows[0][:4] == same.rows[0][:4]
    assert one.rows[0][-1] == pytest.approx(same.rows[0][-1])


def test_a_replay_without_a_recording_tells_of_small_calls(tmp_path: Path):
    rows = ["0,create,/a,,,", *(f"0,write,/a,{at * 4096},4096," for at in range(1200))]
    told, same = (find(tmp_path, rows)["many small calls"] for find in (unrecorded, of_trace))
    assert told.rows[0][:5] == same.rows[0][:5] == ("/a", 1200, 1200, 1200 * 4096, 4096)
    assert told.sentence.startswith(
        "1,200 of 1,200 reads and writes (100 %) are below 1 MiB on average of their file. They "
        "move 4.915 MB of 4.915 MB"
    )
    large = ["0,create,/a,,,", *(f"0,write,/a,{at << 21},{1 << 21}," for at in range(8))]
    assert "many small calls" not in unrecorded(tmp_path, large)


def test_a_replay_without_a_recording_tells_of_many_files(tmp_path: Path):
    rows = [f"0,{op},/dir/{file},,," for file in range(1000) for op in ("create", "close")]
    told, same = (find(tmp_path, rows)["many opens"] for find in (unrecorded, of_trace))
    assert told.sentence == same.sentence == "1,000 files are made in one directory."
    assert told.rows[0][:3] == same.rows[0][:3] == ("/dir", 1000, 1000)


def test_locks_that_change_hands_are_counted_without_a_recording():
    words = {"ior": "-w -e -b 64k -t 64k -s 8"}
    result = small_jobs.run(words, striping={"count": 1, "size": "1m"})
    (found,) = (one for one in triggers(result) if one.name == "locks that change hands")
    assert found.rows[0][0] == result.stats[Stat.BLOCKING_ASTS] > 0
    assert found.sentence.startswith(f"{found.rows[0][0]} extent locks had to be given back to ")
