"""A Darshan log as a job of a table: from its counters alone, whatever DXT has beside them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from pydantic import ValidationError

from xc40io.config.model import explain
from xc40io.workloads.darshan.io_time import IoTime, io_time
from xc40io.workloads.darshan.log import DarshanLog, read_counts
from xc40io.workloads.darshan.module_counters import SHARED, Counters
from xc40io.workloads.job_records.darshan_text import COUNTERS, of_totals
from xc40io.workloads.job_records.job_record import JobRecord


class JobOfLog(NamedTuple):
    """A log as a job."""

    record: JobRecord
    began: int  # seconds since 1970; 0 if the log does not tell
    time: IoTime  # of its I/O
    warnings: tuple[str, ...]  # what is wrong with the log: a sentence each


def job_of_log(name: str, path: Path) -> JobOfLog:
    """Return the job of a log, which is called so.

    POSIX and STDIO are added up, and what went through MPI-IO where the log has no POSIX below.
    Raises InputError if the log cannot be read.
    """
    log = read_counts(path)
    nodes = set(log.hosts.values()) if len(log.hosts) == log.ranks else ()
    known = {
        "name": name,
        "nodes": len(nodes) or None,
        "runtime": log.run_time or None,
        **of_totals(_totals(log), log.ranks),
        **_files(log),
    }
    try:
        record = JobRecord(**{field: value for field, value in known.items() if value is not None})
    except ValidationError as error:  # damaged, though not so that it could not be read
        raise explain(error, str(path), JobRecord) from error
    return JobOfLog(record, log.began, io_time(log), log.warnings)


def _above(log: DarshanLog) -> Counters:
    """Return the records of MPI-IO on files that POSIX has none of."""
    return log.mpiio.take(~np.isin(log.mpiio.number, log.posix.number))


def _totals(log: DarshanLog) -> dict[tuple[str, str], float]:
    """Return totals of the modules by their counters, as ``darshan-parser --total`` has them."""
    found: dict[tuple[str, str], float] = {}
    for module, records in (("POSIX", log.posix), ("STDIO", log.stdio)):
        for counter in COUNTERS:
            timed = counter.startswith("F_")
            total = records.seconds(counter) if timed else records.total(counter)
            found[module, counter] = float(total)
    above = _above(log)
    for counter in COUNTERS:
        found["POSIX", counter] += _of_mpi(above, counter)
    return found


def _of_mpi(records: Counters, counter: str) -> float:
    """Return a total of MPI-IO by the name that POSIX has for it."""
    if counter.startswith("F_"):
        return records.seconds(counter)
    kinds = {
        "READS": ("COLL_READS", "INDEP_READS", "SPLIT_READS", "NB_READS"),
        "WRITES": ("COLL_WRITES", "INDEP_WRITES", "SPLIT_WRITES", "NB_WRITES"),
        "OPENS": ("COLL_OPENS", "INDEP_OPENS"),
    }
    return float(sum(map(records.total, kinds.get(counter, (counter,)))))


def _files(log: DarshanLog) -> dict[str, Any]:
    """Return who shares files, and how most bytes were striped."""
    moved: dict[int, int] = {}
    alone = shared = 0
    files: set[int] = set()
    for records in (log.posix, log.stdio, _above(log)):
        sizes = np.maximum(records["BYTES_READ"], 0) + np.maximum(records["BYTES_WRITTEN"], 0)
        of_all = records.rank == SHARED
        alone, shared = alone + int(sizes[~of_all].sum()), shared + int(sizes[of_all].sum())
        files |= set(records.number[of_all & (sizes > 0)].tolist())
        for number, size in zip(records.number.tolist(), sizes.tolist(), strict=True):
            moved[number] = moved.get(number, 0) + size
    if not alone + shared:
        return {}
    found: dict[str, Any] = dict(_striping(log, moved))
    layout = "job" if shared > alone else "rank"
    found |= {"read_layout": layout, "write_layout": layout}
    return found | ({"files": len(files)} if shared > alone else {})


def _striping(log: DarshanLog, moved: dict[int, int]) -> Iterator[tuple[str, int]]:
    """Yield stripe count and size of the file with most bytes, if the log tells."""
    most = max(log.layouts, key=lambda number: moved.get(number, 0), default=None)
    if most is not None:
        layout = log.layouts[most]
        yield "stripe_count", len(layout.osts)
        yield "stripe_size", layout.size
