"""What the extent locks and the page caches did in a run, counted (``--lustre-stats``)."""

from __future__ import annotations

from collections.abc import Mapping
from operator import itemgetter

from xc40io.plane.counters import Stat
from xc40io.telling.answer import Column, Table
from xc40io.telling.units import COUNTED, WORDS

_BYTES = frozenset(
    {
        Stat.FLUSHED_BYTES,
        Stat.HIT_BYTES,
        Stat.MISS_BYTES,
        Stat.AHEAD_BYTES,
        Stat.EVICTED_BYTES,
        Stat.EXCHANGED_BYTES,
        Stat.LOCAL_BYTES,
        Stat.THROTTLED_BYTES,
        Stat.NO_SPACE_BYTES,
        Stat.LOST_BYTES,
    }
)

MEANINGS = {
    Stat.ENQUEUES: ("lock enqueues", "requests to OSTs for an extent lock"),
    Stat.MATCHES: ("lock matches", "uses of a lock that the node held already"),
    Stat.BLOCKING_ASTS: ("blocking ASTs", "locks called back because another request waited"),
    Stat.CANCELS: ("lock cancels", "locks given back"),
    Stat.LRU_CANCELS: ("LRU cancels", "of these, unused ones beyond what a node keeps"),
    Stat.FLUSHED_BYTES: ("flushed below locks", "dirty data written before a lock was given back"),
    Stat.CANCEL_SYNCS: ("syncs on cancel", "cancels that waited for a journal commit"),
    Stat.GLIMPSES: ("glimpses", "questions to OSTs for the size of an object"),
    Stat.GLIMPSE_ASTS: ("glimpse ASTs", "of these, passed on to a node that wrote it"),
    Stat.MDS_SYNCS: ("MDS_SYNC", "fsync: requests to the MDS"),
    Stat.OST_SYNCS: ("OST_SYNC", "fsync: requests to OSTs, one for each object"),
    Stat.HIT_BYTES: ("cache hits", "read from the page cache of the node"),
    Stat.MISS_BYTES: ("cache misses", "read while the rank waited for the servers"),
    Stat.AHEAD_BYTES: ("read ahead", "asked for before a rank wanted it"),
    Stat.EVICTED_BYTES: ("evicted", "dropped from full page caches"),
    Stat.PARTIAL_STRIPES: ("partial RAID stripes", "write RPCs that filled such stripes in part"),
    Stat.HEAD_MOVES: ("head moves", "read RPCs for which the disks of an OST moved their heads"),
    Stat.EXCHANGED_BYTES: ("exchanged", "moved between ranks on different nodes"),
    Stat.LOCAL_BYTES: ("copied in nodes", "moved between ranks of one node"),
    Stat.THROTTLED_BYTES: ("throttled", "on local SSDs: waited for room among the dirty pages"),
    Stat.NO_SPACE_BYTES: ("refused", "not written for want of room (ENOSPC)"),
    Stat.LOST_BYTES: ("failed", "not read or written because an SSD was lost (EIO)"),
    Stat.LAYOUT_INTENTS: (
        "layout intents",
        "requests to the MDS for further components' objects",
    ),
    Stat.LAYOUT_FETCHES: ("layout fetches", "requests to the MDS for a layout that has changed"),
    Stat.LAYOUT_CANCELS: ("layout cancels", "layout locks given back for such a change"),
}
"""What each count is called, and what it counts, in the order in which they are printed."""

_OF_LAYOUTS = (Stat.LAYOUT_INTENTS, Stat.LAYOUT_FETCHES, Stat.LAYOUT_CANCELS)


_COLUMNS = (
    Column("count", WORDS, itemgetter(0)),
    Column("number", COUNTED, itemgetter(1), least=15),
    Column("meaning", WORDS, itemgetter(2)),
)


def lustre_table(stats: Mapping[Stat, int]) -> Table:
    """Return the name of each count, its number, and what it counts; sizes in MB."""
    composite = any(stats.get(one) for one in _OF_LAYOUTS)
    rows = [
        (label, (stats.get(stat, 0), stat in _BYTES), meaning)
        for stat, (label, meaning) in MEANINGS.items()
        if composite or stat not in _OF_LAYOUTS
    ]
    title = "Lustre's locks and page caches on all nodes (MB = 10^6 bytes)"
    return Table(_COLUMNS, lambda: rows, title=title, bare=True)


def lustre_counts(stats: Mapping[Stat, int]) -> dict[str, int]:
    """Return the counts by name, in lower case; sizes in bytes."""
    return {
        stat.name.lower(): stats.get(stat, 0)
        for stat in MEANINGS
        if stat not in _OF_LAYOUTS or stats.get(stat)
    }
