"""Windows that somebody waits for: how soon they go, and who hears that they are done.

A window is on its way from its first dirty byte, or from the request to read it, until its RPC is
done. A lock is cancelled when no window below it is on its way any more.
"""

from __future__ import annotations

from sim.engine.calendar import schedule
from sim.engine.compiled import outlined
from sim.lustre.osc.channels import Osc, channel_of
from sim.node.windows import CALM, DIRTY, PRESSING, READING, first_window
from sim.plane.events import LOCK_EVENT


@outlined
def raise_urgency(osc: Osc, view_id: int, start: int, stop: int, urgency: int) -> tuple[int, int]:
    """Raise the urgency of a view's dirty windows between two offsets.

    Returns how many windows are on their way there, either way, and the bytes to be written.
    """
    view = osc.cache.views[view_id]
    window_id = first_window(osc.cache, view_id, start)
    count = 0
    size = 0
    while window_id >= 0 and osc.cache.windows[window_id].place < stop:
        window = osc.cache.windows[window_id]
        if window.low < stop and window.high > start:
            count += 1
            if window.state != READING:
                size += window.bytes
            if window.state == DIRTY and window.urgency < urgency:
                if window.urgency == CALM:  # an URGENT one is counted
                    view.urgent += 1
                if urgency == PRESSING:
                    view.pressing += 1
                    osc.channels[channel_of(osc, view_id)].pressing += 1
                window.urgency = urgency
        window_id = window.next
    return count, size


@outlined
def lower_urgency(osc: Osc, channel_id: int, window_id: int) -> None:
    """Count a dirty window, which is no longer to be sent, out of the urgent ones."""
    window = osc.cache.windows[window_id]
    view = osc.cache.views[window.view_id]
    if window.urgency > CALM:
        view.urgent -= 1
    if window.urgency == PRESSING:
        view.pressing -= 1
        osc.channels[channel_id].pressing -= 1


@outlined
def keep_from_cancel(osc: Osc, view_id: int, low: int, high: int) -> None:
    """Keep read locks from being cancelled before bytes have come that another lock covers too."""
    lock_id = osc.cache.views[view_id].flushing
    while lock_id >= 0:
        lock = osc.locks.locks[lock_id]
        # At 0 its event is scheduled: too late to wait.
        if lock.start < high and lock.end >= low and lock.flush_left > 0:
            lock.flush_left += 1
        lock_id = lock.sibling


@outlined
def window_done(osc: Osc, view_id: int, low: int, high: int, now: float) -> None:
    """Count a window as done for the locks above it that are to be cancelled.

    Schedules those that have waited for it alone.
    """
    lock_id = osc.cache.views[view_id].flushing
    while lock_id >= 0:
        lock = osc.locks.locks[lock_id]
        if lock.start < high and lock.end >= low:
            lock.flush_left -= 1
            if lock.flush_left == 0:
                schedule(osc.network.calendar, now, LOCK_EVENT, lock_id)
        lock_id = lock.sibling
