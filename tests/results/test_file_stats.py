"""What was read and written of each file."""

from __future__ import annotations

import pytest
from recorded_runs import recorded, recording_of_run

from xc40io import Scenario, simulate
from xc40io.findings.file_uses import file_uses
from xc40io.plane.operations import Op
from xc40io.results.file_stats import SHOWN, file_stats_document, file_stats_lines


@pytest.mark.parametrize("way", [Op.READ, Op.WRITE])
def test_files_have_all_bytes_and_calls_of_the_run(way: Op):
    uses = file_uses(recording_of_run("own files"), way)
    assert sorted(use.file for use in uses) == sorted(f"testFile.{rank:08d}" for rank in range(16))
    assert {use.bytes for use in uses} == {3 << 20}
    assert {use.calls for use in uses} == {3}
    assert {use.ranks for use in uses} == {1}
    assert [use.seconds for use in uses] == sorted((use.seconds for use in uses), reverse=True)


def test_the_ranks_of_a_shared_file_are_counted_once():
    (use,) = file_uses(recording_of_run("shared file"), Op.WRITE)
    assert use.ranks == 16
    assert use.calls == 16 * 3 * 8
    assert use.bytes_a_call == 64 << 10
    assert use.rate == use.bytes / use.seconds


def test_the_table_has_the_total_above_its_files():
    lines = list(file_stats_lines(recording_of_run("own files")))
    assert lines[1].startswith("File input by name")
    assert lines[2].split("  ")[-1] == "file"
    assert " ".join(lines[2].split()).startswith("time (s) read (MB) rate (MB/s) reads bytes/call")
    assert lines[3].split()[1:] == [
        "50.332", *lines[3].split()[2:3], "48", "1,048,576.00", "total"
    ]  # fmt: skip
    assert len(lines) == 2 * (4 + 16)
    assert lines[21].startswith("File output by name")


def test_many_files_have_a_line_for_the_rest():
    scenario = Scenario(machine="theta", nodes=1, ppn=SHOWN + 5, workload={"ior": "-w -F -b 1m"})
    result = simulate(scenario, record=True)
    assert result.recording is not None
    _, _, _, total, *files, rest = file_stats_lines(result.recording)
    assert len(files) == SHOWN
    assert rest.endswith("5 other files")
    assert f" {SHOWN + 5}.0" not in rest
    assert total.split()[3] == f"{4 * (SHOWN + 5)}"


def test_json_has_every_file_one_way_after_the_other():
    document = file_stats_document(recording_of_run("own files"))
    assert document.keys() == {"read", "written"}
    assert len(document["read"]) == len(document["written"]) == 16
    first = document["written"][0]
    assert first["rate"] == first["bytes"] / first["seconds"]
    assert recorded("own files").recording is not None
