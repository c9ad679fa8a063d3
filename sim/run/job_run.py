"""One job at work: from its start to its result."""

from __future__ import annotations

import time
from importlib.metadata import version

from sim.config.errors import InputError
from sim.engine.types import Integers
from sim.plane.counters import Stat
from sim.run.allocation import Allocation, JobAllocator
from sim.run.conditions import Conditions
from sim.run.crowding import crowded
from sim.run.faults import Faults
from sim.run.placement import PlacedJob
from sim.run.recording import Recorded, Recording, recording_of
from sim.run.result import Result
from sim.run.station_table import StationTable
from sim.run.submission import in_job
from sim.run.target import doubts
from sim.run.trouble import troubles_of
from sim.workloads.job import Job, Waiting
from sim.workloads.workload import record_of


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
        recorded: Recorded | None,
        began: float,
        faults: Faults,
        conditions: Conditions,
    ) -> Result:
        """Return what the job leaves.

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
        refused = troubles_of(plane, self._refused(), placed.own_nodes, job.filesystem.storage.kind)
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
            recording = recording_of(recorded, plane, job.all_ranks, programs, job.files.ever)
            notes += recording.notes()
        waited = job.all_ranks.waited(plane)
        return Result(
            scenario=job.scenario,
            machine=job.machine,
            workload=record_of(workload),
            allocation=self.allocation,
            started=self.started,
            simulated=self.ended - self.started,
            events=events,
            rpcs=rpcs,
            bulk_bytes=bulk_bytes,
            wall=time.perf_counter() - began,
            rows=tuple(job.rows),
            activities=job.activities(),
            files=dict(job.files),
            mpi_records=tuple(job.mpi_records),
            outcome=self.outcome,
            notes=notes,
            troubles=(*refused, *job.troubles),
            faults=faults.records(),
            waits=waited.causes,
            doing=waited.doing,
            stats={stat: int(plane.stats[stat]) for stat in Stat},
            station_table=stations,
            version=version("xc40io"),
            recording=recording,
            plane=plane,
        )

    def _refused(self) -> Integers:
        """Return the bytes that devices refused to each rank and its helpers: int64 (ranks, 2)."""
        ranks, each = self.job.all_ranks, self.placed.submission.programs
        own = self.job.filesystem.plane.refused[self.placed.programs]
        refused: Integers = own.reshape(len(ranks), each, -1).sum(axis=1)
        return refused
