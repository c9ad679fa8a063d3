"""Files as the data plane knows them, whatever keeps them."""

from __future__ import annotations

from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from sim.engine.compiled import inlined
from sim.engine.component import Component
from sim.engine.queue import QUEUE, TURN
from sim.engine.types import Table, make_table
from sim.plane.site import Site


class Backend(IntEnum):
    """What keeps a file."""

    LUSTRE = 0
    SSD = 1  # the local SSD of one node
    DVS = 2  # service nodes: a burst buffer, or the home directories


FILE = np.dtype(
    [
        ("first_object", "i8"),
        ("stripe_size", "i8"),
        ("end", "i8"),  # bytes up to the end of the last write so far
        ("changed", "f8"),  # when its metadata last changed
        ("stripe_count", "i4"),
        ("mdt", "i4"),
        ("direct", "i4"),  # opened with O_DIRECT
        ("no_expand", "i4"),  # its locks are granted as asked for (LOCKNOEXPAND)
        ("flock_held", "i4"),  # programs that hold ranges of its bytes
        ("flock_waiting", QUEUE),  # and those that wait for one
        ("shared_directory", "i4"),  # its directory is also that of others' files
        ("backend", "i4"),  # a Backend
        ("node", "i4"),  # on a local SSD: the node whose it is, or -1 before its first use
        ("room", "i4"),  # on a local SSD: the list of its bytes that take room there
        ("unlinks", "i4"),  # how often its name has been removed
        ("volume", "i4"),  # behind service nodes: which allocation it takes room of
    ],
    align=True,
)

OBJECT = np.dtype(
    [
        ("written", "f8"),  # when its latest write was complete (s)
        ("sought", "f8"),  # the write for whose commit its fsync waits: the latest as that began
        ("ost", "i4"),
        ("writer", "i4"),  # the channel whose write was complete last; -1: none yet
        ("shared", "i4"),  # another one's came since the latest commit that was asked for began
        ("fresh", "i8"),  # bytes written since such a commit began that had new places
        ("views", "i4"),  # the first of all nodes' views
        ("syncing", TURN),  # who has its inode mutex on the OSS for an fsync, and who waits for it
    ],
    align=True,
)


class Files(Component):
    """All files of all jobs.

    Attributes
    ----------
    rows
        ``FILE`` records.
    objects
        ``OBJECT`` records: the parts of a file on different OSTs, file after file.
    """

    rows: Table
    objects: Table

    @classmethod
    def build(cls, site: Site) -> Files:
        """Return no files."""
        return site.make(cls, rows=make_table(FILE, 0), objects=make_table(OBJECT, 0))


class Chunk(NamedTuple):
    """A part of a file that lies in one stripe.

    Attributes
    ----------
    object_id
        The stripe object.
    offset
        Where in the object it begins, in bytes.
    left
        Bytes from there to the end of the stripe.
    """

    object_id: int
    offset: int
    left: int


@inlined
def chunk_at(file: Any, start: int) -> Chunk:
    """Return the stripe chunk of a file at an offset (RAID 0 over the file's objects)."""
    stripe = start // file.stripe_size
    inside = start - stripe * file.stripe_size
    row = stripe // file.stripe_count
    object_id = file.first_object + stripe - row * file.stripe_count
    return Chunk(object_id, row * file.stripe_size + inside, file.stripe_size - inside)
