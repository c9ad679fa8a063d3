"""What Slurm's ``sacct`` knows of jobs, ``--parsable`` or ``--json``: steps are folded into jobs.

The bytes of a step are those that its processes moved by system calls, sockets and pipes among
them: ``rchar`` and ``wchar`` of Linux, which the plugin ``jobacct_gather/linux`` adds up.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from xc40io.config.reading import Cursor
from xc40io.config.units import MOST_COUNT
from xc40io.workloads.job_records.bad_rows import BadRows
from xc40io.workloads.job_records.cells import is_empty

Row = Mapping[str, Any]

_STEP = re.compile(r"(\d+(?:[_+][\w\[\]%,-]+)?)\.(\w+)")
_HELPERS = ("batch", "extern", "interactive")
"""Steps whose tasks are no ranks: the script, what comes by ssh, the shell of salloc."""

_DISK = re.compile(r"(?:^|,)fs/disk=([\d.]+[KMGTP]?)")
_NODE = re.compile(r"(?:^|,)node=(\d+)")
_HOST = re.compile(r"(?:[^,\[]|\[[^\]]*\])+")
_BRACKETS = re.compile(r"\[([^\]]*)\]")
_SIZE = re.compile(r"([\d.]+)([KMGTP]?)")
_NEVER = ("none", "unknown", "0")

_GIVEN = ("nnodes", "allocnodes", "alloctres", "nodelist")
_ASKED = ("reqnodes", "reqtres")
"""Columns that tell the nodes that a job was given, or asked for."""

_MOVED = ("tresusageintot", "tresusageouttot", "avediskread", "avediskwrite")
_USED = (*_MOVED, *_GIVEN, *_ASKED, "ntasks")


class FoldedRows(NamedTuple):
    """Rows of jobs, made of those of jobs and steps."""

    rows: Sequence[tuple[int, dict[str, Any]]]
    steps: int  # that were folded into their jobs
    never_began: int  # jobs that were left out: they wait, or were cancelled while they did


def is_slurm(head: Sequence[str]) -> bool:
    """Tell whether the columns of a table are those of sacct."""
    told = {"NNodes", "AllocNodes", "NTasks", "State", "AllocTRES", "ReqTRES"}
    return "JobID" in head and bool(told & set(head))


def fold_steps(rows: Sequence[tuple[int, Row]], at: Cursor, bad: BadRows) -> FoldedRows:
    """Return one row for each job of a table of sacct.

    A job's ranks are the tasks of its largest step, its bytes those of all steps: the totals
    ``TRESUsageInTot`` and ``TRESUsageOutTot``, or the averages ``AveDiskRead`` and ``AveDiskWrite``
    times ``NTasks``. Its nodes are those that it was given, or asked for. ``at`` is told where the
    reader is, ``bad`` what is left out.
    """
    jobs: dict[str, tuple[int, dict[str, Any]]] = {}
    steps: dict[str, list[tuple[int, Row]]] = {}
    for number, row in rows:
        low = {name.lower(): value for name, value in row.items()}
        found = _STEP.fullmatch(str(low.get("jobid", "")).strip())
        job = found[1] if found else str(low.get("jobid", "")).strip()
        if found:
            steps.setdefault(job, []).append((number, low | {"step": found[2]}))
        if job not in jobs or not found:
            jobs[job] = number, {**row, "JobID": job}
    kept = {job: line for job, line in jobs.items() if _began(line[1])}
    folded: list[tuple[int, dict[str, Any]]] = []
    for job, line in kept.items():
        with bad.row(line[0]):
            folded.append((line[0], _one_job(line, steps.get(job, []), at)))
    return FoldedRows(
        folded,
        sum(len(steps[job]) for job in kept.keys() & steps.keys()),
        len(jobs) - len(kept),
    )


def _began(row: Row) -> bool:
    """Tell whether a job has had nodes."""
    low = {name.lower(): str(value).strip().lower() for name, value in row.items()}
    state = low.get("state", "")
    if "start" not in low and state.startswith("cancelled"):
        return low.get("elapsed") not in ("00:00:00", "0")
    return low.get("start") not in _NEVER and not state.startswith("pending")


def _one_job(
    line: tuple[int, dict[str, Any]], steps: Sequence[tuple[int, Row]], at: Cursor
) -> dict[str, Any]:
    """Return the row of a job with what its steps tell, without the columns that told it."""
    number, row = line
    job = {name: value for name, value in row.items() if name.lower() not in _USED}
    low = {name.lower(): value for name, value in row.items()}
    nodes = _nodes(low, _GIVEN, at)
    tasks: list[int] = []
    moved: dict[str, list[float]] = {"read": [], "written": []}
    for place, step in steps or [(number, low)]:
        at.row(place)
        own = _tasks(step, at)
        if step.get("step") not in _HELPERS:
            tasks.append(own)
        for way, (total, average) in _COLUMNS.items():
            moved[way] += _moved(step, total, average, own, at)
    at.row(number)
    nodes = nodes or max((_nodes(step, _GIVEN, at) for _, step in steps), default=0)
    nodes = nodes or _nodes(low, _ASKED, at)
    sums = {way: round(sum(known)) if known else None for way, known in moved.items()}
    return job | {"NNodes": nodes or None, "NTasks": max(tasks, default=0) or None, **sums}


def _nodes(row: Row, columns: Sequence[str], at: Cursor) -> int:
    """Return the nodes of a job or step, by the first column that tells them; 0 if none does."""
    for name in columns:
        text = str(row.get(name, "")).strip()
        if name == "nodelist":
            nodes = _listed(text, at)
        else:
            within = _NODE.search(text) if name.endswith("tres") else None
            text = within[1] if within else text
            nodes = 0 if is_empty(text) or "=" in text else at.count("nodes", text, MOST_COUNT)
        if nodes:
            return nodes
    return 0


def _listed(names: str, at: Cursor) -> int:
    """Return how many nodes ``nid[00012-00015,00020],login1`` are; 0 of ``None assigned``."""
    if is_empty(names) or " " in names:
        return 0
    nodes = 0
    for name in _HOST.findall(names):
        each = 1
        for numbers in _BRACKETS.findall(name):
            each *= sum(_span(part, at) for part in numbers.split(","))
        nodes += each
    return at.count("NodeList", nodes, MOST_COUNT)


def _span(numbers: str, at: Cursor) -> int:
    """Return how many numbers ``00012-00015`` are."""
    first, dash, last = numbers.partition("-")
    if not dash:
        return 1
    return max(at.count("NodeList", last) - at.count("NodeList", first) + 1, 0)


_COLUMNS = {
    "read": ("TRESUsageInTot", "AveDiskRead"),
    "written": ("TRESUsageOutTot", "AveDiskWrite"),
}
"""Where sacct has the bytes of all tasks together, and those of one on average."""


def _tasks(step: Row, at: Cursor) -> int:
    text = str(step.get("ntasks", "")).strip()
    return at.count("NTasks", text) if text.isascii() and text.isdecimal() else 0


def _moved(step: Row, total: str, average: str, tasks: int, at: Cursor) -> list[float]:
    """Return the bytes of a step; nothing if it tells none."""
    in_all = _DISK.search(str(step.get(total.lower(), "")))
    if in_all:
        return [_bytes(in_all[1], total, at)]
    one = str(step.get(average.lower(), "")).strip()
    return [_bytes(one, average, at) * max(tasks, 1)] if one else []


def _bytes(text: str, field: str, at: Cursor) -> float:
    """Return the bytes that sacct's ``12.50M`` means: its letters are powers of 1,024."""
    found = _SIZE.fullmatch(text)
    if found is None or found[1].count(".") > 1 or found[1] == ".":
        return 0.0
    size = at.number(field, found[1]) * 1024.0 ** " KMGTP".index(found[2] or " ")
    return at.number(field, size)


