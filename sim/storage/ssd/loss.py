"""Devices that fail: what was on one is counted and gone, and whoever waited for it goes on.

The loss is no event of its own: whoever meets the device first after it has failed calls
:func:`lose`.
"""

from __future__ import annotations

from sim.engine.compiled import outlined
from sim.engine.queue import clear
from sim.node.byte_lists import NO_END, cut_bytes
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
