"""A stream of jobs as a document, and as a table of its jobs."""

from __future__ import annotations

import csv
import io
import math
from typing import Any

from sim.run.streaming.outcome import StreamOutcome
from sim.studies.stream.stream_draws import Draws


def stream_document(draws: Draws) -> dict[str, Any]:
    """Arrange what came of a stream.

    Returns
    -------
    dict
        ``jobs``: for each what :func:`job_row` has, and ``node_list``. ``queue``, ``nodes``,
        ``utilisation`` (a share), ``end`` (s), ``bandwidth`` (``seconds`` of a bin, and
        ``bytes`` in each), ``events``, ``rpcs``, ``bulk_bytes``, ``digest``, ``digests`` (of all
        draws), ``agreement`` with what was measured (null if nothing was), ``notes``, ``scenario``
        and ``wall_seconds``.
    """
    result = draws.first
    agreement = draws.agreement()
    return {
        "jobs": [job_row(draws, job) | {"node_list": job.nodes.tolist()} for job in result.jobs],
        "queue": result.scenario.queue.policy,
        "nodes": result.nodes,
        "utilisation": result.utilisation,
        "end": result.end,
        "bandwidth": {
            "seconds": result.bandwidth.width,
            "bytes": result.bandwidth.bytes.tolist(),
        },
        "events": result.events,
        "rpcs": result.rpcs,
        "bulk_bytes": result.bulk_bytes,
        "digest": result.digest,
        "digests": [one.digest for one in draws.results],
        "agreement": None if agreement is None else _finite(agreement._asdict()),
        "notes": [*draws.notes, *result.notes],
        "scenario": result.scenario.model_dump(mode="json", exclude_none=True),
        "wall_seconds": result.wall,
    }


def _finite(values: dict[str, Any]) -> dict[str, Any]:
    """Return values with null for what is not a number."""
    return {
        name: None if isinstance(value, float) and math.isnan(value) else value
        for name, value in values.items()
    }


def job_row(draws: Draws, job: StreamOutcome) -> dict[str, Any]:
    """Return the row of a job: seconds and bytes, null for what is not known."""
    interval, record = draws.in_io(job.name), draws.records.get(job.name)
    cumulated = None if job.cumulated is None else sum(job.cumulated)
    return {
        "job": job.name,
        "nodes": len(job.nodes),
        "ranks": job.ranks,
        "submitted": job.submitted,
        "waited": job.waited,
        "started": job.started,
        "ended": job.ended,
        "given_back": job.given_back,
        "walltime": job.walltime,
        "bytes_read": job.bytes_read,
        "bytes_written": job.bytes_written,
        "in_io": job.in_io,
        "in_io_low": interval.low,
        "in_io_high": interval.high,
        "cumulated": cumulated,
        "measured": None if record is None else record.measured,
        "alone": job.alone,
        "slowdown": job.slowdown,
        "io_slowdown": job.io_slowdown,
    }


def stream_csv(draws: Draws) -> str:
    """Return a row for each job as CSV; empty where something is not known."""
    rows = [job_row(draws, job) for job in draws.first.jobs]
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
