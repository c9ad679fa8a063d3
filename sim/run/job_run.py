"""One job at work: from its start to its result, and what went wrong."""

from __future__ import annotations

import time
from functools import cache
from importlib.metadata import version

import numpy as np

from xc40io.config.errors import InputError
from xc40io.config.units import format_bytes
from xc40io.engine.types import Indices, Integers
from xc40io.lustre.faults.slow import Conditions
from xc40io.machine.faults_at_work import Faults
from xc40io.plane.counters import Stat
from xc40io.plane.programs import FAILED, REFUSED
from xc40io.run.placement import PlacedJob, crowded, doubts
from xc40io.run.recording import CommonRecords, Recording, recording_of
from xc40io.run.result import Result
from xc40io.run.station_table import StationTable
from xc40io.run.submission import Allocation, JobAllocator, in_job
from xc40io.topology.text import format_count
from xc40io.workloads.job import Job, Waiting
from xc40io.workloads.job_results import Trouble
from xc40io.workloads.workload import record_of

_WHERE = {
    "ssd": "the SSD of its node",
    "bb": "the allocation of the burst buffer",
    "home": "the home file system",
}


class JobRun:
    """The run of one job.

    Parameters
    ----------
    placed
        The job on its nodes.
    job
        The same, as its workload finds it.
    allocator
        Chooses the OSTs of its files.

    Attributes
    ----------
    started, ended
        When it began and ended, in simulated seconds.
    outcome
        What only its workload leaves.
    """

    def __init__(self, placed: PlacedJob, job: Job, allocator: JobAllocator) -> None:
        self.job = job
        self.placed = placed
        self._allocator = allocator
        self.started = self.ended = 0.0
        self.outcome: object = None
        self._traits = placed.submission.workload.traits(job.scenario)  # a trace is gone later

    @property
    def allocation(self) -> Allocation:
        """What the job has got so far."""
        return Allocation(self.placed.nodes, self._allocator.given)

    def process(self) -> Waiting:
        """Run the workload at its time: the SimPy process of the job."""
        submission, clock = self.placed.submission, self.job.filesystem.environment
        if submission.start > 0.0:
            yield clock.timeout(submission.start)
        self.started = float(clock.now)
        try:
            self.outcome = yield from submission.workload.run(self.job)
        except InputError as error:
            raise in_job(submission.name, error) from error
        self.ended = float(clock.now)

    def result(
        self,
        stations: StationTable,
        recorded: CommonRecords | None,
        began: float,
        faults: Faults,
        conditions: Conditions,
    ) -> Result:
        """Return the result of the job.

        Parameters
        ----------
        stations
            What the stations of the machine did for all jobs.
        recorded
            What was recorded of all jobs, if anything was to be.
        began
            When everything did, in real seconds.
        faults
            What happened to parts of the machine.
        conditions
            In which state the OSTs were.
        """
        job, placed = self.job, self.placed
        plane, workload = job.filesystem.plane, placed.submission.workload
        events, rpcs, bulk_bytes = plane.counts.tolist()
        kind = job.filesystem.storage.kind
        troubles = troubles_of(faults, self._refused(), placed.own_nodes, kind)
        recording: Recording | None = None
        notes = (
            *doubts(job.scenario.target, job.machine),
            *crowded(job.scenario, job.machine),
            *job.notes,
            *workload.notes(job),
            *conditions.notes(),
            *faults.notes(),
        )
        if recorded is not None:
            programs = placed.submission.programs
            files, names = job.files.ever, job.filesystem.names()
            recording = recording_of(recorded, plane, job.all_ranks, programs, files, names)
            notes += recording.notes()
        waited = job.all_ranks.waited(plane)
        return Result(
            scenario=job.scenario,
            machine=job.machine,
            workload=record_of(workload),
            traits=self._traits,
            allocation=self.allocation,
            started=self.started,
            simulated=self.ended - self.started,
            events=events,
            rpcs=rpcs,
            bulk_bytes=bulk_bytes,
            wall=time.perf_counter() - began,
            rows=tuple(job.rows),
            activities=job.activities(),
            files={name: job.filesystem.as_it_is(made) for name, made in job.files.items()},
            mpi_records=tuple(job.mpi_records),
            outcome=self.outcome,
            notes=notes,
            troubles=(*troubles, *job.troubles),
            faults=faults.records(),
            waits=waited.causes,
            doing=waited.doing,
            stats={stat: int(plane.stats[stat]) for stat in Stat},
            station_table=stations,
            version=_version(),
            recording=recording,
            plane=plane,
        )

    def _refused(self) -> Integers:
        """Return the bytes that devices refused to each rank and its helpers: int64 (ranks, 2)."""
        ranks, each = self.job.all_ranks, self.placed.submission.programs
        own = self.job.filesystem.plane.refused[self.placed.programs]
        refused: Integers = own.reshape(len(ranks), each, -1).sum(axis=1)
        return refused


def troubles_of(
    faults: Faults, refused: Integers, nodes: Indices, kind: str
) -> tuple[Trouble, ...]:
    """Return the troubles of a job: bytes that did not get where the job wanted them.

    Parameters
    ----------
    faults
        What has failed.
    refused
        int64 (ranks, 2): bytes that found no room, and bytes of lost devices.
    nodes
        int32 (nodes,): the job's nodes in the data plane.
    kind
        Of the target that its files were on.
    """
    found = []
    if full := int(refused[:, REFUSED].sum()):
        who = int(np.count_nonzero(refused[:, REFUSED]))
        text = (
            f"ENOSPC: {format_count(who, 'rank')} found no room for {format_bytes(full)} on "
            f"{_WHERE.get(kind, kind)}; these bytes were not written."
        )
        found.append(Trouble("ENOSPC", full, who, text))
    if failed := int(refused[:, FAILED].sum()):
        who = int(np.count_nonzero(refused[:, FAILED]))
        why = (
            "an OST had evicted the node; IOR itself would have ended there"
            if kind == "lustre"
            else "the SSD of the node was lost"
        )
        text = (
            f"EIO: {format_count(who, 'rank')} could not read or write {format_bytes(failed)}, "
            f"because {why}."
        )
        found.append(Trouble("EIO", failed, who, text))
    if gone := faults.lost_files(nodes):
        lost = sum(gone.values())
        text = (
            f"LOST: {format_bytes(lost)} of files were on SSDs when these failed (of the job's "
            f"{_nodes(list(gone))})."
        )
        found.append(Trouble("LOST", lost, 0, text))
    dropped = faults.lost_dirty[nodes]
    if lost := int(dropped.sum()):
        text = (
            f"LOST: {format_bytes(lost)} were dirty when OSTs evicted their client (of the job's "
            f"{_nodes(np.flatnonzero(dropped).tolist())}), and were never written; fsync or close "
            "would have said EIO."
        )
        found.append(Trouble("LOST", lost, 0, text))
    return tuple(found)


def _nodes(numbers: list[int]) -> str:
    """Return the names of some nodes of a job."""
    some = ", ".join(map(str, numbers[:4]))
    return f"nodes {some}" + (" and others" if len(numbers) > 4 else "")


@cache
def _version() -> str:
    """Return the version of xc40io; to look it up takes as long as a tenth of a small run."""
    return version("xc40io")
