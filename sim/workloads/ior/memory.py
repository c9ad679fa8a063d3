"""Memory that IOR keeps from the page cache: ``-M`` and ``memoryPerTask``."""

from __future__ import annotations

from sim.config.machine import Machine
from sim.storage.ssd.device import dirty_limits
from sim.workloads.job import Job


def occupy(job: Job, size: int, before: int = 0) -> None:
    """Take so many bytes of the memory of each node of a job, in place of ``before``.

    What the page cache has less counts there as pages that are dirty, and never written nor
    dropped.
    """
    kept = [kept_from_cache(job.machine, taken) for taken in (before, size)]
    limits = dirty_limits(job.machine, size)
    job.filesystem.plane.occupy(job.nodes, kept[1] - kept[0], limits)


def kept_from_cache(machine: Machine, occupied: int) -> int:
    """Return the bytes that a node's page cache has less while so many bytes are occupied.

    Lustre caches up to half of a node's memory (max_cached_mb), and no more than what is left:
    a small occupation costs the cache nothing.
    """
    left = machine.nodes.memory - occupied
    return max(machine.nodes.max_cached - left, 0)
