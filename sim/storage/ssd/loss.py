"""Devices that fail: what was on one is counted and gone, and whoever waited for it goes on.

The loss is no event of its own: whoever meets the device first after it has failed calls
:func:`lose`.
"""

from __future__ import annotations

from sim.engine.compiled import outlined
from sim.engine.queue import clear
from sim.node.extents import NO_END, cut_bytes
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
    view_id = ssd.views.head
    while view_id >= 0:
        view = ssds.cache.views[view_id]
        cut_bytes(ssds.cache.extents, view.dirty, 0, NO_END)
        view.listed = 0
        _forget_dirty(ssds, view_id, now)
        view_id = view.next
    if ssd.writing >= 0:  # its last pages may be under way, and it in no queue
        _forget_dirty(ssds, ssd.writing, now)
    clear(ssd.views)
    wake_all(ssds.programs, ssd.waiters.head, now)
    clear(ssd.waiters)
    ssd.dirty = 0


@outlined
def _forget_dirty(ssds: Ssds, view_id: int, now: float) -> None:
    """Count nothing of a file as dirty any more, and wake who waits for that."""
    ssds.cache.views[view_id].outstanding = 0
    ssds.cache.inodes[ssds.cache.views[view_id].inode].outstanding = 0
    wake_synced(ssds, view_id, now)
