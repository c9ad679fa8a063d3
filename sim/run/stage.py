"""What every workload finds when it begins: the machine at rest, the jobs on their nodes."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from sim.config.errors import InputError
from sim.config.machine import Machine
from sim.config.scenario import Background as AskedBackground
from sim.config.scenario import Scenario
from sim.engine.environment import Environment
from sim.engine.randomness import stream
from sim.engine.types import Indices, Integers
from sim.lustre.assembly import Background, Job, assemble
from sim.lustre.filesystem import FileSystem
from sim.lustre.stationbook import StationBook
from sim.lustre.striping import Allocator
from sim.lustre.tables import Stat
from sim.mpi.communicator import Communicator
from sim.node.cores import rank_cores
from sim.node.ssd import dirty_limits
from sim.run.fabric import fabric_of
from sim.run.jobview import JobAllocator
from sim.run.memory import kept_from_cache
from sim.run.target import allocated_servers, storage_of
from sim.run.trouble import troubles_of
from sim.workloads.ranks import Ranks
from topology import Fabric, parse_node_list, place

Progress = Callable[[int, int], None]
"""Called several times a second of wall time with the bytes moved so far and those to move."""


class Spot(NamedTuple):
    """Where a job runs.

    Attributes
    ----------
    nodes
        int32 (nodes,): its compute nodes.
    osts
        int64 (files, stripe count) each: the OSTs of the files that it makes, in order.
    """

    nodes: Indices
    osts: Sequence[Integers]


class Order(NamedTuple):
    """A job that is to be put on the stage.

    Attributes
    ----------
    scenario
        The job as if it were on the machine by itself; its seed is the job's own.
    helpers
        Helper threads of each rank: programs beside its I/O threads.
    stagers
        Programs on each service node of its allocation of the burst buffer.
    name
        What it is called where there are several.
    spot
        Where it runs, as in an earlier run; chosen as the scenario says unless given.
    """

    scenario: Scenario
    helpers: int = 0
    stagers: int = 0
    name: str = ""
    spot: Spot | None = None

    @property
    def ranks(self) -> int:
        """How many ranks it has."""
        return self.scenario.nodes * self.scenario.ppn

    @property
    def programs(self) -> int:
        """Programs of a rank: itself, its I/O threads if there are several, its helpers."""
        threads = self.scenario.cores.threads
        return 1 + self.helpers + (0 if threads == 1 else threads)


@dataclass(frozen=True, eq=False, kw_only=True)
class JobStage:
    """One job in its place, before anything has happened.

    Attributes
    ----------
    scenario, machine
        What is to be run; the machine as :func:`~sim.config.scenario.machine_of` returns it.
    filesystem
        Lustre, with the clock.
    allocator
        Chooses the OSTs of its files.
    book
        What the stations of the data plane are called.
    nodes
        int32 (nodes,): the compute nodes of the job.
    first_node
        Which node of the data plane the first of them is; the others follow.
    ranks
        The programs of all ranks.
    programs
        How many there are of each, helpers among them.
    stagers
        int64 (service nodes, n): the programs that move files of the burst buffer for the job.
    world
        All ranks as a communicator.
    began
        When the simulation began, in real seconds.
    """

    scenario: Scenario
    machine: Machine
    filesystem: FileSystem
    allocator: JobAllocator
    book: StationBook
    nodes: Indices
    first_node: int
    ranks: Ranks
    programs: int
    stagers: Integers
    world: Communicator
    began: float

    @property
    def spot(self) -> Spot:
        """Where it has run."""
        return Spot(self.nodes, self.allocator.given)

    @property
    def _refused(self) -> Integers:
        """Bytes that devices have refused to each rank and its helpers: int64 (ranks, 2)."""
        first = int(self.ranks.programs[0])
        own = self.filesystem.plane.tables.refused[first:][: len(self.ranks) * self.programs]
        refused: Integers = own.reshape(len(self.ranks), self.programs, -1).sum(axis=1)
        return refused

    @property
    def _own_nodes(self) -> slice:
        """Its nodes in the tables of the data plane."""
        return slice(self.first_node, self.first_node + len(self.nodes))

    def occupy(self, size: int, before: int = 0) -> None:
        """Let programs of the job take so many bytes of each node's memory, not as ``before``.

        What the page cache has less counts there as pages that are dirty, and never written nor
        dropped.
        """
        tables = self.filesystem.plane.tables
        kept = [kept_from_cache(tables.limits, self.machine, taken) for taken in (before, size)]
        more = kept[1] - kept[0]
        tables.nodes.cached[self._own_nodes] += more
        tables.nodes.dirty[self._own_nodes] += more
        if len(tables.ssds):
            limits = dirty_limits(self.machine, size)
            tables.ssds.background[self._own_nodes] = limits.background
            tables.ssds.dirty_limit[self._own_nodes] = limits.dirty

    def outcome(self, started: float, ended: float) -> dict[str, Any]:
        """Return what a run leaves, whatever the workload: fields of its result.

        The times are those of the job, in simulated seconds.
        """
        plane = self.filesystem.plane
        events, rpcs, bulk_bytes = plane.tables.counts.tolist()
        return {
            "scenario": self.scenario,
            "machine": self.machine,
            "started": started,
            "simulated": ended - started,
            "events": events,
            "rpcs": rpcs,
            "bulk_bytes": bulk_bytes,
            "wall": time.perf_counter() - self.began,
            "waits": self.ranks.waits(plane.tables.waits),
            "stats": {stat: int(plane.tables.stats[stat]) for stat in Stat},
            "troubles": troubles_of(
                plane.tables, self._refused, self._own_nodes, self.filesystem.storage.kind
            ),
            "plane": plane,
            "book": self.book,
        }


@dataclass(frozen=True, eq=False, kw_only=True)
class Stage:
    """The machine and all jobs on it, before anything has happened.

    Attributes
    ----------
    environment
        The clock, which all jobs share.
    jobs
        In the order of their orders.
    """

    environment: Environment
    jobs: tuple[JobStage, ...]


def set_stage(
    machine: Machine,
    orders: Sequence[Order],
    *,
    background: AskedBackground,
    seed: int,
    bytes_to_move: int,
    progress: Progress | None,
) -> Stage:
    """Build a machine and put jobs there, each on nodes of its own.

    Parameters
    ----------
    machine
        With all changes made.
    orders
        The jobs, in the order in which they get their nodes.
    background
        What others do meanwhile in the whole file system.
    seed
        Of the machine: the speeds of its OSTs, drawn routes and jitter follow from it.
    bytes_to_move
        What the workloads will read and write, for ``progress``.
    progress
        Told from time to time how far the run has come.

    Raises
    ------
    InputError
        If a placement does not fit the machine and the jobs before it.
    """
    began = time.perf_counter()
    fabric = fabric_of(machine)
    placed = _place_all(orders, fabric)
    _check_system_cores(orders)
    allocated = [allocated_servers(order.scenario, machine) for order in orders]
    programs = _all_programs(orders, machine, placed, allocated)
    others = background_of(background, machine, seed)
    plane, book = assemble(machine, fabric, programs, others, seed)

    def watch() -> None:
        if progress is not None:
            progress(int(plane.tables.counts[2]), bytes_to_move)

    environment = Environment(plane, watch)
    allocator = Allocator.of(machine.lustre, seed)
    jobs: list[JobStage] = []
    first_node = first_program = 0
    compute_nodes = np.concatenate(placed)
    first_stager = sum(order.ranks * order.programs for order in orders)
    for order, nodes, servers in zip(orders, placed, allocated, strict=True):
        own = JobAllocator(allocator, () if order.spot is None else order.spot.osts)
        storage = storage_of(order.scenario, machine, plane, first_node, servers)
        filesystem = FileSystem(environment, plane, own, machine.lustre.mds.mdts, storage)
        tasks = np.arange(order.ranks)
        node = (first_node + tasks // order.scenario.ppn).astype(np.int32)
        shape = len(servers) if order.stagers else 0, order.stagers
        stagers = first_stager + np.arange(math.prod(shape)).reshape(shape)
        job = JobStage(
            scenario=order.scenario,
            machine=machine,
            filesystem=filesystem,
            allocator=own,
            book=book,
            nodes=nodes,
            first_node=first_node,
            ranks=_ranks(order, first_program),
            programs=order.programs,
            stagers=stagers,
            world=Communicator(tasks, node, filesystem.meetings(), compute_nodes),
            began=began,
        )
        jobs.append(job)
        first_node += len(nodes)
        first_program += order.ranks * order.programs
        first_stager += stagers.size
    return Stage(environment=environment, jobs=tuple(jobs))


def background_of(asked: AskedBackground, machine: Machine, seed: int) -> Background:
    """Return what other jobs do: what the scenario says, and on a typical day what is drawn.

    The factor between the day and the usual one is lognormal with mean 1.
    """
    read, write = asked.read, asked.write
    if asked.typical:
        lustre = machine.lustre
        normal = stream(seed, "other jobs").standard_normal(2)
        factor = np.exp(lustre.other_spread * normal - lustre.other_spread**2 / 2)
        read += lustre.other_reads * float(factor[0])
        write += lustre.other_writes * float(factor[1])
    return Background(read, write)


def _place_all(orders: Sequence[Order], fabric: Fabric) -> list[Indices]:
    """Choose the compute nodes of each job: int32 (nodes,), none of them twice."""
    placed: list[Indices] = []
    for order in orders:
        if order.spot is not None:
            placed.append(order.spot.nodes)
            continue
        taken = np.concatenate(placed) if placed else None
        _check_list(order, orders, placed)
        placed.append(_place(order, fabric, taken))
    return placed


def _place(order: Order, fabric: Fabric, taken: Indices | None) -> Indices:
    """Choose the compute nodes of one job among those that are not taken."""
    scenario, placement = order.scenario, order.scenario.placement
    seed = scenario.seed if placement.seed is None else placement.seed
    try:
        return place(placement.policy, scenario.nodes, fabric, seed, placement.nodes, taken)
    except ValueError as error:
        field = f"jobs.{order.name}.placement" if order.name else "placement"
        raise InputError(f"{field}: {error}") from error


def _check_list(order: Order, orders: Sequence[Order], placed: Sequence[Indices]) -> None:
    """Raise InputError if the list of a job's nodes has one that an earlier job got."""
    listed = order.scenario.placement.nodes
    if listed is None:
        return
    try:
        wanted = parse_node_list(listed) if isinstance(listed, str) else np.array(listed)
    except ValueError:
        return  # said better when the job is placed
    for earlier, nodes in zip(orders, placed, strict=False):
        shared = np.intersect1d(wanted, nodes)
        if len(shared):
            raise InputError(
                f"jobs.{order.name}.placement: node {shared[0]} is taken by job {earlier.name}; "
                f"right would be other nodes, or {order.name} before {earlier.name} in the list"
            )


