"""Where calls are cut besides at the stripes of the file: at windows of the page cache."""

from __future__ import annotations

from sim.engine.compiled import outlined
from sim.node.page_cache import PageCache


@outlined
def next_window(cache: PageCache, offset: int) -> int:
    """Return where the window after the one of an offset begins."""
    return (offset // cache.rpc_size + 1) * cache.rpc_size


@outlined
def piece_of(cache: PageCache, offset: int, left: int) -> int:
    """Return how many of ``left`` bytes from an offset lie in its window and move together."""
    return min(left, next_window(cache, offset) - offset)
