"""``xc40io jobs``: what is understood of a table, and what is assumed, before anything runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

SACCT = """\
JobID|JobName|State|NNodes|NTasks|Submit|Start|Elapsed|Timelimit|TRESUsageInTot|TRESUsageOutTot
7|climate|COMPLETED|4||2022-01-24T08:00:00|2022-01-24T08:10:00|01:00:00|02:00:00||
7.0|app|COMPLETED|4|8|2022-01-24T08:10:00|2022-01-24T08:10:00|01:00:00||fs/disk=0|fs/disk=67108864
8|genes|COMPLETED|2||2022-01-24T08:00:00|2022-01-24T08:10:00|02:00:00|02:00:00||
8.0|app|COMPLETED|2|4|2022-01-24T08:10:00|2022-01-24T08:10:00|01:00:00||fs/disk=33554432|fs/disk=4096
9|late|PENDING|4||2022-01-24T09:00:00|Unknown|00:00:00|01:00:00||
"""


@pytest.fixture
def week(tmp_path: Path) -> str:
    path = tmp_path / "week.txt"
    path.write_text(SACCT)
    return str(path)


def test_a_summary_tells_what_is_known_and_what_is_assumed(xc40io, week: str) -> None:
    found = xc40io("jobs", "summary", week)
    assert found.exit_code == 0, found.output
    assert f"2 jobs of {week}, read as a table of sacct" in " ".join(found.stdout.split())
    lines = {" ".join(line.split()) for line in found.stdout.splitlines()}
    assert "nodes 2 2 3 4" in lines
    assert "write_layout 0 drawn by ranks, as on Intrepid" in lines
    assert "* Folded into their jobs: 2 steps." in lines
    assert "* Left out: 1 job that never began." in lines
    assert "climate-4 1 4 8 0 B 64.0 MiB shared 66.7 % 50.0 %" in lines
    assert "2 kinds of jobs: 2 of 2 jobs, 100.0 % of the bytes and 100.0 % of the node-hours." in (
        lines
    )


def test_the_largest_kinds_alone_and_as_json(xc40io, week: str) -> None:
    found = xc40io("jobs", "summary", week, "--kinds", "1", "--json")
    document = json.loads(found.stdout)
    assert (document["jobs"], document["steps"], document["never_began"]) == (2, 2, 1)
    (kind,) = document["kinds"]
    assert (kind["name"], kind["written"], round(kind["bytes_share"], 4)) == (
        *("climate-4", 64 << 20, 0.6666),
    )
    fields = {row["field"]: row for row in document["quantities"]}
    assert fields["ranks"]["known"] == 2
    assert fields["opens"] | {"otherwise": ""} == {
        **{"field": "opens", "known": 0, "least": "", "median": "", "most": ""},
        "otherwise": "",
    }


def test_a_row_that_cannot_be_read_is_told(xc40io, week: str) -> None:
    Path(week).write_text(SACCT + "10|cut|COMPL")
    words = "Left out: 1 row that cannot be read (row 7: has 3 cells)."
    summary = xc40io("jobs", "summary", week)
    assert words in " ".join(summary.stdout.split())
    assert "2 jobs of" in summary.stdout
    told = json.loads(xc40io("jobs", "summary", week, "--json").stdout)["left_out"]
    assert told == "1 row that cannot be read (row 7: has 3 cells)"


def test_jobs_that_did_not_complete_stand_apart(xc40io, week: str) -> None:
    Path(week).write_text(SACCT.replace("genes|COMPLETED", "genes|TIMEOUT"))
    found = xc40io("jobs", "summary", week)
    lines = {" ".join(line.split()) for line in found.stdout.splitlines()}
    assert "completed 1 0 B 64.0 MiB 66.7 % 4.00" in lines
    assert "timed out 1 32.0 MiB 4.00 KiB 33.3 % 4.00" in lines
    apart = json.loads(xc40io("jobs", "summary", week, "--json").stdout)["endings"]
    assert [(row["ended"], row["jobs"], row["read"]) for row in apart] == [
        ("completed", 1, 0),
        ("timed out", 1, 32 << 20),
    ]
    left = xc40io("jobs", "summary", week, "--completed").stdout
    assert "1 kind of jobs: 1 of 1 jobs" in left
    assert "How jobs ended" not in left


def test_a_table_without_bytes_is_told_of_all_the_same(xc40io, tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("01/24/2022 09:10:00;E;7;start=1 end=9 resources_used.nodect=4\n")
    found = xc40io("jobs", "summary", str(path))
    assert found.exit_code == 0, found.output
    assert "Of no job the bytes are known, so nothing can be simulated of them." in found.stdout