def _check_system_cores(orders: Sequence[Order]) -> None:
    """Raise InputError unless all jobs leave the same number of cores to the system."""
    first = orders[0]
    for order in orders:
        mine, others = order.scenario.cores.system, first.scenario.cores.system
        if mine != others:
            raise InputError(
                f"jobs.{order.name}.cores.system = {mine}, but {others} for job {first.name}; "
                "right would be the same number for all jobs"
            )


def _ranks(order: Order, first_program: int) -> Ranks:
    """Return all ranks of a job."""
    programs = first_program + np.arange(order.ranks, dtype=np.int64) * order.programs
    return Ranks(programs, order.scenario.ppn, order.scenario.cores.threads)


def _all_programs(
    orders: Sequence[Order],
    machine: Machine,
    placed: Sequence[Indices],
    allocated: Sequence[Indices],
) -> Job:
    """Put the programs of all ranks of all jobs on nodes and cores, those that stage behind."""
    nodes, core = list(placed), [_cores(order, machine) for order in orders]
    each = [order.scenario.ppn * order.programs for order in orders]
    first_service = machine.nodes.count + machine.lnet.routers  # numbered behind both
    for order, servers in zip(orders, allocated, strict=True):
        if order.stagers == 0:
            continue
        nodes.append((first_service + servers).astype(np.int32))
        each.append(order.stagers)
        own = np.arange(order.stagers, dtype=np.int32) % machine.nodes.cores
        core.append(np.tile(own, len(servers)))
    programs = np.repeat(each, [len(part) for part in nodes])
    every = np.concatenate(nodes)
    return Job(
        every,
        np.repeat(np.arange(len(every), dtype=np.int32), programs),
        np.concatenate(core),
        orders[0].scenario.cores.system,
    )


def _cores(order: Order, machine: Machine) -> Indices:
    """Choose the cores of a job's programs: int32 (programs,).

    A rank is where its first I/O thread is, and so are its helpers.
    """
    scenario = order.scenario
    threads = scenario.cores.threads
    cores = rank_cores(
        scenario.nodes,
        scenario.ppn * threads,
        machine.nodes.cores - scenario.cores.system,
        bound=scenario.cores.bind == "cores",
        seed=scenario.seed,
    )
    per_rank = cores.reshape(-1, threads)
    home = np.repeat(per_rank[:, :1], order.programs, axis=1)
    if threads > 1:
        home[:, 1 : 1 + threads] = per_rank
    return home.ravel()
