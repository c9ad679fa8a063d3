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
    """What has come of one job."""

    # Of the job, and what it did in a few words.
    name: str
    workload: str
    nodes: Indices  # int32: its compute nodes.
    ranks: int  # Ranks that were simulated.
    # When it was submitted, began and ended, and when its nodes were clean for the next one:
    # simulated seconds.
    submitted: float
    started: float
    ended: float
    given_back: float
    walltime: float  # Seconds that it asked for.
    # By its phases of these names.
    bytes_read: int
    bytes_written: int
    # Seconds that a rank was in I/O on average: neither computing nor waiting for other ranks.
    in_io: float
    # Seconds of all ranks together, where the workload adds them up.
    cumulated: CumulatedSeconds | None
    allocation: Allocation  # What it got, for a run by itself.
    # Its seconds and its seconds in I/O on the same nodes and OSTs without the others; None if
    # that was not asked for.
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
    """A stream of jobs that has run."""

    # What was run.
    scenario: StreamScenario
    machine: Machine
    nodes: int  # Compute nodes that jobs got.
    jobs: tuple[StreamOutcome, ...]  # One outcome for each, in the order in which they began.
    bandwidth: Bandwidth  # What the OSTs moved over time, for all.
    # Of the data plane, without the runs of jobs by themselves.
    events: int
    rpcs: int
    bulk_bytes: int
    notes: tuple[str, ...]  # What the user should know: a sentence each.
    # Real seconds from the first to the last: building, running, the jobs by themselves.
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
