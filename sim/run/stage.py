"""What every workload finds when it begins: the machine at rest, the job on its nodes."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sim.config.errors import InputError
from sim.config.machine import Machine
from sim.config.scenario import Placement, Scenario
from sim.engine.environment import Environment
from sim.engine.randomness import stream
from sim.engine.types import Indices
from sim.lustre.assembly import Background, Job, assemble
from sim.lustre.filesystem import FileSystem
from sim.lustre.stationbook import StationBook
from sim.lustre.striping import Allocator
from sim.lustre.tables import Stat
from sim.mpi.communicator import Communicator
from sim.node.cores import rank_cores
from sim.run.fabric import fabric_of
from sim.workloads.ior.ranks import Ranks
from topology import Fabric, place

Progress = Callable[[int, int], None]
"""Called several times a second of wall time with the bytes moved so far and those to move."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Stage:
    """The machine and the job of a scenario, before anything has happened.

    Attributes
    ----------
    scenario, machine
        What is to be run; the machine as :func:`~sim.config.scenario.machine_of` returns it.
    filesystem
        Lustre, with the clock.
    book
        What the stations of the data plane are called.
    ranks
        The programs of all ranks.
    world
        All ranks as a communicator.
    began
        When the simulation began, in real seconds.
    """

    scenario: Scenario
    machine: Machine
    filesystem: FileSystem
    book: StationBook
    ranks: Ranks
    world: Communicator
    began: float

    def outcome(self) -> dict[str, Any]:
        """Return what a run leaves, whatever the workload: fields of its result."""
        plane = self.filesystem.plane
        events, rpcs, bulk_bytes = plane.tables.counts.tolist()
        return {
            "scenario": self.scenario,
            "machine": self.machine,
            "simulated": float(self.filesystem.environment.now),
            "events": events,
            "rpcs": rpcs,
            "bulk_bytes": bulk_bytes,
            "wall": time.perf_counter() - self.began,
            "waits": self.ranks.waits(plane.tables.waits),
            "stats": {stat: int(plane.tables.stats[stat]) for stat in Stat},
            "plane": plane,
            "book": self.book,
        }


def set_stage(
    scenario: Scenario,
    machine: Machine,
    *,
    bytes_to_move: int,
    progress: Progress | None,
    helpers: int = 0,
) -> Stage:
    """Build the machine of a scenario and put its job there.

    Parameters
    ----------
    scenario, machine
        What is to be run.
    bytes_to_move
        What the workload will read and write, for ``progress``.
    progress
        Told from time to time how far the run has come.
    helpers
        Helper threads of each rank: programs beside its I/O threads.

    Raises
    ------
    InputError
        If the placement does not fit the machine.
    """
    began = time.perf_counter()
    fabric = fabric_of(machine)
    job = _job(scenario, machine, place_job(scenario, fabric), helpers)
    background = background_of(scenario, machine)
    plane, book = assemble(machine, fabric, job, background, scenario.seed)

    def watch() -> None:
        if progress is not None:
            progress(int(plane.tables.counts[2]), bytes_to_move)

    environment = Environment(plane, watch)
    allocator = Allocator.of(machine.lustre, scenario.seed)
    filesystem = FileSystem(environment, plane, allocator, machine.lustre.mds.mdts)
    ranks = _ranks(scenario, helpers)
    tasks = np.arange(len(ranks.programs))
    node = (tasks // scenario.ppn).astype(np.int32)
    return Stage(
        scenario=scenario,
        machine=machine,
        filesystem=filesystem,
        book=book,
        ranks=ranks,
        world=Communicator(tasks, node, filesystem.meetings(), job.nodes),
        began=began,
    )


def background_of(scenario: Scenario, machine: Machine) -> Background:
    """Return what other jobs do: what the scenario says, and on a typical day what is drawn.

    The factor between the day and the usual one is lognormal with mean 1.
    """
    read, write = scenario.background.read, scenario.background.write
    if scenario.background.typical:
        lustre = machine.lustre
        normal = stream(scenario.seed, "other jobs").standard_normal(2)
        factor = np.exp(lustre.other_spread * normal - lustre.other_spread**2 / 2)
        read += lustre.other_reads * float(factor[0])
        write += lustre.other_writes * float(factor[1])
    return Background(read, write)


def place_job(scenario: Scenario, fabric: Fabric) -> Indices:
    """Choose the compute nodes of a scenario: int32 (nodes,).

    Raises
    ------
    InputError
        If its placement does not fit the machine.
    """
    placement: Placement = scenario.placement
    seed = scenario.seed if placement.seed is None else placement.seed
    try:
        return place(placement.policy, scenario.nodes, fabric, seed, placement.nodes)
    except ValueError as error:
        raise InputError(f"placement: {error}") from error


def _programs(scenario: Scenario, helpers: int) -> int:
    """Return the programs of a rank: itself, its I/O threads if there are several, its helpers."""
    threads = scenario.cores.threads
    return 1 + helpers + (0 if threads == 1 else threads)


def _ranks(scenario: Scenario, helpers: int) -> Ranks:
    """Return all ranks of a job."""
    tasks = np.arange(scenario.nodes * scenario.ppn, dtype=np.int64)
    programs = tasks * _programs(scenario, helpers)
    return Ranks(programs, scenario.ppn, scenario.cores.threads)


def _job(scenario: Scenario, machine: Machine, nodes: Indices, helpers: int) -> Job:
    """Put the programs of all ranks on nodes and cores.

    A rank is where its first I/O thread is, and so are its helpers.
    """
    threads = scenario.cores.threads
    usable = machine.nodes.cores - scenario.cores.system
    cores = rank_cores(
        scenario.nodes,
        scenario.ppn * threads,
        usable,
        bound=scenario.cores.bind == "cores",
        seed=scenario.seed,
    )
    each = _programs(scenario, helpers)
    per_rank = cores.reshape(-1, threads)
    home = np.repeat(per_rank[:, :1], each, axis=1)
    if threads > 1:
        home[:, 1 : 1 + threads] = per_rank
    program_node = np.repeat(np.arange(scenario.nodes, dtype=np.int32), scenario.ppn * each)
    return Job(nodes, program_node, home.ravel(), scenario.cores.system)
