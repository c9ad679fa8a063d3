"""osc_extents that somebody waits for: how soon they go, and who hears that they are done.

An extent is on its way from its first dirty byte, or from the request to read it, until its RPC is
done. A lock is cancelled when no extent below it is on its way any more.
"""

from __future__ import annotations

from xc40io.engine.calendar import schedule
from xc40io.engine.compiled import outlined
from xc40io.lustre.osc.lines import stand_in_line
from xc40io.lustre.osc.obds import Osc, obd_of
from xc40io.node.osc_extents import CALM, DIRTY, PRESSING, READING, first_extent
from xc40io.plane.registry import LOCK_EVENT


@outlined
def raise_urgency(
    osc: Osc, osc_object_id: int, start: int, stop: int, urgency: int
) -> tuple[int, int]:
    """Raise the urgency of an osc_object's dirty extents between two offsets.

    Returns how many extents are on their way there, either way, and the bytes to be written.
    """
    osc_object = osc.cache.osc_objects[osc_object_id]
    extent_id = first_extent(osc.cache, osc_object_id, start)
    count = 0
    size = 0
    while extent_id >= 0 and osc.cache.osc_extents[extent_id].place < stop:
        extent = osc.cache.osc_extents[extent_id]
        if extent.low < stop and extent.high > start:
            count += 1
            if extent.state != READING:
                size += extent.bytes
            if extent.state == DIRTY and extent.urgency < urgency:
                if extent.urgency == CALM:  # an URGENT one is counted
                    osc_object.urgent += 1
                if urgency == PRESSING:
                    osc_object.pressing += 1
                    osc.obds[obd_of(osc, osc_object_id)].pressing += 1
                extent.urgency = urgency
        extent_id = extent.next
    if osc_object.listed > 0:
        stand_in_line(osc, osc_object_id)
    return count, size


@outlined
def lower_urgency(osc: Osc, obd_id: int, extent_id: int) -> None:
    """Count a dirty extent, which is no longer to be sent, out of the urgent ones."""
    extent = osc.cache.osc_extents[extent_id]
    osc_object = osc.cache.osc_objects[extent.osc_object_id]
    if extent.urgency > CALM:
        osc_object.urgent -= 1
    if extent.urgency == PRESSING:
        osc_object.pressing -= 1
        osc.obds[obd_id].pressing -= 1


@outlined
def keep_from_cancel(osc: Osc, osc_object_id: int, low: int, high: int) -> None:
    """Delay the cancel of read locks until pages under way below them have come."""
    lock_id = osc.cache.osc_objects[osc_object_id].flushing
    while lock_id >= 0:
        lock = osc.locks.locks[lock_id]
        # At 0 its event is scheduled: too late to wait.
        if lock.start < high and lock.end >= low and lock.flush_left > 0:
            lock.flush_left += 1
        lock_id = lock.sibling


@outlined
def extent_done(osc: Osc, osc_object_id: int, low: int, high: int, now: float) -> None:
    """Count an extent as done for the locks that cover it and are to be cancelled.

    Schedules those that have waited for it alone.
    """
    lock_id = osc.cache.osc_objects[osc_object_id].flushing
    while lock_id >= 0:
        lock = osc.locks.locks[lock_id]
        if lock.start < high and lock.end >= low:
            lock.flush_left -= 1
            if lock.flush_left == 0:
                schedule(osc.network.calendar, now, LOCK_EVENT, lock_id)
        lock_id = lock.sibling
