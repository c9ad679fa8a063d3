"""What the page caches of a small plane hold."""

from __future__ import annotations

from pools import rows_in_use
from small_plane import SmallPlane


def cached_runs(plane: SmallPlane) -> list[tuple[int, int, int]]:
    """Return (view, start, stop) of every run of cached bytes."""
    tables, extents = plane.tables, plane.tables.extents
    runs = []
    for view in rows_in_use(tables.cache.spare_views).tolist():
        run = extents.order.heads[tables.cache.views.cached[view], 0]
        while run >= 0:
            runs.append((view, int(extents.runs[run].start), int(extents.runs[run].stop)))
            run = extents.order.next[run, 0]
    return runs
