"""Where jobs run: their compute nodes, the cores and the programs of their ranks, their files."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from xc40io.config.errors import InputError
from xc40io.config.machine import Machine
from xc40io.config.parts.storage import Service
from xc40io.config.scenario import Scenario, Target
from xc40io.engine.randomness import stream
from xc40io.engine.types import Indices, Integers
from xc40io.machine.plane import Plane
from xc40io.node.cores import idle_cores, rank_cores
from xc40io.plane.fault_course import PlacedPrograms
from xc40io.plane.site import Occupants
from xc40io.run.submission import Submission
from xc40io.storage.places import LUSTRE, Storage
from xc40io.storage.service_nodes import BURST_BUFFER, HOME, first_server
from xc40io.topology import Fabric, parse_node_list, place
from xc40io.workloads.job import Ranks

_SECTIONS = {"ssd": "ssd", "bb": "burst_buffer", "home": "home"}
_MEASURED = {"measured", "calibrated"}  # calibrated: fitted to a measurement


class PlacedJob(NamedTuple):
    """A job that has its nodes."""

    submission: Submission  # The job.
    nodes: Indices  # int32 (nodes,): its compute nodes.
    servers: Indices  # int32 (service nodes,): the nodes of its allocation of the burst buffer.
    own_nodes: Indices  # int32 (nodes,): what the data plane calls its nodes.
    # int64 (ranks x programs of a rank,): its ranks' programs in the data plane, rank by rank.
    programs: Integers
    first_stager: int  # Its first program of a service node; the others follow.

    @property
    def ranks(self) -> Ranks:
        """All its ranks."""
        job = self.submission
        own = self.programs[:: job.programs].copy()  # compiled code takes what lies in one piece
        return Ranks(own, job.scenario.ppn, job.scenario.cores.threads)

    @property
    def node_of_ranks(self) -> Indices:
        """The node of each rank in the data plane: int32 (ranks,)."""
        node: Indices = np.repeat(self.own_nodes, self.submission.scenario.ppn)
        return node

    @property
    def seen_by_faults(self) -> PlacedPrograms:
        """The job as faults see it."""
        job = self.submission
        return PlacedPrograms(
            job.name, job.scenario.target.kind, self.own_nodes, self.programs, job.programs
        )

    @property
    def stagers(self) -> Integers:
        """The programs on its service nodes: int64 (service nodes, n)."""
        each = self.submission.stagers
        shape = len(self.servers) if each else 0, each
        first: Integers = self.first_stager + np.arange(shape[0] * each)
        return first.reshape(shape)


def place_jobs(
    submissions: Sequence[Submission], machine: Machine, fabric: Fabric
) -> list[PlacedJob]:
    """Put jobs on a machine, each on nodes of its own, in the order in which they get them.

    Raises
    ------
    InputError
        If a placement does not fit the machine and the jobs before it.
    """
    nodes = _nodes_of_all(submissions, fabric)
    _check_system_cores(submissions)
    servers = [allocated_servers(job.scenario, machine) for job in submissions]
    programs = [job.ranks * job.programs for job in submissions]
    stagers = [len(own) * job.stagers for own, job in zip(servers, submissions, strict=True)]
    own_nodes = [own.astype(np.int32) for own in _in_turn([len(own) for own in nodes])]
    first_stager = accumulate(stagers, initial=sum(programs))
    columns = (submissions, nodes, servers, own_nodes, _in_turn(programs), first_stager)
    return [PlacedJob(*job) for job in zip(*columns, strict=False)]


def _in_turn(counts: Sequence[int]) -> list[Integers]:
    """Return the numbers from 0 on, so many for each owner: int64 (count,) each."""
    return [
        np.arange(first, first + count)
        for first, count in zip(accumulate(counts, initial=0), counts, strict=False)
    ]


def programs_of(jobs: Sequence[PlacedJob], machine: Machine) -> Occupants:
    """Put the programs of all ranks of all jobs on nodes and cores, those that stage behind."""
    nodes = [job.nodes for job in jobs]
    core = [cores_of(job.submission, machine) for job in jobs]
    each = [job.submission.scenario.ppn * job.submission.programs for job in jobs]
    first_service = machine.nodes.count + machine.entry_nodes  # numbered behind both
    for job in jobs:
        stagers = job.submission.stagers
        if stagers == 0:
            continue
        nodes.append((first_service + job.servers).astype(np.int32))
        each.append(stagers)
        own = np.arange(stagers, dtype=np.int32) % machine.nodes.cores
        core.append(np.tile(own, len(job.servers)))
    programs = np.repeat(each, [len(part) for part in nodes])
    every = np.concatenate(nodes)
    return Occupants(
        every,
        np.repeat(np.arange(len(every), dtype=np.int32), programs),
        np.concatenate(core),
        jobs[0].submission.scenario.cores.system,
    )


def _nodes_of_all(submissions: Sequence[Submission], fabric: Fabric) -> list[Indices]:
    """Choose the compute nodes of each job: int32 (nodes,), none of them twice."""
    placed: list[Indices] = []
    for job in submissions:
        if job.allocation is not None:
            placed.append(job.allocation.nodes)
            continue
        taken = np.concatenate(placed) if placed else None
        _check_list(job, submissions, placed)
        placed.append(_nodes(job, fabric, taken))
    return placed


def _nodes(job: Submission, fabric: Fabric, taken: Indices | None) -> Indices:
    """Choose the compute nodes of one job among those that are not taken."""
    scenario, placement = job.scenario, job.scenario.placement
    seed = scenario.seed if placement.seed is None else placement.seed
    try:
        return place(placement.policy, scenario.nodes, fabric, seed, placement.nodes, taken)
    except ValueError as error:
        field = f"jobs.{job.name}.placement" if job.name else "placement"
        raise InputError(f"{field}: {error}") from error


def _check_list(
    job: Submission, submissions: Sequence[Submission], placed: Sequence[Indices]
) -> None:
    """Raise InputError if the list of a job's nodes has one that an earlier job got."""
    listed = job.scenario.placement.nodes
    if listed is None:
        return
    try:
        wanted = parse_node_list(listed) if isinstance(listed, str) else np.array(listed)
    except ValueError:
        return  # said better when the job is placed
    for earlier, nodes in zip(submissions, placed, strict=False):
        shared = np.intersect1d(wanted, nodes)
        if len(shared):
            raise InputError(
                f"jobs.{job.name}.placement: node {shared[0]} is taken by job {earlier.name}; "
                f"right would be other nodes, or {job.name} before {earlier.name} in the list"
            )


