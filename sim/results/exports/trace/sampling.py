"""What of a run stands in a trace: all of a small one, an even sample of a large one."""

from __future__ import annotations

import numpy as np

from sim.engine.types import Integers
from sim.plane.recorder import Records
from sim.results.exports.machine_view import MachineView

MOST_EVENTS = 300_000
"""Events of a trace, about: what a browser shows without delay."""

_OF_RANKS = MOST_EVENTS // 2
_OF_RPCS = MOST_EVENTS // 3
_OF_REQUESTS = MOST_EVENTS - _OF_RANKS - _OF_RPCS
_AN_RPC = 8  # events of an RPC: slices at the client, the router and the OST, and four arrows' ends


def every(total: int, room: int) -> int:
    """Return the smallest n such that every n-th of so many fits into the room."""
    return max(-(-total // room), 1)


def sampled_rpcs(rpcs: Records) -> Records:
    """Return RPCs that have ended: all, or every n-th of them."""
    done = rpcs[np.isfinite(rpcs["ended"])]
    sample: Records = done[:: every(len(done), _OF_RPCS // _AN_RPC)]
    return sample


def sampled_requests(requests: Records) -> Records:
    """Return small requests that have ended: all, or every n-th of them."""
    done = requests[np.isfinite(requests["ended"])]
    sample: Records = done[:: every(len(done), _OF_REQUESTS)]
    return sample


def ranks_of(view: MachineView) -> Integers:
    """Return the programs that are ranks of jobs, and not threads of them: int64, ascending."""
    return np.flatnonzero((view.job_of_program >= 0) & (view.thread == 0))


def sampled_ranks(view: MachineView) -> Integers:
    """Return the ranks that are shown: all, or every n-th, with all that is recorded of each.

    Returns
    -------
    Integers
        int64: the programs of these ranks, ascending; one at least.
    """
    ranks = ranks_of(view)
    each = np.zeros(len(ranks), np.int64)
    place = np.searchsorted(ranks, np.arange(len(view.rank)), "right") - 1  # threads follow ranks
    for records in (view.recording.calls, view.recording.spans):
        own = view.of_jobs(records)
        each += np.bincount(place[own["program"]], minlength=len(ranks))
    step = every(int(each.sum()), _OF_RANKS)
    while step < len(ranks) and each[::step].sum() > _OF_RANKS:
        step += 1
    return ranks[:: min(step, len(ranks))]


def of_ranks(view: MachineView, records: Records, shown: Integers) -> Records:
    """Return the calls or spans of some ranks and their threads, the first ones if too many."""
    jobs_and_ranks = np.stack([view.job_of_program, view.rank])
    whole = np.isin(_keys(jobs_and_ranks), _keys(jobs_and_ranks[:, shown]))
    own: Records = records[whole[records["program"]] & (view.rank[records["program"]] >= 0)]
    return own[:_OF_RANKS]


def _keys(jobs_and_ranks: Integers) -> Integers:
    """Return a number for each pair of job and rank."""
    keys: Integers = jobs_and_ranks[0] * (1 << 32) + jobs_and_ranks[1]
    return keys
