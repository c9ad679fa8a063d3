"""What the page caches of a small plane hold."""

from __future__ import annotations

from small_plane import SmallPlane

from xc40io.engine.pool import live_rows


def cached_runs(plane: SmallPlane) -> list[tuple[int, int, int]]:
    """Return (osc_object, start, stop) of every run of cached bytes."""
    tables, byte_lists = plane.tables, plane.tables.byte_lists
    runs = []
    for osc_object in live_rows(tables.cache.spare_osc_objects).tolist():
        run = byte_lists.order.heads[tables.cache.osc_objects.cached[osc_object], 0]
        while run >= 0:
            runs.append(
                (osc_object, int(byte_lists.runs[run].start), int(byte_lists.runs[run].stop))
            )
            run = byte_lists.order.next[run, 0]
    return runs
