"""Dirty pages of files on a local SSD: how many there are, and who waits until there are none."""

from __future__ import annotations

from sim.engine.compiled import outlined
from sim.plane.programs import wake_all
from sim.storage.ssd.device import Ssds

PIECE = 1 << 20
"""Bytes that a writer copies between two looks at the dirty limit."""


@outlined
def count_dirty(ssds: Ssds, osc_object_id: int, size: int) -> None:
    """Count bytes of a file that have become dirty; negative: that are dirty no more."""
    osc_object = ssds.cache.osc_objects[osc_object_id]
    osc_object.outstanding += size
    ssds.cache.inodes[osc_object.inode].outstanding += size
    ssds.rows[osc_object.node].dirty += size


@outlined
def wake_synced(ssds: Ssds, osc_object_id: int, now: float) -> None:
    """Wake the programs that wait until a file is clean, if it is."""
    inode = ssds.cache.inodes[ssds.cache.osc_objects[osc_object_id].inode]
    if inode.outstanding == 0 and inode.flush_head >= 0:
        wake_all(ssds.programs, inode.flush_head, now)
        inode.flush_head = -1
        ssds.rows[ssds.cache.osc_objects[osc_object_id].node].urgent -= 1
