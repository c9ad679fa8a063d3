"""Which compute nodes a job gets.

On a dragonfly the placement decides whether a job's traffic stays inside a few groups or crosses
all of them, on a torus how many links it crosses, and on both which LNET routers lie near it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from xc40io.topology.arrays import Int32Array
from xc40io.topology.dealing import deal
from xc40io.topology.fabric import Fabric

POLICIES = ("contiguous", "random", "spread", "list")

MOST_NODES = 1_000_000
"""Numbers in a node list stay below this: a slip of the finger must not fill the memory."""

_RANGE = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?", re.ASCII)


def place(
    policy: str,
    count: int,
    fabric: Fabric,
    seed: int = 0,
    nodes: str | Sequence[int] | Int32Array | None = None,
    exclude: ArrayLike | None = None,
) -> Int32Array:
    """Choose the compute nodes of a job.

    Parameters
    ----------
    policy : str
        * ``contiguous``: the lowest-numbered free nodes;
        * ``random``: free nodes drawn from ``seed``, then sorted, because job launchers number
          ranks in the order of the nodes;
        * ``spread``: one node of every group in turn, so all groups get equally many while they
          have free nodes; consecutive nodes of the job lie in different groups (in a torus: in
          different cabinets);
        * ``list``: exactly ``nodes``, in the order given.
    count : int
        Nodes of the job.
    fabric : Fabric
        The machine.
    seed : int
        Used by ``random`` alone.
    nodes : str or sequence of int, optional
        For ``list``: node numbers, or a string as :func:`parse_node_list` reads it.
    exclude : int[m], optional
        Nodes that are taken, for instance by other jobs.

    Returns
    -------
    int32[count]
        Compute nodes in the order in which the job's ranks fill them.

    Raises
    ------
    ValueError
        If the policy is unknown, there are too few free nodes, or a listed node is taken, listed
        twice or does not exist.
    """
    if policy not in POLICIES:
        raise ValueError(f"placement is {policy!r}: choose one of {', '.join(POLICIES)}")
    if (nodes is not None) != (policy == "list"):
        raise ValueError(
            f"placement {policy!r} "
            + ("takes no list of nodes" if nodes is not None else "needs a list of nodes")
        )
    if count < 1:
        raise ValueError(f"a job on {count} nodes: it needs 1 or more")
    taken = np.unique(np.asarray([] if exclude is None else exclude, dtype=np.int64))
    _check_exist(taken, fabric)
    if nodes is not None:
        return _listed(nodes, count, fabric, taken)

    idle = np.ones(len(fabric.compute_router), np.bool_)
    idle[taken] = False
    free = np.flatnonzero(idle)
    if count > len(free):
        raise ValueError(
            f"a job on {count} nodes: the machine has {len(fabric.compute_router)} compute nodes"
            + (f", of which {len(free)} are free" if len(taken) else "")
        )
    if policy == "random":
        dice = np.random.Generator(np.random.Philox(key=seed))
        chosen = np.sort(dice.permutation(free)[:count])
    elif policy == "spread":
        chosen = deal(free, owner=fabric.compute_group)[:count]
    else:
        chosen = free[:count]
    return chosen.astype(np.int32)


def parse_node_list(text: str) -> Int32Array:
    """Read node numbers written as ALPS and Slurm write them: ``0-15,32,40-43``.

    Parameters
    ----------
    text : str
        Numbers and ranges (both ends included) with commas between; blanks do not matter.

    Returns
    -------
    int32[n]
        The nodes in the order written.

    Raises
    ------
    ValueError
        If a part is neither a number nor a range, a range runs backwards, a number is too large
        for any machine or a node comes twice.
    """
    ranges = []
    for part in text.split(","):
        match = _RANGE.fullmatch(part.strip())
        if match is None:
            raise ValueError(
                f"node list {text!r}: {part.strip()!r} is neither a number nor a range like 0-15"
            )
        first, last = int(match[1]), int(match[2] or match[1])
        if last < first:
            raise ValueError(f"node list {text!r}: range {first}-{last} runs backwards")
        if last >= MOST_NODES:
            raise ValueError(f"node list {text!r}: {last} is not below {MOST_NODES}")
        ranges.append(np.arange(first, last + 1, dtype=np.int32))
    nodes = np.concatenate(ranges)
    _check_once(nodes)
    return nodes


def _listed(
    nodes: str | Sequence[int] | Int32Array, count: int, fabric: Fabric, taken: NDArray[np.int64]
) -> Int32Array:
    """Check an explicit list of nodes and return it."""
    listed = parse_node_list(nodes) if isinstance(nodes, str) else np.asarray(nodes, dtype=np.int64)
    _check_exist(listed, fabric)
    _check_once(listed)
    blocked = np.intersect1d(listed, taken)
    if len(blocked):
        raise ValueError(f"node {_few(blocked)} listed for the job but taken")
    if len(listed) != count:
        raise ValueError(f"a job on {count} nodes: the list names {len(listed)}")
    return listed.astype(np.int32)


def _check_exist(nodes: NDArray[np.integer], fabric: Fabric) -> None:
    last = len(fabric.compute_router) - 1
    missing = nodes[(nodes < 0) | (nodes > last)]
    if len(missing):
        raise ValueError(f"node {_few(missing)} does not exist: compute nodes are 0 to {last}")


def _check_once(nodes: NDArray[np.integer]) -> None:
    node, times = np.unique(nodes, return_counts=True)
    if len(node) < len(nodes):
        raise ValueError(f"node {_few(node[times > 1])} listed more than once")


def _few(nodes: NDArray[np.integer]) -> str:
    """Name the first few of some nodes."""
    shown = ", ".join(str(node) for node in nodes[:5])
    return shown + (f" and {len(nodes) - 5} more" if len(nodes) > 5 else "")
