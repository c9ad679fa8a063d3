"""Where in the file the calls of a record went, from the counters of its pattern.

Darshan counts the calls that began where the last one ended (*consecutive*), those that began
further on (*sequential*, the consecutive ones among them) and the most frequent gaps before them
(*strides*), and it keeps the last byte that was read and written.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from sim.engine.types import Integers


def offsets_of(
    sizes: Integers, *, consecutive: int, sequential: int, strides: Mapping[int, int], extent: int
) -> Integers:
    """Return the offsets of the calls of one rank, in their order.

    Parameters
    ----------
    sizes
        int64 (calls,): their bytes.
    consecutive, sequential
        How many of them began where the last one ended, and at that place or further on.
    strides
        The most frequent gaps, in bytes, and how often each occurred.
    extent
        Where the furthest call ended, in bytes.

    Returns
    -------
    int64 (calls,)
        Jumps ahead and jumps back to the first byte are spread evenly over the calls; gaps that are
        not known are alike, and as large as it takes to reach ``extent``.
    """
    calls = len(sizes)
    if calls == 0:
        return np.zeros(0, np.int64)
    consecutive = min(consecutive, calls - 1)
    first_ahead = sequential >= calls
    ahead = min(max(sequential - consecutive - first_ahead, 0), calls - 1 - consecutive)
    back = calls - 1 - consecutive - ahead
    jumps = _evenly(ahead + back, calls - 1) + 1
    is_back = np.zeros(len(jumps), bool)
    is_back[_evenly(back, len(jumps))] = True
    forward = jumps[~is_back]
    gaps, known = _gaps(calls, forward, strides)
    section = np.zeros(calls, np.int64)
    section[jumps[is_back]] = 1
    section = np.cumsum(section)
    offset = _reach(sizes, gaps, section, forward[~known], extent)
    return np.clip(offset, 0, np.maximum(extent - sizes, 0))


def _evenly(count: int, places: int) -> Integers:
    """Return which of so many places are taken when ``count`` are, evenly: int64 (count,)."""
    return (np.arange(count) * places) // max(count, 1)


def _gaps(
    calls: int, forward: Integers, strides: Mapping[int, int]
) -> tuple[Integers, np.ndarray[tuple[int], np.dtype[np.bool_]]]:
    """Return the gap before each call, and which jumps ahead have one that is known."""
    gaps = np.zeros(calls, np.int64)
    often = np.array(list(strides.values()), np.int64).clip(max=len(forward))  # damaged logs
    listed = np.repeat(np.array(list(strides), np.int64), often)[: len(forward)]
    gaps[forward[: len(listed)]] = listed
    return gaps, np.arange(len(forward)) < len(listed)


def _within_sections(sizes: Integers, gaps: Integers, section: Integers) -> Integers:
    """Return offsets that grow within each section, each of which begins anew at its first gap."""
    begins = np.flatnonzero(np.diff(section, prepend=-1))
    reached = np.cumsum(sizes + gaps) - sizes
    return reached - (reached - gaps)[begins][section]


def _reach(
    sizes: Integers, gaps: Integers, section: Integers, open_gaps: Integers, extent: int
) -> Integers:
    """Return offsets, with gaps that are not known so large that the last byte is reached.

    If there are none, all calls begin further on.
    """
    offset = _within_sections(sizes, gaps, section)
    ends = offset + sizes
    missing = extent - int(ends.max())
    if missing <= 0:
        return offset
    furthest = int(section[int(ends.argmax())])
    mine = open_gaps[section[open_gaps] == furthest]
    gaps = gaps.copy()
    if len(mine) == 0:
        gaps[np.flatnonzero(np.diff(section, prepend=-1))] += missing
    else:
        share, more = divmod(missing, len(mine))
        gaps[mine] += share
        gaps[mine[:more]] += 1
    return _within_sections(sizes, gaps, section)


def wrapped(position: Integers, sizes: Integers, extent: int) -> Integers:
    """Return positions in an endless repetition of a file as offsets into the file."""
    if extent <= 0:
        return np.zeros_like(position)
    offset = position % extent
    return np.clip(offset, 0, np.maximum(extent - sizes, 0))
