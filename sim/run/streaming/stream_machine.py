"""A machine on which jobs come and go: one clock, one data plane, nodes that are given back."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence

import numpy as np
import simpy

from xc40io.config.errors import InputError
from xc40io.config.faults import said_faults
from xc40io.config.machine import Machine
from xc40io.config.stream import StreamScenario
from xc40io.engine.environment import Environment
from xc40io.engine.types import Indices, Integers
from xc40io.lustre.server.background import background_of
from xc40io.lustre.striping import Allocator
from xc40io.machine.assembly import assemble
from xc40io.machine.faults_at_work import Faults
from xc40io.machine.plane import Plane
from xc40io.plane.pace import COMPUTING
from xc40io.plane.site import Occupants
from xc40io.run.built_machine import job_run
from xc40io.run.fabric import fabric_of
from xc40io.run.job_run import JobRun
from xc40io.run.placement import PlacedJob, cores_of
from xc40io.run.submission import Submission
from xc40io.topology import place

_FIRST_LOOK = 1e-3
"""Seconds from the end of a job to the first look whether its nodes are at rest."""

_NO_SERVERS: Indices = np.zeros(0, np.int32)


class StreamMachine:
    """A machine whose nodes one job gives back and the next one gets.

    Parameters
    ----------
    scenario
        The stream.
    machine
        With all changes made.
    slots
        Programs that a node has room for.
    system_cores
        Cores of each node that no job uses.
    watch
        Called several times a second of wall time; nobody unless given.

    Attributes
    ----------
    environment, plane, book
        As in :class:`~xc40io.run.built_machine.BuiltMachine`.
    nodes
        int32: the machine's numbers of the nodes that jobs get.
    free
        bool (nodes,): which of them no job has.

    Raises
    ------
    InputError
        If the machine has fewer nodes than the queue, or no such part as is to be slow or to fail.
    """

    def __init__(
        self,
        scenario: StreamScenario,
        machine: Machine,
        slots: int,
        system_cores: int,
        watch: Callable[[Plane], None] | None = None,
    ) -> None:
        self.machine = machine
        self._fabric = fabric = fabric_of(machine)
        self.nodes = partition(scenario, machine)
        count, seed = len(self.nodes), scenario.seed
        of_slots = np.repeat(np.arange(count, dtype=np.int32), slots)
        occupants = Occupants(self.nodes, of_slots, np.zeros_like(of_slots), system_cores)
        others = background_of(scenario.background, machine, seed)
        assembly = assemble(machine, fabric, occupants, others, seed)
        self.plane, self.book = plane, _ = assembly
        self.environment = Environment(plane, None if watch is None else lambda: watch(plane))
        self.faults = Faults(assembly, machine, fabric, self.environment)
        said = said_faults(scenario.faults, scenario.slow)
        # Whose ranks compute longer is known when the jobs come.
        self.faults.add(one for one in said if one.told or one.fault.noun != COMPUTING)
        assembly.check_background(others)
        self.conditions = self.faults.conditions(seed)
        self.free = np.ones(count, np.bool_)
        self._slots = slots
        self._allocator = Allocator.of(machine.lustre, seed)
        self._taken = np.setdiff1d(np.arange(machine.nodes.count), self.nodes)

    def admit(self, submission: Submission) -> JobRun:
        """Give a job its nodes: those that it had in an earlier run, or that its placement says.

        Raises
        ------
        InputError
            If there are too few free nodes.
        """
        nodes = self._choose(submission)
        own = np.searchsorted(self.nodes, nodes).astype(np.int32)
        self.free[own] = False
        each = submission.scenario.ppn * submission.programs
        programs = (own[:, None].astype(np.int64) * self._slots + np.arange(each)).ravel()
        self._begin_anew(programs, own, submission)
        placed = PlacedJob(submission, nodes, _NO_SERVERS, own, programs, 0)
        every = self.nodes
        return job_run(placed, self.machine, self.environment, self.plane, self._allocator, every)

    def clean(self, run: JobRun) -> Generator[simpy.Event, object, None]:
        """Write back what a job has left dirty, let its nodes forget it, and give them back."""
        own, programs = run.placed.own_nodes, run.placed.programs
        first = programs.reshape(len(own), -1)[:, 0]
        batch = self.plane.departures.write_back(own, first)
        if batch is not None:
            yield run.job.filesystem.run(batch)
        wait = _FIRST_LOOK
        while not self.plane.departures.at_rest(own):
            yield self.environment.timeout(wait)
            wait *= 2.0
        self.plane.departures.forget(own)
        run.job.filesystem.give_back()
        self.free[own] = True

    def _choose(self, submission: Submission) -> Indices:
        """Return the nodes that a job gets: int32 (nodes,), numbers of the machine."""
        scenario = submission.scenario
        if submission.allocation is not None:
            return submission.allocation.nodes
        seed = scenario.seed if scenario.placement.seed is None else scenario.placement.seed
        taken = np.concatenate([self._taken, self.nodes[~self.free]])
        return place(scenario.placement.policy, scenario.nodes, self._fabric, seed, exclude=taken)

    def _begin_anew(self, programs: Integers, own: Indices, submission: Submission) -> None:
        """Let programs forget whose they were, and put them on the cores of their next job."""
        node = np.repeat(own, len(programs) // len(own))
        self.plane.begin_anew(programs, node, cores_of(submission, self.machine))


def partition(scenario: StreamScenario, machine: Machine) -> Indices:
    """Return the nodes that jobs of a stream get: int32, the lowest numbers of the machine.

    Raises
    ------
    InputError
        If the machine has fewer.
    """
    count, asked = machine.nodes.count, scenario.queue.nodes
    if asked is not None and asked > count:
        raise InputError(
            f"queue.nodes = {asked:,}; right would be at most the {count:,} compute nodes of "
            f"{machine.name}"
        )
    return np.arange(count if asked is None else asked, dtype=np.int32)


def slots_of(submissions: Sequence[Submission]) -> int:
    """Return the programs that a node needs room for, whichever of the jobs it gets."""
    return max(job.scenario.ppn * job.programs for job in submissions)
