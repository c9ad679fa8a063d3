"""A run of a kernel as JSON: its table, and beside it what only a simulator knows."""

from __future__ import annotations

from typing import Any

from sim.results.json_text import json_text
from sim.results.mpiio_report import mpiio_data
from sim.results.run_json import simulator_document
from sim.run.result import KernelResult
from sim.workloads.row import Row


def format_kernel_json(result: KernelResult) -> str:
    """Print a run as JSON, with a newline at the end; see :func:`kernel_document`."""
    return json_text(kernel_document(result))


def kernel_document(result: KernelResult) -> dict[str, Any]:
    """Arrange a run of a kernel.

    Returns
    -------
    dict
        ``kernel`` (its name), ``options`` (all of them, with units), ``records`` (the rows: bytes,
        seconds, bytes/s), ``files`` (their striping, by name) and ``xc40io``: the keys of
        :func:`~sim.results.run_json.simulator_document`, and ``mpiio`` (for each time that a file
        was open to write or read data ``step``, ``phase`` and what MPI-IO has to tell, as
        :func:`~sim.results.mpiio_report.mpiio_data` returns it).
    """
    told = [(step, mpiio_data(record)) for step, record in result.mpi_records]
    return {
        "kernel": result.kernel.name,
        "options": result.kernel.model_dump(mode="json"),
        "records": [_record(record) for record in result.records],
        "files": {
            name: {
                "stripe_count": files.stripe_count,
                "stripe_size": files.stripe_size,
                "osts": files.osts.tolist(),
            }
            for name, files in result.files.items()
        },
        "xc40io": simulator_document(result)
        | {"mpiio": [{"step": step, "phase": data["access"]} | data for step, data in told]},
    }


def _record(record: Row) -> dict[str, Any]:
    return {
        "step": record.step,
        "phase": record.phase,
        "start": record.start,
        "end": record.end,
        "seconds": record.seconds,
        "longest": record.longest,
        "bytes": record.bytes,
        "bandwidth": record.bandwidth,
        "figures": {name: figure._asdict() for name, figure in record.figures.items()},
    }
