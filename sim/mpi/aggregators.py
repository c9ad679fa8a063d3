"""Which ranks aggregate: how many, on which nodes, in which order of their file domains."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from xc40io.config.errors import InputError
from xc40io.engine.types import Indices, Integers
from xc40io.lustre.striping import Layout
from xc40io.mpi.communicator import host_name
from xc40io.mpi.hints import Hints
from xc40io.mpi.known_hints import EVERYBODY, parse_config_list


def choose_aggregators(
    node: Indices, hints: Hints, layout: Layout, library: str, *, reading: bool = False
) -> Integers:
    """Choose the ranks that write and read for the others in collective calls.

    Stripe ``s`` of the file belongs to aggregator ``s mod n`` of the n that are returned, so n is
    a multiple or a divisor of the stripe count: an aggregator never changes the OSTs that it
    accesses (ROMIO's ad_lustre; Cray's ``cb_align=2``).

    Parameters
    ----------
    node
        int32 (ranks,): the compute node of the machine on which each rank runs; nodes may hold
        different numbers of ranks.
    hints
        What is in force for the file.
    layout
        Of the file: over how many OSTs it is striped.
    library
        ``cray``: ``cb_nodes`` (the stripe count, unless told otherwise) times
        ``cray_cb_nodes_multiplier``, dealt round-robin over the nodes, lowest ranks first, as a
        512-rank run on Theta shows. ``romio``: at most ``cb_nodes`` ranks, host by host as
        ``cb_config_list`` says.
    reading
        ROMIO reads in even parts of what is read, and so with all the ranks that
        ``cb_config_list`` yields; for Cray's library it makes no difference.

    Returns
    -------
    int64 (aggregators,)
        Their ranks, in the order of their file domains; at least one.

    Raises
    ------
    InputError
        If ``cb_config_list`` leaves no rank.
    """
    job = _Job(np.asarray(node))
    if library == "cray":
        return _place_on_cray(job, hints, layout.stripe_count)
    return _place_by_romio(job, hints, layout.stripe_count, reading=reading)


def left_out(node: Indices, hints: Hints) -> list[str]:
    """Return the names of nodes, of int32 (ranks,), that ``cb_config_list`` leaves out.

    A rank of theirs cannot open a file by itself under ROMIO.
    """
    job = _Job(np.unique(node))
    allowed = [hosts for hosts, limit in job.parts(hints.cb_config_list) if limit]
    return [job.names[host] for host in np.setdiff1d(job.host, np.concatenate([[], *allowed]))]


def fit_to_stripes(available: int, stripe_count: int, per_stripe: int | None = None) -> int:
    """Return the number of ``available`` aggregators used for a file of ``stripe_count``.

    Parameters
    ----------
    available, stripe_count
        More than zero.
    per_stripe
        Most aggregators for one stripe object (``romio_lustre_co_ratio``); no limit without it.

    Returns
    -------
    int
        The largest multiple of the stripe count that there are aggregators for; if they are fewer
        than stripes, the largest divisor of it (ROMIO, ADIOI_LUSTRE_Get_striping_info).
    """
    if available >= stripe_count:
        multiple = available // stripe_count
        return stripe_count * (multiple if per_stripe is None else min(multiple, per_stripe))
    return max(n for n in range(1, available + 1) if stripe_count % n == 0)


@dataclass(frozen=True, eq=False)
class _Job:
    """The ranks as the placement sees them: hosts in the order of their lowest ranks."""

    node: Indices  # int32 (ranks,): the node of each rank

    @cached_property
    def _found(self) -> tuple[Indices, Integers]:
        """Nodes in the order of their lowest ranks, and int64 (ranks,): the host of each rank."""
        nodes, first, index = np.unique(self.node, return_index=True, return_inverse=True)
        order = np.argsort(first, kind="stable")
        number = np.empty(len(nodes), np.int64)
        number[order] = np.arange(len(nodes))
        return nodes[order], number[index.reshape(-1)]

    @property
    def host(self) -> Integers:
        """int64 (ranks,): the host of each rank."""
        return self._found[1]

    @cached_property
    def names(self) -> list[str]:
        """The hosts' names."""
        return [host_name(int(node)) for node in self._found[0]]

    @cached_property
    def size(self) -> Integers:
        """int64 (hosts,): ranks on each host."""
        return np.bincount(self.host).astype(np.int64)

    @cached_property
    def local(self) -> Integers:
        """int64 (ranks,): how many ranks of the same host come before each."""
        order = np.argsort(self.host, kind="stable")
        local = np.empty(len(order), np.int64)
        local[order] = np.arange(len(order)) - np.repeat(
            np.cumsum(self.size) - self.size, self.size
        )
        return local

    def parts(self, config_list: str) -> list[tuple[Integers, int]]:
        """Return hosts, int64, with the limit of each, in the order of the list's entries."""
        left = np.ones(len(self.names), bool)
        parts = []
        for entry in parse_config_list(config_list):
            named = entry.host == "*" or np.array([entry.host == name for name in self.names])
            hosts = np.flatnonzero(left & named)
            left[hosts] = False
            parts.append((hosts, len(self.node) if entry.ranks == EVERYBODY else entry.ranks))
        return parts

    def refusal(self, config_list: str) -> InputError:
        """Return the error if a list leaves no rank."""
        first, last = min(self.names), max(self.names)
        hosts = first if first == last else f"{first} to {last}"
        return InputError(
            f"cb_config_list={config_list}: it leaves no rank that could aggregate; "
            f"right would be *:1, *:*, or a list of hosts among the job's, {hosts}"
        )


