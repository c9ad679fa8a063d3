"""Writing the Darshan log of a run."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from sim.archive.files import replacing
from sim.config.errors import InputError
from sim.results.darshan_log.dxt import segments_of
from sim.results.darshan_log.files import LoggedFiles, files_of
from sim.results.darshan_log.job import head_of
from sim.results.darshan_log.layers import Calls, mpi_calls, posix_calls
from sim.results.darshan_log.library import log_file
from sim.results.darshan_log.mpiio import mpiio_records
from sim.results.darshan_log.posix import posix_records
from sim.run.result import Result

MODULES = ("POSIX", "MPI-IO", "LUSTRE", "DXT_POSIX", "DXT_MPIIO")
"""What a log has; MPI-IO where it was used, LUSTRE where files were on it."""


def write(result: Result, path: str, option: str) -> list[str]:
    """Write what a run did as a Darshan log.

    ``result``: of a run that was recorded. ``path``: of the log. ``option``: where the user named
    it, for messages.

    Returns
    -------
    list
        The path.

    Raises
    ------
    InputError
        If nothing was recorded, if no file was opened, or if the log cannot be written.
    """
    recording = result.recording
    if recording is None:
        raise InputError(
            f"{option}: the result has no recording of its calls, of which the log is made; right "
            f"would be {option} with the run itself, or a result that was recorded"
        )
    files = files_of(result, recording)
    ranks, began = recording.ranks, result.started
    posix = _by_path(posix_calls(recording.calls, ranks, began), files)
    mpi = _by_path(mpi_calls(recording.calls, recording.library_calls, ranks, began), files)
    if not len(posix):
        raise InputError(
            f"{option}: the job opened no file, so that there is nothing to log; right would be a "
            "workload that reads or writes"
        )
    partial = MODULES if recording.stopped is not None else ()
    with replacing(path, option) as draft:
        _write(draft, result, files, posix, mpi, partial)
    return [path]


def _by_path(calls: Calls, files: LoggedFiles) -> Calls:
    """Let the calls on files of one path be on the first of them."""
    calls["file"] = files.same[calls["file"]]
    return calls[np.lexsort((calls["end"], calls["rank"], calls["file"]))]


def _hosts(result: Result) -> list[str]:
    """Return the name of each rank's node, as an XC40 has it."""
    scenario = result.scenario
    names = [f"nid{node:05d}" for node in result.allocation.nodes.tolist()]
    return [names[rank // scenario.ppn] for rank in range(scenario.nodes * scenario.ppn)]


def _write(
    draft: Path,
    result: Result,
    files: LoggedFiles,
    posix: Calls,
    mpi: Calls,
    partial: tuple[str, ...],
) -> None:
    """Write the log: the modules in the order of their numbers in Darshan."""
    head = head_of(result)
    below = posix_records(posix, head.ranks, files.stripe_sizes)
    above = mpiio_records(mpi, head.ranks, files.hinted)
    opened = np.unique(np.concatenate([below.file, above.file])).tolist()
    striped = (
        (int(files.identity[file]), rank, files.layouts[file])
        for file, rank in zip(below.file.tolist(), below.rank.tolist(), strict=True)
        if file in files.layouts
    )
    hosts = _hosts(result)
    with log_file(draft, partial) as log:
        log.put_head(head)
        log.put_names({int(files.identity[file]): files.paths[file] for file in opened})
        log.put_counters("POSIX", below, files.identity)
        log.put_counters("MPI-IO", above, files.identity)
        log.put_layouts(striped)
        log.put_raw("DXT_POSIX", segments_of(posix, files.identity, hosts))
        log.put_raw("DXT_MPIIO", segments_of(mpi, files.identity, hosts))
