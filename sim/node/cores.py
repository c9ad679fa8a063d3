"""The cores of a compute node: who runs where, and what copying costs.

A rank copies its data between its buffer and the page cache at the pace of its core; all cores of
a node together are bounded by its memory and by the locks of the client. Lustre's own threads
(ptlrpcd) need cores as well: for every bulk RPC one of them works for a while, on a core that may
be a rank's. *Core specialisation* (``--core-spec 4``) keeps the last cores of a node free of ranks,
and the system's threads go there.

Ranks that are bound (``--cpu-bind cores``) get cores of their own, evenly spaced. Unbound ranks
(``none``) land where the scheduler of the kernel first put them: several may share a core while
others idle. A core serves those on it one piece of work after another.
"""

from __future__ import annotations

import numpy as np

from sim.engine.jit import njit
from sim.engine.network import Network, serve
from sim.engine.randomness import stream
from sim.engine.types import Indices


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


@njit
def copy(
    network: Network, core: int, memory: int, size: float, seconds: float, now: float
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
    now
        The time.
    """
    start = serve(network, core, now, size, seconds)
    shared = size * network.stations[memory].inverse_rate
    memory_start = serve(network, memory, now, size, shared)
    return max(start + seconds, memory_start + shared)
