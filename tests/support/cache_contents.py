"""What the page caches of a small plane hold."""

from __future__ import annotations

from small_plane import SmallPlane


def cached_runs(plane: SmallPlane) -> list[tuple[int, int, int]]:
    """Return (view, start, stop) of every run of cached bytes."""
    tables = plane.tables
    runs = []
    for view in range(len(tables.cache.views)):
        run = tables.cache.cached.heads[view, 0]
        while run >= 0:
            runs.append((view, int(tables.cache.runs[run].start), int(tables.cache.runs[run].stop)))
            run = tables.cache.cached.next[run, 0]
    return runs
