"""What the page caches of a small plane hold."""

from __future__ import annotations

from small_plane import SmallPlane

from xc40io.engine.pool import live_rows
from xc40io.node.byte_lists import next_run


def cached_runs(plane: SmallPlane) -> list[tuple[int, int, int]]:
    """Return (osc_object, start, stop) of every run of cached bytes."""
    tables, byte_lists = plane.tables, plane.tables.byte_lists
    runs = []
    for osc_object in live_rows(tables.cache.spare_osc_objects).tolist():
        cached = int(tables.cache.osc_objects.cached[osc_object])
        run = next_run(byte_lists, cached, -1)
        while run >= 0:
            runs.append(
                (osc_object, int(byte_lists.runs[run].start), int(byte_lists.runs[run].stop))
            )
            run = next_run(byte_lists, cached, run)
    return runs
