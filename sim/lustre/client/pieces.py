"""Where calls are cut: at the stripes of the file, and at windows of the page cache."""

from __future__ import annotations

from typing import Any

from sim.engine.compiled import njit, outlined
from sim.node.page_cache import PageCache

_NO_END = 1 << 62


@njit
def stripe_left(file: Any, left: int) -> int:
    """Return where a call is cut that has so many bytes left of a stripe.

    In a file of one stripe object it is never cut (Lustre 2.7 lov_io.c, lov_io_rw_iter_init).
    """
    return left if file.stripe_count > 1 else _NO_END


@outlined
def next_window(cache: PageCache, offset: int) -> int:
    """Return where the window after the one of an offset begins."""
    return (offset // cache.rpc_size + 1) * cache.rpc_size


@outlined
def piece_of(cache: PageCache, offset: int, left: int) -> int:
    """Return how many of ``left`` bytes from an offset lie in its window and move together."""
    return min(left, next_window(cache, offset) - offset)
