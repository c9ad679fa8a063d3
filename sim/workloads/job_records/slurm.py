"""What Slurm's ``sacct`` knows of jobs, ``--parsable`` or ``--json``: steps are folded into jobs.

The bytes of a step are those that its processes moved by system calls, sockets and pipes among
them: ``rchar`` and ``wchar`` of Linux, which the plugin ``jobacct_gather/linux`` adds up.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

Row = Mapping[str, Any]

_STEP = re.compile(r"(\d+(?:[_+][\w\[\]%,-]+)?)\.(\w+)")
_HELPERS = ("batch", "extern", "interactive")
"""Steps whose tasks are no ranks: the script, what comes by ssh, the shell of salloc."""

_DISK = re.compile(r"(?:^|,)fs/disk=([\d.]+[KMGTP]?)")
_SIZE = re.compile(r"([\d.]+)([KMGTP]?)")
_NEVER = ("none", "unknown", "0")

_USED = ("tresusageintot", "tresusageouttot", "avediskread", "avediskwrite", "ntasks", "state")


class Folded(NamedTuple):
    """Rows of jobs, made of those of jobs and steps."""

    rows: Sequence[tuple[int, dict[str, Any]]]
    steps: int  # that were folded into their jobs
    never_began: int  # jobs that were left out: they wait, or were cancelled while they did


def is_slurm(head: Sequence[str]) -> bool:
    """Tell whether the columns of a table are those of sacct."""
    return "JobID" in head and bool({"NNodes", "AllocNodes", "NTasks", "State"} & set(head))


def fold_steps(rows: Sequence[tuple[int, Row]]) -> Folded:
    """Return one row for each job of a table of sacct.

    A job's ranks are the tasks of its largest step, its bytes those of all steps: the totals
    ``TRESUsageInTot`` and ``TRESUsageOutTot``, or the averages ``AveDiskRead`` and ``AveDiskWrite``
    times ``NTasks``.
    """
    jobs: dict[str, tuple[int, dict[str, Any]]] = {}
    steps: dict[str, list[dict[str, Any]]] = {}
    for number, row in rows:
        low = {name.lower(): value for name, value in row.items()}
        found = _STEP.fullmatch(str(low.get("jobid", "")).strip())
        job = found[1] if found else str(low.get("jobid", "")).strip()
        if found:
            steps.setdefault(job, []).append(low | {"step": found[2]})
        if job not in jobs or not found:
            jobs[job] = number, {**row, "JobID": job}
    kept = {job: line for job, line in jobs.items() if _began(line[1])}
    return Folded(
        [(number, _one_job(row, steps.get(job, []))) for job, (number, row) in kept.items()],
        sum(len(steps[job]) for job in kept.keys() & steps.keys()),
        len(jobs) - len(kept),
    )


def _began(row: Row) -> bool:
    """Tell whether a job has had nodes."""
    low = {name.lower(): str(value).strip().lower() for name, value in row.items()}
    return low.get("start") not in _NEVER and not low.get("state", "").startswith("pending")


def _one_job(row: dict[str, Any], steps: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the row of a job with what its steps tell, without the columns that told it."""
    job = {name: value for name, value in row.items() if name.lower() not in _USED}
    lines = steps or [{name.lower(): value for name, value in row.items()}]
    ranks = [_tasks(step) for step in lines if step.get("step") not in _HELPERS]
    return job | {
        "NTasks": max(ranks, default=0) or None,
        "read": _moved(lines, "tresusageintot", "avediskread"),
        "written": _moved(lines, "tresusageouttot", "avediskwrite"),
    }


def _tasks(step: Row) -> int:
    text = str(step.get("ntasks", "")).strip()
    return int(text) if text.isascii() and text.isdecimal() else 0


def _moved(steps: Sequence[Row], total: str, average: str) -> int | None:
    """Return the bytes of all steps; None if no step tells any."""
    known = []
    for step in steps:
        in_all = _DISK.search(str(step.get(total, "")))
        one = str(step.get(average, "")).strip()
        if in_all:
            known.append(_bytes(in_all[1]))
        elif one:
            known.append(_bytes(one) * max(_tasks(step), 1))
    return round(sum(known)) if known else None


def _bytes(text: str) -> float:
    """Return the bytes that sacct's ``12.50M`` means: its letters are powers of 1,024."""
    found = _SIZE.fullmatch(text)
    if found is None or found[1].count(".") > 1 or found[1] == ".":
        return 0.0
    return float(found[1]) * 1024.0 ** " KMGTP".index(found[2] or " ")


def is_slurm_json(document: object) -> bool:
    """Tell whether a document is what ``sacct --json`` prints."""
    jobs = document.get("jobs") if isinstance(document, dict) else None
    first = jobs[0] if isinstance(jobs, list) and jobs else None
    return isinstance(first, dict) and "job_id" in first and isinstance(first.get("time"), dict)


def rows_of_json(document: Mapping[str, Any]) -> list[tuple[int, Row]]:
    """Return the jobs and steps of ``sacct --json`` by the names that ``--parsable`` has for them.

    ``tres.requested.total`` of a step is its TRESUsageInTot, and ``tres.consumed.total`` its
    TRESUsageOutTot.
    """
    rows: list[tuple[int, Row]] = []
    for number, job in enumerate(_list(document.get("jobs")), start=1):
        time, name = _dict(job.get("time")), _name(job)
        limit = _number(time.get("limit"))
        row = {
            "JobID": name,
            "State": ",".join(map(str, _list(_dict(job.get("state")).get("current")))),
            "NNodes": _number(job.get("allocation_nodes")),
            "Submit": _number(time.get("submission")),
            "Start": _number(time.get("start")),
            "Elapsed": _number(time.get("elapsed")),
            "Timelimit": None if limit is None else 60 * limit,
        }
        rows.append((number, row))
        rows += [(number, _step(name, step)) for step in _list(job.get("steps"))]
    return rows


def _name(job: Mapping[str, Any]) -> str:
    array = _dict(job.get("array"))
    task = _number(array.get("task_id"))
    return f"{_number(array.get('job_id'))}_{task}" if task is not None else str(job["job_id"])


def _step(job: str, step: Mapping[str, Any]) -> Row:
    called = _dict(step.get("step")).get("id", "0")
    last = called.get("step_id", "0") if isinstance(called, dict) else called
    tres = _dict(step.get("tres"))
    return {
        "JobID": f"{job}.{str(last).rsplit('.', 1)[-1]}",
        "NTasks": _number(_dict(step.get("tasks")).get("count")),
        "TRESUsageInTot": _disk(_dict(tres.get("requested")).get("total")),
        "TRESUsageOutTot": _disk(_dict(tres.get("consumed")).get("total")),
    }


def _disk(total: object) -> str:
    """Return the bytes of disks as sacct's text has them."""
    for one in _list(total):
        if one.get("type") == "fs" and one.get("name") == "disk":
            return f"fs/disk={_number(one.get('count')) or 0}"
    return ""


def _number(value: object) -> int | None:
    """Return a number, which newer releases write with ``set`` and ``infinite`` beside it."""
    if isinstance(value, dict):
        if not value.get("set", True) or value.get("infinite"):
            return None
        value = value.get("number")
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _dict(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
