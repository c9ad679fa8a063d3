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


def limits_beside(limits: Limits, machine: Machine, occupied: int) -> Limits:
    """Return the limits of a client on whose nodes so many bytes of memory are occupied.

    Lustre caches up to half of a node's memory (max_cached_mb), and no more than what is left.
    """
    left = machine.nodes.memory - occupied
    return limits._replace(
        max_node_cache=min(limits.max_node_cache, left),
        max_node_dirty=min(limits.max_node_dirty, left),
    )
