"""On which nodes the job of a log ran: known, shown by its files and aggregators, or guessed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sim.config.errors import InputError
from sim.engine.types import Integers
from sim.workloads.darshan_log.counters import SHARED
from sim.workloads.darshan_log.log import DarshanLog


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

    From the names of the nodes where the log has them for all ranks; or for some, if no other
    number of ranks a node fits them. Else from which ranks wrote for others: Cray's MPI-IO gives
    every node as many aggregators as the next, the first of its ranks. Else it is a guess: the
    nodes are taken to be full.
    """
    named, spaced = most_on_a_node(log), _from_aggregators(log, cores)
    partly = 0 if named else fitting(nodes_shown(log), log.ranks, cores)
    if 0 < named <= cores:
        most, why = named, "the log names the node of every rank"
    elif partly:
        most, why = partly, f"it fits the {len(nodes_shown(log)):,} ranks whose node the log shows"
    elif spaced:
        most, why = spaced, "the aggregators' ranks tell the ranks of a node"
    else:
        most, why = cores, f"a guess: as full as {cores} cores allow"
    nodes, ppn = dealt(log.ranks, most)
    return Shape(nodes, ppn, why)


def nodes_shown(log: DarshanLog) -> dict[int, str]:
    """Return the nodes of ranks that the log names, or that stand in the names of their files.

    Libraries put the name of the node into those of their files on it (``/tmp/ompi.sn176.28751``):
    a word that looks like the name of a node that is known, with other figures.
    """
    found = {rank: host.partition(".")[0] for rank, host in log.hosts.items()}
    looks = {
        re.sub(r"\d", r"\\d", re.escape(host)) for host in found.values() if host[-1:].isdigit()
    }
    if not looks:
        return found
    pattern = re.compile(rf"(?<![A-Za-z0-9])({'|'.join(sorted(looks))})(?![A-Za-z0-9])")
    for number, rank in zip(log.posix.number.tolist(), log.posix.rank.tolist(), strict=True):
        named = set(pattern.findall(log.names.get(number, "")))
        if len(named) != 1:
            continue
        for one in range(log.ranks) if rank == SHARED else (rank,):
            found.setdefault(one, *named)
    return found


def fitting(nodes: Mapping[int, str], ranks: int, cores: int) -> int:
    """Return how many ranks a node had if some of them are known; 0 if more than one number fits.

    Ranks fill one node after the other. Of several numbers that fit, one that divides the ranks
    evenly goes before the others.
    """
    rank = np.array(list(nodes), np.int64)
    _, host = np.unique(np.array(list(nodes.values()), str), return_inverse=True)
    fit = []
    for each in range(1, min(cores, ranks) + 1):
        pairs = len(np.unique(rank // each * (len(rank) + 1) + host))
        if pairs == len(np.unique(rank // each)) == len(np.unique(host)):
            fit.append(each)
    for chosen in ([each for each in fit if ranks % each == 0], fit):
        if len(chosen) == 1:
            return chosen[0]
    return 0


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


def dealt_to(
    ranks: int,
    cores: int,
    nodes: int | None,
    ppn: int | None,
    *,
    option: str = "--",
    idle: bool = False,
) -> tuple[int, int]:
    """Return nodes and ranks on each: as typed, or as full as the cores allow.

    `option` is what stands before their names where they were typed; with `idle` there may be nodes
    without any rank.

    Raises
    ------
    InputError
        If the ranks cannot be dealt so.
    """
    if nodes is None and ppn is None:
        return dealt(ranks, cores)
    nodes = nodes or -(-ranks // (ppn or 1))
    ppn = ppn or -(-ranks // nodes)
    least = 0 if idle else (nodes - 1) * ppn
    if not least < ranks <= nodes * ppn:
        raise InputError(
            f"{option}nodes {nodes} with {option}ppn {ppn}: the job has {ranks:,} ranks; right "
            f"would be nodes and ranks on each that have room for {ranks:,}"
            f"{'' if idle else ', and leave no node without any'}"
        )
    return nodes, ppn


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
