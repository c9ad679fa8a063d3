"""A job as it is handed to the machine: what it is to run, when, and what it gets for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from xc40io.config.errors import InputError
from xc40io.config.faults import FieldFault, lost_ssds
from xc40io.config.kept import kept
from xc40io.config.machine import Machine
from xc40io.config.scenario import Scenario
from xc40io.config.striping import StripeRequest
from xc40io.engine.types import Indices, Integers
from xc40io.lustre.striping import Allocator, Component
from xc40io.mpi.known_hints import read_displays
from xc40io.workloads.workload import Workload

MOST_RPCS = 1_000_000_000
"""Bulk RPCs of a job: an hour of work at the pace of the data plane. Full Theta makes millions."""


@kept
class Allocation(NamedTuple):
    """What a job has got."""

    nodes: Indices  # int32 (nodes,): its compute nodes.
    # int64 (files, stripe count) each: the OSTs of the files that it makes, in order.
    osts: Sequence[Integers]

    @property
    def all_osts(self) -> frozenset[int]:
        """The OSTs that hold any of the files."""
        return frozenset(ost for files in self.osts for ost in np.unique(files).tolist())


class JobAllocator(Allocator):
    """The allocator of the file system as one job sees it.

    Parameters
    ----------
    shared
        The allocator of all jobs.
    again
        What the job got in an earlier run, in order: it gets the same, as long as it asks for the
        same, so that two runs of the job differ in nothing but what else there is.
    """

    def __init__(self, shared: Allocator, again: Sequence[Integers] = ()) -> None:
        self._shared = shared
        self._again = list(again)
        self.given: list[Integers] = []  # (files, stripe count) each: what the job has got so far

    def resolve(self, request: StripeRequest) -> tuple[Component, ...]:
        """Return the components of a file, with the defaults filled in."""
        return self._shared.resolve(request)

    def allocate(self, files: int, request: StripeRequest) -> Integers:
        """Create many files: return the OSTs of each, int64 (files, stripe count)."""
        asked = (files, sum(component.stripe_count for component in self.resolve(request)))
        number = len(self.given)
        if number < len(self._again) and self._again[number].shape == asked:
            osts = self._again[number]
        else:
            osts = self._shared.allocate(files, request)
        self.given.append(osts)
        return osts


class Submission(NamedTuple):
    """A job that is to run."""

    scenario: Scenario  # The job as if it were on the machine by itself; its seed is the job's own.
    workload: Workload  # What it does.
    name: str = ""  # What it is called where there are several.
    start: float = 0.0  # When it begins, in simulated seconds.
    # What it gets, as in an earlier run; chosen as the scenario says unless given.
    allocation: Allocation | None = None

    @staticmethod
    def to(machine: Machine, scenario: Scenario, workload: Workload, **more: Any) -> Submission:
        """Return a job that is to run on a machine, its files laid out as they are there.

        ``more`` are the other fields.
        """
        striping = machine.lustre.laid_out(scenario.striping)
        if striping is not scenario.striping:
            scenario = scenario.model_copy(update={"striping": striping})
        return Submission(scenario, workload, **more)

    @property
    def ranks(self) -> int:
        """How many ranks it has."""
        return self.scenario.nodes * self.scenario.ppn

    @property
    def programs(self) -> int:
        """Programs of a rank: itself, its I/O threads if there are several, its helpers."""
        threads = self.scenario.cores.threads
        return 1 + self.workload.helpers() + (0 if threads == 1 else threads)

    @property
    def stagers(self) -> int:
        """Programs on each service node of its allocation of the burst buffer."""
        return self.workload.stagers(self.scenario)

    @property
    def lost_ssds(self) -> tuple[FieldFault, ...]:
        """The SSDs of its nodes that fail."""
        return lost_ssds(self.scenario.target.lost, self.name)

    @property
    def bytes_to_move(self) -> int:
        """Bytes that it will read and write, about."""
        return self.workload.bytes_to_move(self.ranks)

    def check(self, machine: Machine) -> None:
        """Raise InputError unless a machine can run the job, in less than hours."""
        read_displays(self.scenario.environment)
        threads = self.scenario.cores.threads
        if threads > 1 and not self.workload.io_threads:
            raise InputError(
                f"cores.threads = {threads}: the calls of a kernel cannot be shared out among I/O "
                "threads; right would be 1"
            )
        self.workload.check(self.scenario, machine)
        rpcs = self.bytes_to_move / machine.lustre.rpc_size
        if rpcs > MOST_RPCS:
            raise InputError(
                f"{self.bytes_to_move:,} bytes in all would be {rpcs:,.0f} bulk RPCs, which takes "
                f"hours; right would be at most {MOST_RPCS:,}: fewer bytes or repetitions, or "
                "--rpcs-as-one"
            )


def work_of(jobs: Sequence[Submission]) -> int:
    """Return the bytes that jobs move; where there are none, what they do to names of files."""
    moved = sum(job.bytes_to_move for job in jobs)
    return moved or sum(job.workload.metadata_operations(job.ranks) for job in jobs)


def in_job(name: str, error: InputError) -> InputError:
    """Return an error with the name of the job that it concerns, if it has one."""
    return InputError(f"job {name}: {error}") if name else error
