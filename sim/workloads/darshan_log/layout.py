"""How the files of a log lay on Lustre, and on which nodes the job ran: known, or guessed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sim.config.striping import STRIPE_SIZE_LIMIT, STRIPE_SIZE_UNIT, StripeRequest
from sim.engine.types import Integers
from sim.workloads.darshan_log.log import DarshanLog

DEFAULT_STRIPE = 2**20
"""Bytes of a stripe where the log does not say: what most file systems have."""


def striping_of(log: DarshanLog, number: int) -> StripeRequest:
    """Return the striping of a file; nothing where the log has no LUSTRE record of it."""
    row = log.layout_of.get(number)
    if row is None:
        return StripeRequest()
    layouts, osts = log.layouts, log.layouts.osts[row]
    size = int(layouts.size[row])
    if size <= 0 or size % STRIPE_SIZE_UNIT or size >= STRIPE_SIZE_LIMIT:
        return StripeRequest()
    first = int(osts[0]) if len(osts) and osts[0] >= 0 else -1
    return StripeRequest(count=int(layouts.stripes[row]), size=size, offset=first)


def stripe_of(log: DarshanLog, number: int) -> int:
    """Return the bytes of a stripe of a file."""
    return striping_of(log, number).size or DEFAULT_STRIPE


def most_on_a_node(log: DarshanLog) -> int:
    """Return how many ranks the fullest node had; 0 if the log does not tell all ranks' nodes."""
    if len(log.hosts) < log.ranks:
        return 0
    _, counts = np.unique(list(log.hosts.values()), return_counts=True)
    return int(counts.max())


@dataclass(frozen=True)
class Shape:
    """On how many nodes a job ran, with how many ranks each, and how that is known."""

    nodes: int
    ppn: int
    why: str


def shape_of(log: DarshanLog, cores: int) -> Shape:
    """Return the nodes and ranks of a job; ``cores`` are those of a node of its machine.

    From the names of the nodes where the log has them for all ranks. Else from which ranks wrote
    for others: Cray's MPI-IO gives every node as many aggregators as the next, the first of its
    ranks. Else the nodes are taken to be full.
    """
    named, spaced = most_on_a_node(log), _from_aggregators(log, cores)
    if 0 < named <= cores:
        most, why = named, "the log names the node of every rank"
    elif spaced:
        most, why = spaced, "the aggregators' ranks tell the ranks of a node"
    else:
        most, why = cores, f"taken to be as full as {cores} cores allow"
    nodes, ppn = dealt(log.ranks, most)
    return Shape(nodes, ppn, why)


def dealt(ranks: int, most: int) -> tuple[int, int]:
    """Deal ranks to nodes, at most ``most`` to each: return nodes, and ranks on each.

    All nodes get equally many, if that does not take twice the nodes or more; else the last one
    gets fewer than the others.
    """
    most = min(ranks, most)
    ppn = next(part for part in range(most, 0, -1) if ranks % part == 0)
    if 2 * ppn <= most:
        ppn = -(-ranks // -(-ranks // most))
    return -(-ranks // ppn), ppn


def _from_aggregators(log: DarshanLog, cores: int) -> int:
    """Return the distance at which aggregators come in equal groups; 0 if they do not."""
    for number in np.unique(log.mpiio.number):
        mine = log.posix.take(log.posix.number == number)
        ranks = np.unique(mine.rank[(mine.rank >= 0) & (mine["WRITES"] + mine["READS"] > 0)])
        found = _period(ranks)
        if 0 < found <= cores and log.ranks % found == 0:
            return found
    return 0


def _period(ranks: Integers) -> int:
    """Return p if ranks are runs of one length that begin at 0, p, 2 p, ...; else 0."""
    begins = ranks[np.flatnonzero(np.diff(ranks, prepend=-2) > 1)]
    if len(begins) < 3 or begins[0] != 0 or len(ranks) % len(begins):
        return 0
    steps = np.diff(begins)
    return int(steps[0]) if (steps == steps[0]).all() else 0
