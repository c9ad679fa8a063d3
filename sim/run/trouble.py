"""What went wrong in a run: bytes that did not get where the job wanted them."""

from __future__ import annotations

import numpy as np

from sim.config.units import format_bytes
from sim.engine.types import Indices, Integers
from sim.machine.plane import Plane
from sim.plane.programs import FAILED, REFUSED
from sim.workloads.job_results import Trouble
from topology.text import format_count

_WHERE = {
    "ssd": "the SSD of its node",
    "bb": "the allocation of the burst buffer",
    "home": "the home file system",
}


def troubles_of(plane: Plane, refused: Integers, nodes: Indices, kind: str) -> tuple[Trouble, ...]:
    """Return what went wrong in a job whose files were on a target of this kind.

    Parameters
    ----------
    plane
        The data plane.
    refused
        int64 (ranks, 2): bytes that found no room, and bytes of lost devices.
    nodes
        int32 (nodes,): the job's nodes in the data plane.
    kind
        Of the target.
    """
    found = []
    if full := int(refused[:, REFUSED].sum()):
        who = int(np.count_nonzero(refused[:, REFUSED]))
        text = (
            f"ENOSPC: {format_count(who, 'rank')} found no room for {format_bytes(full)} on "
            f"{_WHERE.get(kind, kind)}; these bytes were not written."
        )
        found.append(Trouble("ENOSPC", full, who, text))
    if failed := int(refused[:, FAILED].sum()):
        who = int(np.count_nonzero(refused[:, FAILED]))
        why = (
            "an OST had evicted the node; IOR itself would have ended there"
            if kind == "lustre"
            else "the SSD of the node was lost"
        )
        text = (
            f"EIO: {format_count(who, 'rank')} could not read or write {format_bytes(failed)}, "
            f"because {why}."
        )
        found.append(Trouble("EIO", failed, who, text))
    if gone := plane.lost_bytes(nodes):
        lost = sum(gone.values())
        text = (
            f"LOST: {format_bytes(lost)} of files were on SSDs when these failed (of the job's "
            f"{_nodes(list(gone))})."
        )
        found.append(Trouble("LOST", lost, 0, text))
    dropped = plane.lost_dirty[nodes]
    if lost := int(dropped.sum()):
        text = (
            f"LOST: {format_bytes(lost)} were dirty when OSTs evicted their client (of the job's "
            f"{_nodes(np.flatnonzero(dropped).tolist())}), and were never written; fsync or close "
            "would have said EIO."
        )
        found.append(Trouble("LOST", lost, 0, text))
    return tuple(found)


def _nodes(numbers: list[int]) -> str:
    """Return what some nodes of a job are called."""
    some = ", ".join(map(str, numbers[:4]))
    return f"nodes {some}" + (" and others" if len(numbers) > 4 else "")
