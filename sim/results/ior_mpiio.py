"""What MPI-IO and IOR's option ``-H`` print in the course of an IOR command."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sim.mpi.stats import MpiRecord
from sim.results.ior_run import ior_outcome
from sim.results.mpiio_hints import hint_rows
from sim.results.mpiio_report import mpiio_blocks, mpiio_data
from sim.run.result import Result


def ior_mpiio_text(result: Result) -> str:
    """Return what is printed between IOR's own lines, one block below the other.

    What the environment asks MPI-IO for stands first, then the hints that IOR shows (``-H``). The
    text is empty if nobody asked.
    """
    records = [record for _, record in _records(result)]
    blocks = mpiio_blocks(records, result.scenario.environment)
    for outcome in ior_outcome(result).tests:
        if outcome.test.show_hints:
            found = (record.mpi for record in outcome.records)
            blocks += (_shown_hints(record) for record in found if record is not None)
    return "\n".join(blocks)


def ior_mpiio_data(result: Result) -> list[dict[str, Any]]:
    """Return for each phase that used MPI-IO its place and what MPI-IO has to tell of its file.

    See :func:`~sim.results.mpiio_report.mpiio_data`; ``test_id`` and ``repetition`` count from 0.
    """
    return [place | mpiio_data(record) for place, record in _records(result)]


def _records(result: Result) -> Iterator[tuple[dict[str, Any], MpiRecord]]:
    """Yield test and repetition of each phase that used MPI-IO, with its record."""
    for test_id, outcome in enumerate(ior_outcome(result).tests):
        for record in outcome.records:
            if record.mpi is not None:
                place = {
                    "test_id": test_id,
                    "repetition": record.repetition,
                    "phase": record.access.value,
                }
                yield place, record.mpi


def _shown_hints(record: MpiRecord) -> str:
    """Print the hints as IOR does: those that it passes, and those that it gets back."""
    passed = [f"\t{name} = {value}" for name, value in record.given.items()]
    returned = [f"\t{name} = {value}" for name, value, _ in hint_rows(record.in_force)]
    lines = [
        *("hints passed to MPI_File_open() {", *passed, "}", ""),
        *("hints returned from opened file {", *returned, "}"),
    ]
    return "".join(f"{line}\n" for line in lines)
