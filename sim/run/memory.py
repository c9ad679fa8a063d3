"""Memory that IOR keeps from the page cache: ``-M`` and ``memoryPerTask``.

IOR allocates and touches so much before a test, to make a node's page cache small ("hogs" it).
"""

from __future__ import annotations

from sim.config.machine import Machine
from sim.lustre.tables import Limits
from sim.workloads.ior.parameters import IorTest


def occupied_memory(test: IorTest, machine: Machine, tasks: int) -> int:
    """Return the bytes that a test with so many tasks on a node occupies there."""
    share = machine.nodes.memory * test.node_memory_percent // 100
    return test.task_memory * tasks or test.node_memory or share


def kept_from_cache(limits: Limits, machine: Machine, occupied: int) -> int:
    """Return the bytes that a node's page cache has less while so many bytes are occupied.

    Lustre caches up to half of a node's memory (max_cached_mb), and no more than what is left:
    a small occupation costs the cache nothing.
    """
    left = machine.nodes.memory - occupied
    return max(limits.max_node_cache - left, 0)
