"""Devices that fail: what was on one is counted and gone, and whoever waited for it goes on.

The loss is no event of its own: a device knows when it fails, and whoever meets it first after that
calls :func:`lose`.
"""

from __future__ import annotations

import numpy as np

from sim.engine.compiled import outlined
from sim.engine.queue import clear
from sim.engine.types import Indices
from sim.node.byte_lists import NO_END, cut_bytes
from sim.plane.faults import Course, Process, fault
from sim.plane.programs import wake_all
from sim.storage.ssd.device import Ssds
from sim.storage.ssd.dirty import wake_synced


@outlined
def lose(ssds: Ssds, node: int, now: float) -> None:
    """Count what was on a device that has failed, once; wake whoever waits for it."""
    ssd = ssds.rows[node]
    if ssd.gone:
        return
    ssd.gone = 1
    ssd.lost_bytes = ssd.used
    ssd.used = 0
    osc_object_id = ssd.osc_objects.head
    while osc_object_id >= 0:
        osc_object = ssds.cache.osc_objects[osc_object_id]
        cut_bytes(ssds.cache.byte_lists, osc_object.dirty, 0, NO_END)
        osc_object.listed = 0
        _forget_dirty(ssds, osc_object_id, now)
        osc_object_id = osc_object.next
    if ssd.writing >= 0:  # its last pages may be under way, and it in no queue
        _forget_dirty(ssds, ssd.writing, now)
    clear(ssd.osc_objects)
    wake_all(ssds.programs, ssd.waiters.head, now)
    clear(ssd.waiters)
    ssd.dirty = 0


@outlined
def _forget_dirty(ssds: Ssds, osc_object_id: int, now: float) -> None:
    """Count no byte of a file as dirty any more, and wake those who wait for that."""
    ssds.cache.osc_objects[osc_object_id].outstanding = 0
    ssds.cache.inodes[ssds.cache.osc_objects[osc_object_id].inode].outstanding = 0
    wake_synced(ssds, osc_object_id, now)


@fault("SSD", "lost")
def fail(ssds: Ssds, course: Course) -> Process:
    """Let the SSD of a node of a job fail at its time: SSD 3 is that of node 3."""
    part, number = course.fault.part, course.fault.number
    if not course.fault.job and len(course.jobs) > 1:
        raise course.refusal(
            f"there are several jobs; right would be target: {{kind: ssd, lost: {{{number}: "
            f"{course.fault.begin:g}}}}} of the job that has it"
        )
    target = course.job().target
    if target != "ssd":
        raise course.refusal(f"the files are on {target}; right would be target: ssd")
    ssds.rows.lost_at[course.node()] = course.fault.begin
    yield course.begins()
    course.tell(f"{part} failed.")


def lost_bytes(ssds: Ssds, nodes: Indices, now: float) -> dict[int, int]:
    """Return the bytes of files that were on the SSDs of nodes when these failed, by node."""
    if not len(ssds.rows):
        return {}
    rows = ssds.rows[nodes]
    gone = np.flatnonzero(rows.lost_at <= now)
    lost = np.where(rows.gone, rows.lost_bytes, rows.used)[gone]
    return dict(zip(gone.tolist(), lost.tolist(), strict=True))
