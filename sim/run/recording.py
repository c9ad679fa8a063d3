"""What was recorded of a run: every call, RPC, small request, extent lock and wait."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from xc40io.config.kept import kept
from xc40io.engine.types import Indices
from xc40io.machine.filesystem import FileSet
from xc40io.machine.plane import Plane
from xc40io.plane.recorder import Records
from xc40io.workloads.job import Ranks


@kept
@dataclass(frozen=True, eq=False, kw_only=True)
class Recording:
    """Records of all jobs of a run, in the order in which they ended.

    Times are seconds since the simulation began, sizes are in bytes; what had not happened when
    the run ended has its time at infinity. docs/reference/result-tables.md describes every column.
    """

    # ``CALL`` records (:mod:`xc40io.plane.recorder`): what programs did. A read or write call has
    # one each, and so has any other operation.
    calls: Records
    rpcs: Records  # ``RPC`` records: BRW RPCs.
    # ``REQUEST`` records: small requests to the MDS, to OSSs and to service nodes.
    requests: Records
    locks: Records  # ``LOCK`` records: extent locks of client nodes.
    spans: Records  # ``SPAN`` records: what programs waited for, and when.
    # int32 (nodes,): the machine's numbers of all nodes that take part; records name them by their
    # positions here.
    nodes: Indices
    # int32 (programs,): the rank of the job that each program of the data plane belongs to; -1 for
    # programs of other jobs.
    ranks: Indices
    # int32 (programs,): 0 for the rank itself, from 1 on for its I/O threads and helpers.
    threads: Indices
    # int32 (programs,): the node of each program, by its position in ``nodes``.
    program_node: Indices
    # By the number of a file; empty for files of other jobs. A file that was made again has its
    # name twice.
    file_names: tuple[str, ...]
    # int32 (objects, 3): file, number of the stripe in it, and OST of each stripe object; -1 for
    # an OST where the file is not on Lustre.
    objects: Indices
    # ``LIBRARY_CALL`` records (:mod:`xc40io.plane.library_calls`): what ranks asked MPI-IO for;
    # the operations that came of it have the same ``tag`` in ``calls``.
    library_calls: Records
    # From when on nothing was recorded, as there were too many records; None if all is there.
    stopped: float | None = None

    def of_job(self, records: Records) -> Records:
        """Return the calls, requests or spans that belong to programs of this job."""
        own: Records = records[self.ranks[records["program"]] >= 0]
        return own

    def notes(self) -> tuple[str, ...]:
        """Return a sentence if the recording stopped early, else none."""
        if self.stopped is None:
            return ()
        total = sum(len(log) for log in (self.calls, self.rpcs, self.requests, self.locks))
        return (
            f"the recording ends at {self.stopped:.6g} s of simulated time, after "
            f"{total + len(self.spans):,} records: what follows is missing in all that is made of "
            "it",
        )


class CommonRecords(NamedTuple):
    """What all jobs of a run have in common of their recordings."""

    logs: dict[str, Records]  # The records, log by log.
    # As in :class:`Recording`.
    nodes: Indices
    objects: Indices
    library_calls: Records
    stopped: float | None


def recorded_by(plane: Plane, nodes: Indices) -> CommonRecords | None:
    """Return the records of a data plane at the end of a run; None if it kept none.

    ``nodes`` are the machine's numbers of all nodes that take part.
    """
    logs = plane.take_records()
    if logs is None:
        return None
    objects, library_calls = plane.objects(), plane.batches.library_calls
    return CommonRecords(logs, nodes, objects, library_calls, plane.recorded_until)


def recording_of(
    recorded: CommonRecords,
    plane: Plane,
    ranks: Ranks,
    programs: int,
    files: Iterable[tuple[str, FileSet]],
    names: Iterable[tuple[int, str]],
) -> Recording:
    """Return the recording of a run as one job sees it.

    Parameters
    ----------
    recorded
        What all jobs have in common.
    plane
        The data plane at the end of the run.
    ranks, programs
        The ranks of the job, and how many programs each has: itself, and its threads or helpers.
    files
        All files that it has ever made, with their names.
    names
        The numbers and names of its directories, and of files without objects.
    """
    node = plane.program_node
    rank, thread = np.full(len(node), -1, np.int32), np.zeros(len(node), np.int32)
    own = ranks.programs[:, None] + np.arange(programs)
    rank[own], thread[own] = np.arange(len(ranks))[:, None], np.arange(programs)
    return Recording(
        **recorded.logs,
        nodes=recorded.nodes,
        ranks=rank,
        threads=thread,
        program_node=node,
        file_names=_file_names(len(plane.files), files, names),
        objects=recorded.objects,
        library_calls=recorded.library_calls,
        stopped=recorded.stopped,
    )


def _file_names(
    count: int, files: Iterable[tuple[str, FileSet]], named: Iterable[tuple[int, str]]
) -> tuple[str, ...]:
    """Return the names of all files, by their numbers."""
    names = [""] * count
    for number, name in named:
        names[number] = name
    for name, alike in files:
        names[alike.first : alike.first + len(alike.osts)] = alike.names(name)
    return tuple(names)
