"""Lists of runs of bytes, each in ascending order and with gaps between the runs.

Which bytes of an object a node caches is such a list, which of them are dirty is another, and what
of a file takes room on a device is a third. A list knows nothing of what it is for.
"""

from __future__ import annotations

import numpy as np

from xc40io.engine.compiled import outlined
from xc40io.engine.component import Component
from xc40io.engine.ordered import (
    LOW,
    SortedLists,
    following,
    insert,
    last_not_after,
    make_heads,
    make_upper,
    remove,
)
from xc40io.engine.pool import Pool, enlarge_pool, give, make_pool, take
from xc40io.engine.types import Indices, Table, make_table
from xc40io.plane.site import Site

RUN = np.dtype(  # half a line of the cache: what is sorted, and by what, stands together
    [("start", "i8"), ("stop", "i8"), ("next", "i4", LOW), ("rest", "i8")], align=True
)

NO_END = 1 << 62
"""An offset beyond all files."""


class ByteLists(Component):
    """All lists of runs."""

    runs: Table  # `RUN` records, in bytes; `spare_runs` is the pool of free ones
    spare_runs: Pool
    spare_lists: Pool  # the pool of lists that nobody has taken
    order: SortedLists  # the runs of every list in ascending order

    @classmethod
    def build(cls, site: Site) -> ByteLists:
        """Return empty lists."""
        rows = site.rows
        runs = make_table(RUN, rows)
        return site.make(
            cls,
            runs=runs,
            spare_runs=make_pool(rows),
            spare_lists=make_pool(rows),
            order=_in_order(runs, make_upper(rows), make_heads(rows)),
        )

    def grow(self, name: str, rows: int) -> None:
        """Make room for more runs, or for more lists."""
        upper, heads = self.order.upper, self.order.heads
        if name == "runs":
            super().grow(name, rows)
            upper = make_upper(rows)
            upper[: len(self.order.upper)] = self.order.upper
        else:
            self.spare_lists = enlarge_pool(self.spare_lists, rows)
            heads = make_heads(rows)
            heads[: len(self.order.heads)] = self.order.heads
        self.order = _in_order(self.runs, upper, heads)


def _in_order(runs: Table, upper: Indices, heads: Indices) -> SortedLists:
    """Return sorted lists that are kept in the records of the runs; ``heads`` are their first."""
    return SortedLists(runs["next"], upper, heads, runs["start"])


@outlined
def new_list(byte_lists: ByteLists) -> int:
    """Take an empty list; it is kept for good, as files and their osc_objects are."""
    return take(byte_lists.spare_lists)


@outlined
def next_run(byte_lists: ByteLists, list_id: int, run_id: int) -> int:
    """Return the run after another one of a list, or -1; the first one for -1."""
    return following(byte_lists.order, list_id, run_id)


@outlined
def add_bytes(byte_lists: ByteLists, list_id: int, start: int, stop: int) -> int:
    """Add bytes to a list; runs that touch become one. Returns how many bytes were new."""
    added = stop - start
    before = last_not_after(byte_lists.order, list_id, start)
    if before >= 0 and byte_lists.runs[before].stop >= start:
        if byte_lists.runs[before].stop >= stop:
            return 0
        added -= byte_lists.runs[before].stop - start
        run_id = before
        byte_lists.runs[run_id].stop = stop
    else:
        run_id = _add_run(byte_lists, list_id, start, stop)
    after = following(byte_lists.order, list_id, run_id)
    while after >= 0 and byte_lists.runs[after].start <= stop:
        run = byte_lists.runs[after]
        added -= min(run.stop, stop) - run.start
        if run.stop > byte_lists.runs[run_id].stop:
            byte_lists.runs[run_id].stop = run.stop
        remove(byte_lists.order, list_id, after)
        give(byte_lists.spare_runs, after)
        after = following(byte_lists.order, list_id, run_id)
    return added


@outlined
def cut_bytes(byte_lists: ByteLists, list_id: int, start: int, stop: int) -> int:
    """Take bytes out of a list; return how many were in it."""
    if stop <= start:
        return 0
    dropped = 0
    run_id = last_not_after(byte_lists.order, list_id, start)
    if run_id < 0 or byte_lists.runs[run_id].stop <= start:
        run_id = following(byte_lists.order, list_id, run_id)
    while run_id >= 0 and byte_lists.runs[run_id].start < stop:
        after = following(byte_lists.order, list_id, run_id)
        first, last = byte_lists.runs[run_id].start, byte_lists.runs[run_id].stop
        dropped += min(last, stop) - max(first, start)
        # A run is sorted by its start and cannot move: what is left of it at its ends is new.
        remove(byte_lists.order, list_id, run_id)
        give(byte_lists.spare_runs, run_id)
        if first < start:
            _add_run(byte_lists, list_id, first, start)
        if last > stop:
            _add_run(byte_lists, list_id, stop, last)
        run_id = after
    return dropped


@outlined
def bytes_outside(byte_lists: ByteLists, list_id: int, start: int, stop: int) -> int:
    """Return the number of bytes between two offsets that are not in a list."""
    outside = stop - start
    run_id = last_not_after(byte_lists.order, list_id, start)
    if run_id < 0:
        run_id = following(byte_lists.order, list_id, run_id)
    while run_id >= 0 and byte_lists.runs[run_id].start < stop:
        run = byte_lists.runs[run_id]
        outside -= max(min(run.stop, stop) - max(run.start, start), 0)
        run_id = following(byte_lists.order, list_id, run_id)
    return outside


@outlined
def hull_outside(byte_lists: ByteLists, list_id: int, start: int, stop: int) -> tuple[int, int]:
    """Return the part of some bytes from the first to the last that is not in a list."""
    run_id = last_not_after(byte_lists.order, list_id, start)
    if run_id >= 0:
        start = max(start, min(byte_lists.runs[run_id].stop, stop))
    run_id = last_not_after(byte_lists.order, list_id, stop - 1)
    if run_id >= 0 and byte_lists.runs[run_id].stop >= stop:
        stop = max(start, byte_lists.runs[run_id].start)
    return start, stop


@outlined
def _add_run(byte_lists: ByteLists, list_id: int, start: int, stop: int) -> int:
    """Add a run that touches no other; return it."""
    run_id = take(byte_lists.spare_runs)
    byte_lists.runs[run_id].stop = stop
    insert(byte_lists.order, list_id, run_id, start)  # which says where it starts
    return run_id
