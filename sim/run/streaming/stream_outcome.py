"""What comes of a stream of jobs."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from xc40io.config.machine import Machine
from xc40io.config.stream import StreamScenario
from xc40io.engine.types import Floats, Indices
from xc40io.run.submission import Allocation
from xc40io.workloads.kernels.production import CumulatedSeconds


class Bandwidth(NamedTuple):
    """What the OSTs moved over time: bytes in each bin of ``width`` seconds, float64 (bins,)."""

    width: float
    bytes: Floats


@dataclass(frozen=True, eq=False, kw_only=True)
class StreamOutcome:
    """What has come of one job.

    Attributes
    ----------
    name, workload
        Of the job, and what it did in a few words.
    nodes
        int32: its compute nodes.
    ranks
        Ranks that were simulated.
    submitted, started, ended, given_back
        When it was submitted, began and ended, and when its nodes were clean for the next one:
        simulated seconds.
    walltime
        Seconds that it asked for.
    bytes_read, bytes_written
        By its phases of these names.
    in_io
        Seconds that a rank was in I/O on average: neither computing nor waiting for other ranks.
    cumulated
        Seconds of all ranks together, where the workload adds them up.
    allocation
        What it got, for a run by itself.
    alone, alone_in_io
        Its seconds and its seconds in I/O on the same nodes and OSTs without the others; None if
        that was not asked for.
    """

    name: str
    workload: str
    nodes: Indices
    ranks: int
    submitted: float
    started: float
    ended: float
    given_back: float
    walltime: float
    bytes_read: int
    bytes_written: int
    in_io: float
    cumulated: CumulatedSeconds | None
    allocation: Allocation
    alone: float | None = None
    alone_in_io: float | None = None

    @property
    def waited(self) -> float:
        """Seconds in the queue."""
        return self.started - self.submitted

    @property
    def seconds(self) -> float:
        """That it took."""
        return self.ended - self.started

    @property
    def slowdown(self) -> float | None:
        """How many times as long it took as by itself."""
        return self.seconds / self.alone if self.alone else None

    @property
    def io_slowdown(self) -> float | None:
        """How many times as long its ranks were in I/O as by itself."""
        return self.in_io / self.alone_in_io if self.alone_in_io else None


@dataclass(frozen=True, eq=False, kw_only=True)
class StreamResult:
    """A stream of jobs that has run.

    Attributes
    ----------
    scenario, machine
        What was run.
    nodes
        Compute nodes that jobs got.
    jobs
        One outcome for each, in the order in which they began.
    bandwidth
        What the OSTs moved over time, for all.
    events, rpcs, bulk_bytes
        Of the data plane, without the runs of jobs by themselves.
    notes
        What the user should know: a sentence each.
    wall
        Real seconds from the first to the last: building, running, the jobs by themselves.
    """

    scenario: StreamScenario
    machine: Machine
    nodes: int
    jobs: tuple[StreamOutcome, ...]
    bandwidth: Bandwidth
    events: int
    rpcs: int
    bulk_bytes: int
    notes: tuple[str, ...]
    wall: float

    @property
    def end(self) -> float:
        """When the last nodes were given back, in simulated seconds."""
        return max(job.given_back for job in self.jobs)

    @property
    def node_seconds(self) -> float:
        """Seconds that nodes belonged to jobs, summed over the nodes."""
        return float(sum(len(job.nodes) * (job.given_back - job.started) for job in self.jobs))

    @property
    def utilisation(self) -> float:
        """Share of the time of all nodes, from the first submission on, that belonged to jobs."""
        span = self.end - min(job.submitted for job in self.jobs)
        return self.node_seconds / (self.nodes * span) if span > 0.0 else 0.0

    @property
    def digest(self) -> str:
        """A fingerprint of all times and bytes: alike only for the same results, bit for bit."""
        digest = hashlib.sha256()
        for job in self.jobs:
            times = (job.submitted, job.started, job.ended, job.given_back, job.in_io)
            alone = (job.alone or 0.0, job.alone_in_io or 0.0)
            digest.update(job.name.encode())
            digest.update(np.array([*times, *alone], np.float64).tobytes())
            digest.update(job.nodes.astype(np.int32).tobytes())
        digest.update(self.bandwidth.bytes.astype(np.float64).tobytes())
        return digest.hexdigest()[:16]
