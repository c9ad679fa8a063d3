"""What sacct prints: steps are folded into jobs, as text and as JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xc40io.config.errors import InputError
from xc40io.config.reading import Cursor
from xc40io.workloads.job_records.bad_rows import BadRows
from xc40io.workloads.job_records.job_table import read_job_table
from xc40io.workloads.job_records.slurm import fold_steps

HEAD = "JobID|JobName|State|NNodes|NTasks|Submit|Start|Elapsed|Timelimit|TRESUsageInTot|"
HEAD += "TRESUsageOutTot|AveDiskRead|AveDiskWrite"
DAY = "2022-01-24T"
JOB = f"7|climate|COMPLETED|128||{DAY}08:00:00|{DAY}08:10:00|1-02:00:00|2-00:00:00||||"
BATCH = f"7.batch|batch|COMPLETED|1|1|{DAY}08:10:00|{DAY}08:10:00|00:01:00||||1.50M|1K"
STEP = f"7.0|app|COMPLETED|128|8192|{DAY}08:11:00|{DAY}08:11:00|00:01:00||"
STEP += "cpu=1,fs/disk=4096,mem=2G|cpu=1,fs/disk=1048576,mem=0|9G|9G"
WAITS = f"8|late|PENDING|4||{DAY}09:00:00|Unknown|00:00:00|01:00:00||||"
GONE = f"9|gone|CANCELLED by 5|4||{DAY}09:00:00|None|00:00:00|UNLIMITED||||"
TASK = f"10_3|array|RUNNING|2||{DAY}09:00:00|{DAY}09:00:01|00:10:00|Partition_Limit||||"


def table(folder: Path, *lines: str, end: str = "") -> Path:
    path = folder / "week.txt"
    path.write_text("".join(f"{line}{end}\n" for line in (HEAD, *lines)))
    return path


@pytest.mark.parametrize("end", ["", "|"], ids=["-P", "-p"])
def test_steps_become_part_of_their_job(tmp_path: Path, end: str) -> None:
    found = read_job_table(table(tmp_path, JOB, BATCH, STEP, WAITS, GONE, TASK, end=end))
    job, task = found.records
    assert (job.name, job.nodes, job.ranks) == ("7", 128, 8192)
    assert (job.runtime, job.walltime) == (26 * 3600.0, 48 * 3600.0)
    # 1.5 MiB of the script's one task, and the total of the step: its averages are not added.
    assert job.read == 3 * 2**19 + 4096
    assert job.written == 1024 + 2**20
    assert (task.name, task.nodes, task.ranks, task.walltime) == ("10_3", 2, None, None)
    assert (found.read_as, found.steps, found.never_began) == ("a table of sacct", 2, 2)
    assert found.unused == ()
    assert (job.application, task.application) == ("climate", "array")


def test_submit_beside_start(tmp_path: Path) -> None:
    path = table(tmp_path, JOB, TASK)
    assert [job.start for job in read_job_table(path).records] == [0.0, 3600.0]
    recorded = read_job_table(path, recorded=True).records
    assert [job.start for job in recorded] == [0.0, 3001.0]


LONG = "JobID|JobName|NTasks|AllocCPUS|Elapsed|State|ReqTRES|AllocTRES|NodeList|TRESUsageOutTot"


def test_nodes_are_those_that_were_given_or_asked_for(tmp_path: Path) -> None:
    """The columns of ``sacct --long``: no NNodes, and ranks need not fill the nodes."""
    lines = (
        "7|hybrid||256|01:00:00|COMPLETED|cpu=256,node=8|cpu=256,mem=256G,node=4|nid[01-04]|",
        "7.0|app|128|256|01:00:00|COMPLETED||cpu=256,node=4|nid[01-04]|fs/disk=5",
        "8_1|array||64|01:00:00|COMPLETED|cpu=64,node=2|||",
        "9|steps||64|01:00:00|COMPLETED|cpu=64,node=1|||",
        "9.0|app|8|64|01:00:00|COMPLETED||cpu=64,node=3||fs/disk=5",
        "10|listed||64|01:00:00|COMPLETED|||c[1-2]n[001-010,020],login1|",
        "11|gone||0|00:00:00|CANCELLED by 5|cpu=64,node=2||None assigned|",
    )
    path = tmp_path / "long.txt"
    path.write_text("\n".join((LONG, *lines)))
    found = read_job_table(path)
    assert [(job.name, job.nodes, job.ranks) for job in found.records] == [
        ("7", 4, 128),
        ("8_1", 2, None),
        ("9", 3, 8),
        ("10", 23, None),
    ]
    assert (found.steps, found.never_began) == (2, 1)
    assert found.unused == ("AllocCPUS",)


def test_a_table_in_which_no_job_began(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"week\.txt: has 2 jobs, none of which began; right"):
        read_job_table(table(tmp_path, WAITS, GONE))


def test_json_says_the_same_as_text(tmp_path: Path) -> None:
    def disk(count: int) -> dict[str, object]:
        return {
            "total": [{"type": "cpu", "count": 1}, {"type": "fs", "name": "disk", "count": count}]
        }

    def job(number: int, start: int, state: str, **more: object) -> dict[str, object]:
        time = {
            "submission": 1643011200,
            "start": start,
            "elapsed": 600,
            "limit": {"set": True, "infinite": False, "number": 60},
        }
        return {"job_id": number, "time": time, "state": {"current": [state]}, **more}

    steps = [
        {
            "step": {"id": {"job_id": 7, "step_id": "0"}},
            "tasks": {"count": 64},
            "tres": {"requested": disk(4096), "consumed": disk(8192)},
        }
    ]
    given = {"allocated": [{"type": "cpu", "count": 64}, {"type": "node", "count": 2}]}
    jobs = [
        job(7, 1643011800, "COMPLETED", allocation_nodes=4, steps=steps),
        job(8, 0, "PENDING", allocation_nodes=0),
        job(
            9,
            1643011900,
            "RUNNING",
            tres=given,
            array={"job_id": 6, "task_id": {"set": True, "number": 3}},
        ),
    ]
    path = tmp_path / "week.json"
    path.write_text(json.dumps({"meta": {}, "jobs": jobs}))
    found = read_job_table(path)
    first, second = found.records
    assert (first.name, first.nodes, first.ranks, first.read, first.written) == (
        *("7", 4, 64, 4096, 8192),
    )
    assert (first.start, first.runtime, first.walltime) == (0.0, 600.0, 3600.0)
    assert (second.name, second.nodes, second.ranks) == ("6_3", 2, None)
    assert (found.steps, found.never_began) == (1, 1)


@given(
    st.lists(st.tuples(st.integers(1, 3), st.integers(0, 2**40), st.integers(1, 9999)), max_size=20)
)
def test_no_byte_of_a_step_is_lost(lines: list[tuple[int, int, int]]) -> None:
    rows: list[tuple[int, dict[str, object]]] = [
        (
            number,
            {"JobID": f"{job}.{number}", "NTasks": tasks, "TRESUsageInTot": f"fs/disk={size}"},
        )
        for number, (job, size, tasks) in enumerate(lines)
    ]
    at = Cursor("jobs.txt")
    folded = fold_steps(rows, at, BadRows(at))
    assert sum(row["read"] for _, row in folded.rows) == sum(size for _, size, _ in lines)
    assert folded.steps == len(lines)
    for _, row in folded.rows:
        assert row["NTasks"] == max(tasks for job, _, tasks in lines if str(job) == row["JobID"])
