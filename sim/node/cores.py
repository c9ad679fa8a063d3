"""The cores of a compute node: who runs where, and what copying costs.

A rank copies its data between its buffer and the page cache at the pace of its core; all cores of
a node together are bounded by its memory and by the kernel's spinlocks, the more so the more cores
wait for them (Boyd-Wickizer et al., Non-scalable locks are dangerous, 2012). Lustre's own threads
(ptlrpcd) need cores as well: for every bulk RPC one of them works for a while, on a core that may
be a rank's. *Core specialisation* (``--core-spec 4``) keeps the last cores of a node free of ranks,
and the system's threads go there.

Ranks that are bound (``--cpu-bind cores``) get cores of their own, evenly spaced. Unbound ranks
(``none``) land where the scheduler of the kernel first put them: several may share a core while
others idle. A core serves those on it one piece of work after another.
"""

from __future__ import annotations

import math

import numpy as np

from xc40io.engine.compiled import njit
from xc40io.engine.network import Network, serve
from xc40io.engine.page import PAGE
from xc40io.engine.randomness import stream
from xc40io.engine.types import Indices


def rank_cores(nodes: int, per_node: int, usable: int, *, bound: bool, seed: int) -> Indices:
    """Choose the core of every rank.

    Parameters
    ----------
    nodes, per_node
        Nodes of the job and ranks on each.
    usable
        Cores of a node that ranks may use.
    bound
        Whether ranks are bound to cores.
    seed
        Of the scenario: where unbound ranks land follows from it.

    Returns
    -------
    int32 (nodes * per_node,)
        Core within the node, rank after rank.
    """
    if bound:
        spacing = max(usable // per_node, 1)
        return np.tile(np.arange(per_node) * spacing % usable, nodes).astype(np.int32)
    draws = stream(seed, "unbound ranks").integers(0, usable, nodes * per_node)
    return draws.astype(np.int32)


def idle_cores(ranks: Indices, per_node: int, usable: int) -> Indices:
    """Return a core without a rank for a helper of each rank, as far as its node has such cores.

    Parameters
    ----------
    ranks
        int32 (nodes * per_node,): the cores of the ranks, as :func:`rank_cores` returns them.
    per_node, usable
        As there.

    Returns
    -------
    int32 (nodes * per_node,)
        Cores within the node, dealt in turn; the rank's own where no core is left.
    """
    chosen = ranks.reshape(-1, per_node).copy()
    for node in chosen:
        idle = np.setdiff1d(np.arange(usable, dtype=np.int32), node)
        if len(idle):
            node[:] = np.resize(idle, per_node)
    return chosen.ravel()


def list_handover(handover: float, numa_nodes: int, pagevec_size: int) -> float:
    """Return by how much each core that waits for a node's memory delays the bytes of the others.

    A page of the page cache is put on its NUMA node's list of least recently used pages, under a
    ticket spinlock whose hand-over every core delays that waits for it. A core puts several there
    at a time. That the cores which wait for their node's memory do so at this lock is an inference,
    from how much slower very many of them are; pages and waiting cores alike are taken to be spread
    evenly over the NUMA nodes.

    Parameters
    ----------
    handover
        Seconds that one core which waits for a spinlock delays its release.
    numa_nodes
        Of a compute node.
    pagevec_size
        Pages that a core puts on the list at a time.

    Returns
    -------
    float
        Seconds a byte and waiting core.
    """
    return handover / (numa_nodes**2 * pagevec_size * PAGE)


@njit
def copy(
    network: Network,
    core: int,
    memory: int,
    size: float,
    seconds: float,
    alone: float,
    handover: float,
    now: float,
) -> float:
    """Copy ``size`` bytes on a core; return when it is done.

    Parameters
    ----------
    network
        Holds the stations.
    core, memory
        Stations of the core and of the node's memory.
    size
        Bytes.
    seconds
        What the core needs for them when it is alone.
    alone
        For how long they hold the memory, if no other core waits for it.
    handover
        Seconds a byte for each core that waits for the memory (:func:`list_handover`).
    now
        The time.
    """
    start = serve(network, core, now, size, seconds)
    elsewhere = max(seconds - alone, 0.0)
    queued = network.stations[memory].free - start - elsewhere
    shared = _under_contention(alone, size * handover, queued)
    memory_start = serve(network, memory, now, size, shared)
    return max(start + seconds, memory_start + shared)


@njit
def _under_contention(alone: float, handover: float, queued: float) -> float:
    """Return how long a piece holds the memory: one hand-over more for each core that waits.

    As many wait on average as pieces of this length pass while this one is ``queued`` (Little's
    law). So the length solves ``length = alone + handover * queued / length``.

    Why they are not counted: a station keeps when it will be free, and not who is before whom. A
    count would need a ring with the starts of all accepted pieces of a node, read and written at
    every copy. And it would count those who come before a piece, while those who wait during its
    own service delay it: how many these are is not known yet when its length must be. In a queue
    that neither grows nor shrinks they are as many, and that is what the law counts.
    """
    half = alone / 2.0
    return half + math.sqrt(half * half + handover * max(queued, 0.0))
