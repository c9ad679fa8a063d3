"""Which jobs of a queue begin now: first come, first served, with or without backfilling.

EASY backfilling (D. Lifka, The ANL/IBM SP Scheduling System, JSSPP 1995) promises one thing: the
job that has waited longest gets its nodes at the time at which, by what the running jobs have asked
for, enough of them are free, or before. Any other job may go first if it does not push that time
back: it has ended by then, or takes nodes that will be left over then. (The second condition, and
that candidates are looked at in the order of the queue: A. Mu'alem and D. Feitelson, IEEE TPDS
12(6), 2001.)
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple


class QueuedJob(NamedTuple):
    """A job in the queue: how many nodes it needs, and the seconds that it asks for."""

    name: str
    nodes: int
    walltime: float


class Running(NamedTuple):
    """A job that has nodes: how many, and when it is to be over by what it has asked for (s)."""

    nodes: int
    end: float


class Reservation(NamedTuple):
    """When the first job of the queue gets its nodes at the latest (s), and how many are left."""

    time: float
    left: int


def reservation_of(
    head: QueuedJob, free: int, running: Sequence[Running], now: float
) -> Reservation:
    """Return the reservation of the first job of the queue.

    Parameters
    ----------
    head
        The job; it needs more nodes than are free.
    free
        Nodes that are free now.
    running
        The jobs that have nodes. One that should be over is taken to be over at any moment.
    now
        The time in seconds.

    Raises
    ------
    ValueError
        If it needs more nodes than there are.
    """
    ends = sorted((max(job.end, now), job.nodes) for job in running)
    for time, given_back in groupby(ends, key=lambda one: one[0]):
        free += sum(nodes for _, nodes in given_back)
        if free >= head.nodes:
            return Reservation(time, free - head.nodes)
    raise ValueError(f"job {head.name} needs {head.nodes} nodes, more than there are")


def begin_now(
    queue: Sequence[QueuedJob],
    free: int,
    running: Sequence[Running],
    now: float,
    *,
    backfill: bool,
) -> list[QueuedJob]:
    """Return the jobs that begin now, in the order in which they do.

    Parameters
    ----------
    queue
        Those that wait, in the order in which they came.
    free
        Nodes that are free.
    running
        The jobs that have the others.
    now
        The time in seconds.
    backfill
        Whether later jobs may go before the first one that does not fit.
    """
    begun, at_work = [], list(running)
    for place, job in enumerate(queue):
        if job.nodes > free:
            if backfill:
                begun += _fill(queue[place:], free, at_work, now)
            break
        begun.append(job)
        at_work.append(Running(job.nodes, now + job.walltime))
        free -= job.nodes
    return begun


def _fill(
    queue: Sequence[QueuedJob], free: int, running: Sequence[Running], now: float
) -> list[QueuedJob]:
    """Return the jobs behind the first one that begin now, and do not delay it."""
    head, *others = queue
    promised = reservation_of(head, free, running, now)
    left, begun = promised.left, []
    for job in others:
        in_time = now + job.walltime <= promised.time
        if job.nodes <= free and (in_time or job.nodes <= left):
            begun.append(job)
            free -= job.nodes
            left -= 0 if in_time else job.nodes
    return begun