def _check_system_cores(submissions: Sequence[Submission]) -> None:
    """Raise InputError unless all jobs leave the same number of cores to the system."""
    first = submissions[0]
    for job in submissions:
        mine, others = job.scenario.cores.system, first.scenario.cores.system
        if mine != others:
            raise InputError(
                f"jobs.{job.name}.cores.system = {mine}, but {others} for job {first.name}; "
                "right would be the same number for all jobs"
            )


def cores_of(job: Submission, machine: Machine) -> Indices:
    """Choose the cores of a job's programs: int32 (programs,).

    A rank is where its first I/O thread is, and so are its helpers; where a rank has several cores,
    they are on the others in turn, and else on idle ones if they are to be apart.
    """
    scenario = job.scenario
    threads = scenario.cores.threads
    usable = machine.nodes.cores - scenario.cores.system
    cores = rank_cores(
        scenario.nodes,
        scenario.ppn * threads,
        usable,
        bound=scenario.cores.bind == "cores",
        seed=scenario.seed,
    )
    per_rank = cores.reshape(-1, threads)
    home = np.repeat(per_rank[:, :1], job.programs, axis=1)
    others = scenario.cores.depth - 1
    if others:
        home[:, 1:] += 1 + np.arange(job.programs - 1, dtype=np.int32) % others
        home %= usable
    if threads > 1:
        home[:, 1 : 1 + threads] = per_rank
    elif job.workload.helpers_apart and not others:
        home[:, 1:] = idle_cores(home[:, 0].copy(), scenario.ppn, usable)[:, None]
    return home.ravel()


def crowded(scenario: Scenario, machine: Machine) -> tuple[str, ...]:
    """Return a sentence if the ranks of a node share cores: they run on its hardware threads."""
    cores = machine.nodes.cores - scenario.cores.system
    if scenario.ppn <= cores:
        return ()
    return (
        f"the {scenario.ppn} ranks of a node share {cores} cores: those on the hardware threads of "
        "one core take turns",
    )


def storage_of(target: Target, machine: Machine, plane: Plane, servers: Indices) -> Storage:
    """Return where the files of a job are; make the allocation that they are in.

    Its part of the burst buffer is on the ``servers`` that :func:`allocated_servers` returns.
    """
    if target.kind == "ssd":
        return Storage(kind="ssd")
    if target.kind == "bb":
        assert machine.burst_buffer is not None  # machine_of has looked
        return _allocation(target, machine.burst_buffer, servers, plane)
    if target.kind == "home":
        assert machine.home is not None
        first, service = first_server(machine, HOME), machine.home
        every = np.arange(first, first + service.nodes, dtype=np.int32)
        volume = plane.namespace.add_volume(service.capacity)
        return Storage("home", every, volume, service.stripe_size)
    return LUSTRE


def doubts(target: Target, machine: Machine) -> tuple[str, ...]:
    """Return notes for the user on a target whose speed was never measured."""
    section = _SECTIONS.get(target.kind)
    if section is None:
        return ()
    firm = {
        source.firm for path, source in machine.provenance.items() if path.startswith(f"{section}.")
    }
    if firm & _MEASURED:
        return ()
    return (
        f"the speed of --target {target.kind} on {machine.name} does not rest on measurements: "
        f"its rates and times ({section}.*) are inferred, and no published run tested it",
    )


def allocated_nodes(target: Target, service: Service) -> int:
    """Return over how many service nodes an allocation of the burst buffer is spread."""
    if target.capacity is None:
        return service.nodes
    return min(-(-target.capacity // service.granularity), service.nodes)


def allocated_servers(scenario: Scenario, machine: Machine) -> Indices:
    """Return the service nodes of a scenario's allocation, int32: those that chance has chosen.

    None where it has no burst buffer.
    """
    service = machine.burst_buffer
    if scenario.target.kind != "bb" or service is None:
        return np.zeros(0, np.int32)
    count = allocated_nodes(scenario.target, service)
    order = stream(scenario.seed, "burst buffer").permutation(service.nodes)[:count]
    return (first_server(machine, BURST_BUFFER) + order).astype(np.int32)


def _allocation(target: Target, service: Service, servers: Indices, plane: Plane) -> Storage:
    """Allocate parts of the burst buffer."""
    asked = len(servers) * service.granularity if target.capacity is None else target.capacity
    parts = -(-asked // service.granularity)
    volume = plane.namespace.add_volume(parts * service.granularity)
    private = target.access == "private"
    width = 1 if private else len(servers)
    return Storage("bb", servers, volume, service.stripe_size, width, private)