def _place_on_cray(job: _Job, hints: Hints, stripe_count: int) -> Integers:
    """Deal aggregators over the nodes: one on each, then a second on each, lowest ranks first."""
    limit = np.zeros(len(job.names), np.int64)
    for hosts, ranks in job.parts(hints.cb_config_list):
        limit[hosts] = ranks
    room = np.minimum(job.size, limit)
    if not room.any():
        raise job.refusal(hints.cb_config_list)
    wanted = (hints.cb_nodes or stripe_count) * hints.cray_cb_nodes_multiplier
    count = fit_to_stripes(min(wanted, int(room.sum())), stripe_count)
    usable = np.flatnonzero(room)
    turn = np.zeros(len(room), np.int64)
    turn[usable] = _turns(len(usable), count, hints.aggregator_placement_stride)
    candidates = np.flatnonzero(job.local < room[job.host])
    order = np.lexsort((turn[job.host[candidates]], job.local[candidates]))
    return candidates[order[:count]]


def _turns(nodes: int, aggregators: int, stride: int | None) -> Integers:
    """Return int64 (nodes,): when it is the turn of each node to get an aggregator.

    With a stride, every so many nodes get one, and beyond the last node it goes on with the next
    that has none. -1 makes the stride as large as it can be, so that the aggregators are spread
    over all nodes (intro_mpi, MPICH_MPIIO_AGGREGATOR_PLACEMENT_STRIDE).
    """
    if stride is None or stride == -1:
        stride = max(1, nodes // aggregators)
    turn = np.arange(nodes)
    lap = nodes // math.gcd(nodes, stride)  # turns until the first node would come again
    chosen = (turn * stride + turn // lap) % nodes
    order = np.empty(nodes, np.int64)
    order[chosen] = turn
    return order


def _place_by_romio(job: _Job, hints: Hints, stripe_count: int, *, reading: bool) -> Integers:
    """Take ranks host by host, in the order and up to the limits of ``cb_config_list``."""
    wanted = min(hints.cb_nodes or len(job.node), len(job.node))
    if hints.cb_config_list == "*:*":  # a case of its own in ROMIO: it does not go by hosts
        chosen = np.arange(wanted)
    else:
        parts = job.parts(hints.cb_config_list)
        chosen = np.concatenate([_ranks_of(job, hosts, limit) for hosts, limit in parts])[:wanted]
    if not len(chosen):
        raise job.refusal(hints.cb_config_list)
    if reading:
        return chosen
    return chosen[: fit_to_stripes(len(chosen), stripe_count, hints.romio_lustre_co_ratio)]


def _ranks_of(job: _Job, hosts: Integers, limit: int) -> Integers:
    """Return the lowest ``limit`` ranks of each of some hosts, host by host."""
    ranks = np.flatnonzero(np.isin(job.host, hosts) & (job.local < limit))
    return ranks[np.argsort(job.host[ranks], kind="stable")]
