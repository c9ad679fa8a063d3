"""Opening a trace, whatever it is written in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from sim.config.errors import InputError
from sim.config.sealed import check_may_open
from sim.workloads.trace.block import Trace

_RIGHT = "a table (.csv, .parquet) or a Darshan log (.darshan)"


def open_trace(
    path: str,
    files: str | None = None,
    progress: Callable[[int, int], None] | None = None,
    recorded: Sequence[str] = (),
) -> Trace:
    """Open a trace.

    Parameters
    ----------
    path
        A file that ends in ``.csv``, ``.parquet`` or ``.darshan``.
    files
        A side table of a table, YAML: :mod:`sim.workloads.trace.side_table`.
    progress
        Told while a table is read how many bytes have been, and of how many.
    recorded
        What is known of the run that a Darshan log is of, as ``--recorded`` has it.

    Raises
    ------
    InputError
        If it is no such file, or cannot be read, or may not be.
    """
    check_may_open(path, "trace")
    suffix = Path(path).suffix
    if suffix == ".darshan":
        if files is not None:
            raise InputError(
                f"{files}: a Darshan log says itself what its files are; right would be no side "
                "table"
            )
        from sim.workloads.darshan_log.facts import facts_of
        from sim.workloads.darshan_log.reconstruction import trace_of_log

        return trace_of_log(path, facts_of(recorded))
    if suffix not in (".csv", ".parquet"):
        raise InputError(f"{path}: what this is its name does not tell; right would be {_RIGHT}")
    if recorded:
        from sim.workloads.darshan_log.facts import check_no_facts

        check_no_facts(recorded, path)
    from sim.workloads.trace.side_table import read_side_table
    from sim.workloads.trace.table import TableTrace

    return TableTrace(path, None if files is None else read_side_table(files), progress)
