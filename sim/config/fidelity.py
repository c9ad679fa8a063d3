"""A coarser machine: several bulk RPCs handled as one, for runs that move terabytes.

A run of 16 TiB has 17 million RPCs of 1 MiB. Where consecutive ones of one transfer are handled as
one, the run takes a fraction of the time, and its results become a little less true: whatever
depends on the size of an RPC happens in larger steps. It is off unless a scenario asks for it, and
every result that used it says so.
"""

from __future__ import annotations

import math

from sim.config.errors import InputError
from sim.config.machine import Machine

_LEAST_IN_FLIGHT = 2
"""RPCs of an OSC: with one alone, network and disks would never work at the same time."""


def coarser(machine: Machine, rpcs: int) -> Machine:
    """Return a machine whose bulk RPCs stand for several each.

    Parameters
    ----------
    machine
        What is to be made coarser.
    rpcs
        RPCs that one stands for; 1 changes nothing.

    Returns
    -------
    Machine
        RPCs and LNET messages are longer, fewer are in flight, each costs the OST the overhead of
        all, and the variation of services is that of the mean of so many.

    Raises
    ------
    InputError
        If such an RPC would be larger than what a client may hold dirty for an OST.
    """
    if rpcs == 1:
        return machine
    lustre = machine.lustre
    if rpcs * lustre.rpc_size > lustre.max_dirty:
        raise InputError(
            f"rpcs_as_one = {rpcs} makes RPCs of {rpcs * lustre.rpc_size >> 20} MiB, more than a "
            f"client may hold dirty for an OST (lustre.max_dirty); right would be at most "
            f"{lustre.max_dirty // lustre.rpc_size}"
        )
    return machine.with_changes(
        {
            "lustre.rpc_size": rpcs * lustre.rpc_size,
            "lnet.message_size": rpcs * machine.lnet.message_size,
            "lustre.max_rpcs_in_flight": max(
                _LEAST_IN_FLIGHT, math.ceil(lustre.max_rpcs_in_flight / rpcs)
            ),
            "lustre.ost_request_overhead": rpcs * lustre.ost_request_overhead,
            "lustre.ost_jitter": lustre.ost_jitter / math.sqrt(rpcs),
            "lustre.grant_chunk": rpcs * lustre.grant_chunk,
            "lustre.readahead_step": rpcs * lustre.readahead_step,
        }
    )