def is_slurm_json(document: object) -> bool:
    """Tell whether a document is what ``sacct --json`` prints."""
    jobs = document.get("jobs") if isinstance(document, dict) else None
    first = jobs[0] if isinstance(jobs, list) and jobs else None
    return isinstance(first, dict) and "job_id" in first and isinstance(first.get("time"), dict)


def rows_of_json(document: Mapping[str, Any], at: Cursor, bad: BadRows) -> list[tuple[int, Row]]:
    """Return the jobs and steps of ``sacct --json`` by the names that ``--parsable`` has for them.

    ``tres.requested.total`` of a step is its TRESUsageInTot, and ``tres.consumed.total`` its
    TRESUsageOutTot. ``at`` is told where the reader is, ``bad`` which jobs are something else.
    """
    rows: list[tuple[int, Row]] = []
    for number, one in enumerate(_list(document.get("jobs")), start=1):
        with bad.row(number):
            rows += [(number, row) for row in _rows_of_job(one, at)]
    return rows


def _rows_of_job(one: object, at: Cursor) -> list[Row]:
    """Return a job and its steps."""
    job = _fields(one, "jobs", at)
    time, name = _dict(job.get("time")), _name(job, at)
    limit = _number(time.get("limit"))
    row = {
        "JobID": name,
        "JobName": job.get("name"),
        "State": ",".join(map(str, _list(_dict(job.get("state")).get("current")))),
        "NNodes": _number(job.get("allocation_nodes")),
        "AllocTRES": _given("node", _dict(job.get("tres")).get("allocated"), at),
        "Submit": _number(time.get("submission")),
        "Start": _number(time.get("start")),
        "Elapsed": _number(time.get("elapsed")),
        "Timelimit": None if limit is None else 60 * limit,
    }
    steps = [_fields(step, "steps", at) for step in _list(job.get("steps"))]
    return [row, *(_step(name, step, at) for step in steps)]


def _fields(value: object, field: str, at: Cursor) -> Row:
    """Return the fields of a job, of a step, of a total."""
    if not isinstance(value, dict):
        raise at.wrong(field, value, "fields with values")
    return value


def _name(job: Row, at: Cursor) -> str:
    array = _dict(job.get("array"))
    task = _number(array.get("task_id"))
    if task is not None:
        return f"{_number(array.get('job_id'))}_{task}"
    return str(at.count("job_id", job.get("job_id", "")))


def _step(job: str, step: Row, at: Cursor) -> Row:
    called = _dict(step.get("step")).get("id", "0")
    last = called.get("step_id", "0") if isinstance(called, dict) else called
    tres = _dict(step.get("tres"))
    return {
        "JobID": f"{job}.{str(last).rsplit('.', 1)[-1]}",
        "NTasks": _number(_dict(step.get("tasks")).get("count")),
        "TRESUsageInTot": _given("fs/disk", _dict(tres.get("requested")).get("total"), at),
        "TRESUsageOutTot": _given("fs/disk", _dict(tres.get("consumed")).get("total"), at),
    }


def _given(what: str, total: object, at: Cursor) -> str:
    """Return how much of something, nodes or bytes of disks, as sacct's text has it."""
    kind, _, name = what.partition("/")
    for item in _list(total):
        one = _fields(item, "total", at)
        if one.get("type") == kind and (one.get("name") or "") == name:
            return f"{what}={_number(one.get('count')) or 0}"
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
