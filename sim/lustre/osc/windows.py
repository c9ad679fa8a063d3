"""Windows that somebody waits for: how soon they go, and who hears that they are done.

A window is on its way from its first dirty byte, or from the request to read it, until its RPC is
done. A lock is cancelled when no window below it is on its way any more.
"""

from __future__ import annotations

from sim.engine.calendar import schedule
from sim.engine.jit import outlined
from sim.lustre.osc.channels import Osc, channel_of
from sim.node.page_cache import PageCache
from sim.node.windows import CALM, DIRTY, PRESSING, first_window, window_after
from sim.plane.events import LOCK_EVENT


@outlined
def raise_urgency(osc: Osc, view_id: int, start: int, stop: int, urgency: int) -> None:
    """Raise the urgency of a view's dirty windows between two offsets."""
    view = osc.cache.views[view_id]
    window_id = first_window(osc.cache, view_id, DIRTY, start)
    while window_id >= 0 and osc.cache.windows[window_id].low < stop:
        window = osc.cache.windows[window_id]
        if window.high > start and window.urgency < urgency:
            if window.urgency == CALM:  # an URGENT one is counted
                view.urgent += 1
            if urgency == PRESSING:
                view.pressing += 1
                osc.channels[channel_of(osc, view.node, view.object)].pressing += 1
            window.urgency = urgency
        window_id = window_after(osc.cache, window_id)


@outlined
def count_windows(
    cache: PageCache, view_id: int, state: int, start: int, stop: int
) -> tuple[int, int]:
    """Count the windows of a view in a state that have bytes between two offsets; add these up."""
    count = 0
    size = 0
    window_id = first_window(cache, view_id, state, start)
    while window_id >= 0 and cache.windows[window_id].index * cache.rpc_size < stop:
        window = cache.windows[window_id]
        if window.low < stop and window.high > start:
            count += 1
            size += window.bytes
        window_id = window_after(cache, window_id)
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
