"""Columns of tables of jobs: which tool calls what how."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from xc40io.workloads.job_records.cells import date_of, is_empty
from xc40io.workloads.job_records.job_record import JobRecord

ALIASES = {
    name: tuple(others.split())
    for name, others in {
        "name": "cobalt_jobid jobid job_id local_job_id job id",
        "application": "jobname job_name application app appname exe executable",
        "ended": "state job_state status",
        "exit_status": "exitstatus exit_code exitcode",
        "nodes": "nodesused resources_used.nodect num_nodes nnodes nodes_used allocated_nodes "
        "allocnodes exec_hosts resource_list.nodect",
        "processors": "cores num_cores cores_used core_count num_processors",
        "ranks": "nprocs processes ntasks procs resource_list.mpiprocs",
        "start": "submit submitted submission_time submissiontime queued_timestamp qtime ctime",
        "began": "started start_time starttime start_timestamp",
        "walltime": "walltime_seconds walltimeseconds requested timelimit resource_list.walltime "
        "requested_wall_time",
        "runtime": "elapsedraw runtime_seconds runtimeseconds elapsed run_time "
        "resources_used.walltime wall_time",
        "read": "bytes_read readbytes read_bytes total_posix_bytes_read",
        "written": "bytes_written writtenbytes written_bytes total_posix_bytes_written",
        "call": "call_size transfer",
        "layout": "",
        "read_seconds": "readtimeseconds read_time total_posix_f_read_time",
        "write_seconds": "writetimeseconds write_time total_posix_f_write_time",
        "metadata_seconds": "metatimeseconds meta_time total_posix_f_meta_time",
    }.items()
}
"""Other names of columns, without regard to capitals; of several in one table the first here that
is not empty counts. ``call`` and ``layout`` stand for both ways; ``began`` is when a job began,
where ``start`` is when it was submitted."""

BOTH_WAYS = {
    "call": ("read_call", "write_call"),
    "layout": ("read_layout", "write_layout"),
}

_OURS = (*JobRecord.model_fields, *BOTH_WAYS, "began", "exit_status", "processors")
"""In an order, so that of several wrong values the same one is told each time."""


SIZES = ("nodes", "ranks", "processors")
"""What says how large a job is."""


_UNIT = re.compile(r"(.*?)\s*[(\[]\s*(\w+)\s*[)\]]")
_UNITS = {"h": "h hr hrs hour hours", "min": "min minutes", "": "s sec seconds b bytes timestamp"}
_WRITTEN = {word: unit for unit, words in _UNITS.items() for word in words.split()} | {
    size.lower(): size for size in ("kB", "MB", "GB", "TB", "KiB", "MiB", "GiB", "TiB")
}
"""What may stand in brackets behind the name of a column, and how it is written behind a value."""


def _plain(column: str) -> tuple[str, str]:
    """Return the name of a column, without capitals and blanks, and the unit of its values."""
    name, unit = column.strip().lower(), ""
    bracket = _UNIT.fullmatch(name)
    if bracket and bracket[2] in _WRITTEN:
        name, unit = bracket[1], _WRITTEN[bracket[2]]
    return re.sub(r"\s+", "_", name), unit


def own_name(column: str) -> str:
    """Return this project's name of a column."""
    low, _ = _plain(column)
    return next((name for name, others in ALIASES.items() if low in others), low)


def unused_columns(rows: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """Return the columns of which nothing is made, each once, in the order of the alphabet."""
    columns = dict.fromkeys(name for row in rows for name in row)
    return tuple(sorted(name for name in columns if own_name(name) not in _OURS))


def in_own_names(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row by the names of here, without what is empty or not used.

    Slurm and PBS call ``start`` when a job began: so it is where the table has another column for
    its submission.
    """
    low = {}
    for column, value in row.items():
        name, unit = _plain(column)
        if not is_empty(value):
            low[name] = f"{value} {unit}" if unit and date_of(value) else value
    if "start" in low and any(name in low for name in ALIASES["start"]):
        low["began"] = low.pop("start")
    found = {}
    for name in _OURS:
        known = [low[other] for other in (name, *ALIASES.get(name, ())) if other in low]
        if known:
            found[name] = known[0]
    for name, both in BOTH_WAYS.items():
        if name in found:
            found = dict.fromkeys(both, found.pop(name)) | found
    return found
