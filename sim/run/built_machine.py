"""The machine that jobs run on: built, at rest, with all jobs on their nodes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from xc40io.config.faults import FieldFault
from xc40io.config.machine import Machine
from xc40io.config.scenario import Background
from xc40io.engine.environment import Environment
from xc40io.engine.types import Indices
from xc40io.lustre.faults.slow import Conditions
from xc40io.lustre.server.background import background_of
from xc40io.lustre.striping import Allocator
from xc40io.machine.assembly import assemble
from xc40io.machine.faults_at_work import Faults
from xc40io.machine.filesystem import FileSystem
from xc40io.machine.plane import Plane
from xc40io.mpi.communicator import Communicator
from xc40io.plane.stations import StationBook
from xc40io.run.fabric import fabric_of
from xc40io.run.job_run import JobRun
from xc40io.run.placement import PlacedJob, place_jobs, programs_of, storage_of
from xc40io.run.submission import JobAllocator, Submission, work_of
from xc40io.workloads.job import Job

Progress = Callable[[int, int], None]
"""Called several times a second of wall time with the bytes moved so far and those to move."""


class BuiltMachine(NamedTuple):
    """A machine before anything has happened."""

    environment: Environment  # The clock, which all jobs share.
    plane: Plane  # The data plane.
    book: StationBook  # What the stations of the data plane are called.
    nodes: Indices  # int32: the machine's numbers of all nodes that take part, by their positions.
    runs: tuple[JobRun, ...]  # One for each job, in their order.
    faults: Faults  # What is to happen to its parts.
    conditions: Conditions  # In which state its OSTs are.


def build_machine(
    machine: Machine,
    submissions: Sequence[Submission],
    *,
    background: Background,
    seed: int,
    faults: Sequence[FieldFault] = (),
    record: bool = False,
    progress: Progress | None = None,
) -> BuiltMachine:
    """Build a machine and put jobs there, each on nodes of its own.

    Parameters
    ----------
    machine
        With all changes made.
    submissions
        The jobs, in the order in which they get their nodes.
    background
        What others do meanwhile in the whole file system.
    seed
        Of the machine: the speeds of its OSTs, drawn routes and jitter follow from it.
    faults
        What happens to parts of it, and when (:class:`~xc40io.machine.faults_at_work.Faults`).
    record
        Whether to record what happens (:class:`~xc40io.run.recording.Recording`).
    progress
        Told from time to time how far the run has come: bytes done, and to be done.

    Raises
    ------
    InputError
        If a placement does not fit the machine and the jobs before it, there is no part that is to
        be slow, or to fail, or the machine cannot carry what others do.
    """
    fabric = fabric_of(machine)
    placed = place_jobs(submissions, machine, fabric)
    programs = programs_of(placed, machine)
    others = background_of(background, machine, seed)
    assembly = assemble(machine, fabric, programs, others, seed, record=record)
    plane, book = assembly
    everything, moved = work_of(submissions), any(job.bytes_to_move for job in submissions)

    def watch() -> None:
        if progress is not None:
            progress(_done(plane, runs, everything, moved=moved), everything)

    environment = Environment(plane, watch)
    happening = Faults(assembly, machine, fabric, environment)
    lost = [ssd for job in submissions for ssd in job.lost_ssds]
    happening.add([*lost, *faults], [job.seen_by_faults for job in placed])
    assembly.check_background(others)
    conditions = happening.conditions(seed)
    allocator = Allocator.of(machine.lustre, seed)
    nodes = np.concatenate([job.nodes for job in placed])
    runs = [job_run(job, machine, environment, plane, allocator, nodes) for job in placed]
    if len(runs) == 1:  # several jobs are in different repetitions at a time
        runs[0].job.before_repetition.append(conditions.again)
    return BuiltMachine(
        environment, plane, book, programs.nodes, tuple(runs), happening, conditions
    )


def _done(plane: Plane, runs: Sequence[JobRun], everything: int, *, moved: bool) -> int:
    """Return how much of all counts as done, for the progress; ``moved``: of bytes to move."""
    shares = [run.job.share_done[-1]() for run in runs if run.job.share_done]
    if shares and (len(runs) == 1 or not moved):
        return int(sum(shares) / len(runs) * everything)
    return min(int(plane.counts[2]), everything)  # with what is read ahead they may be more


def job_run(
    placed: PlacedJob,
    machine: Machine,
    environment: Environment,
    plane: Plane,
    shared: Allocator,
    compute_nodes: Indices,
) -> JobRun:
    """Return a job as its workload finds it, ready to run."""
    submission = placed.submission
    scenario, earlier = submission.scenario, submission.allocation
    allocator = JobAllocator(shared, () if earlier is None else earlier.osts)
    storage = storage_of(scenario.target, machine, plane, placed.servers)
    mdts, striped = machine.lustre.mds.mdts, scenario.striping.mdts
    directory_mdts = mdts if striped == -1 else striped
    filesystem = FileSystem(environment, plane, allocator, mdts, storage, directory_mdts)
    ranks = placed.ranks
    job = Job(
        scenario=scenario,
        machine=machine,
        filesystem=filesystem,
        world=Communicator(ranks.all, placed.node_of_ranks, filesystem.meetings(), compute_nodes),
        all_ranks=ranks,
        helpers=submission.workload.helpers(),
        stagers=placed.stagers,
        nodes=placed.own_nodes,
    )
    return JobRun(placed, job, allocator)
