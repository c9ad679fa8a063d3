"""Memory that IOR keeps from the page cache: ``-M`` and ``memoryPerTask``."""

from __future__ import annotations

from sim.config.machine import Machine
from sim.lustre.tables import Limits
from sim.node.ssd import dirty_limits
from sim.workloads.job import Job


def occupy(job: Job, size: int, before: int = 0) -> None:
    """Let IOR take so many bytes of the memory of each node of a job, not as ``before``.

    What the page cache has less counts there as pages that are dirty, and never written nor
    dropped.
    """
    tables = job.filesystem.plane.tables
    kept = [kept_from_cache(tables.limits, job.machine, taken) for taken in (before, size)]
    more = kept[1] - kept[0]
    tables.nodes.cached[job.nodes] += more
    tables.nodes.dirty[job.nodes] += more
    if len(tables.ssds):
        limits = dirty_limits(job.machine, size)
        tables.ssds.background[job.nodes] = limits.background
        tables.ssds.dirty_limit[job.nodes] = limits.dirty


def kept_from_cache(limits: Limits, machine: Machine, occupied: int) -> int:
    """Return the bytes that a node's page cache has less while so many bytes are occupied.

    Lustre caches up to half of a node's memory (max_cached_mb), and no more than what is left:
    a small occupation costs the cache nothing.
    """
    left = machine.nodes.memory - occupied
    return max(limits.max_node_cache - left, 0)
