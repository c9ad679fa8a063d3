"""The order of collective calls: one that agrees with that of every rank."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter

import numpy as np

from sim.config.errors import InputError
from sim.engine.types import Integers


def order_of(rank: Integers, call: Integers, names: Integers, place: str) -> Integers:
    """Return the place of each collective call in an order that all ranks keep: int64 (calls,).

    Parameters
    ----------
    rank
        int64 (n,), ascending: who takes part,
    call
        int64 (n,): in which call, counted from 0, each rank's in its order.
    names
        int64 (calls,): what the trace calls them, for the error message.
    place
        The trace, for the error message.

    Raises
    ------
    InputError
        If two ranks make the same calls in different orders: they would wait for each other for
        ever.
    """
    calls = len(names)
    same = rank[1:] == rank[:-1]
    before, after = call[:-1][same], call[1:][same]
    if (before < after).all():
        return np.arange(calls)
    edges = np.unique(before * calls + after)
    sorter: TopologicalSorter[int] = TopologicalSorter(dict.fromkeys(range(calls), ()))
    for edge in edges.tolist():
        sorter.add(edge % calls, edge // calls)
    try:
        order = np.array(list(sorter.static_order()), np.int64)
    except CycleError as error:
        cycle = [int(names[number]) for number in error.args[1][:2]]
        named = " and ".join(f"coll = {name}" if name >= 0 else "a barrier" for name in cycle)
        raise InputError(
            f"{place}: {named} come in different orders at different ranks, which would wait for "
            "each other for ever; right would be collective calls in the same order at every rank"
        ) from None
    position = np.empty(calls, np.int64)
    position[order] = np.arange(calls)
    return position
