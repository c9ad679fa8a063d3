"""Files as the data plane knows them, whatever keeps them, and where their bytes lie.

How a file is laid out is known here alone: ``chunk_at`` says in which object a byte lies,
``objects_of`` which objects a file has, the others where stripes and objects end. Today a layout is
RAID 0: stripes dealt to the objects in turn (:class:`xc40io.lustre.striping.Layout` is its value).
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import numpy as np

from xc40io.engine.compiled import inlined
from xc40io.engine.component import Component
from xc40io.engine.queue import QUEUE, TURN
from xc40io.engine.types import Indices, Integers, Table, make_table
from xc40io.plane.site import Site

_NO_END = 1 << 62


class Backend(IntEnum):
    """What keeps a file."""

    LUSTRE = 0
    SSD = 1  # the local SSD of one node
    DVS = 2  # service nodes: a burst buffer, or the home directories


FILE = np.dtype(
    [
        ("first_object", "i8"),  # its objects stand one after the other
        ("stripe_size", "i8"),  # bytes
        ("end", "i8"),  # bytes up to the end of the last write so far
        ("changed", "f8"),  # when its metadata last changed
        ("stripe_count", "i4"),  # its objects
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
        ("writer", "i4"),  # the obd whose write was complete last; -1: none yet
        ("shared", "i4"),  # another one's came since the latest commit that was asked for began
        ("fresh", "i8"),  # bytes written since such a commit began that had new places
        ("osc_objects", "i4"),  # the first of all nodes' osc_objects
        ("syncing", TURN),  # who has its inode mutex on the OSS for an fsync, and who waits for it
    ],
    align=True,
)


class Files(Component):
    """All files of all jobs."""

    rows: Table  # `FILE` records
    objects: Table  # `OBJECT` records: the parts of a file on different OSTs, file after file

    @classmethod
    def build(cls, site: Site) -> Files:
        """Return no files."""
        return site.make(cls, rows=make_table(FILE, 0), objects=make_table(OBJECT, 0))

    def lay_out(self, first: int, first_object: int, stripe_size: int, osts: Indices) -> None:
        """Give files, from the row ``first`` on, their objects on ``osts``, int32 (files, objects).

        The rows of the objects begin at ``first_object``; a stripe has so many bytes.
        """
        files, width = osts.shape
        rows = self.rows[first : first + files]
        rows.first_object = first_object + width * np.arange(files)
        rows.stripe_count = width
        rows.stripe_size = stripe_size
        self.objects.ost[first_object : first_object + osts.size] = osts.ravel()

    def span_of(self, first: int, count: int) -> tuple[int, int]:
        """Return the first object of files that were added together, and how many they have."""
        rows = self.rows[first : first + count]
        return int(rows.first_object[0]), int(rows.stripe_count.sum())

    def object_rows(self, files: Integers) -> Integers:
        """Return the objects of files with equally many: int64 (files, objects of each)."""
        width = int(self.rows.stripe_count[files[0]])
        first: Integers = self.rows.first_object[files]
        return first[:, None] + np.arange(width)

    def owners(self) -> tuple[Integers, Integers]:
        """Return the file of every object, and its index within the file: int64 (objects,) each."""
        first, count = np.asarray(self.rows.first_object), len(self.objects)
        file = np.repeat(np.arange(len(first)), np.diff(first, append=count))
        return file, np.arange(count) - first[file]


class Chunk(NamedTuple):
    """A part of a file that lies in one stripe."""

    object_id: int  # the stripe object
    offset: int  # where in the object it begins, in bytes
    left: int  # bytes from there to the end of the stripe


@inlined
def chunk_at(files: Files, file_id: int, start: int) -> Chunk:
    """Return the stripe chunk of a file at an offset (RAID 0 over the file's objects)."""
    file = files.rows[file_id]
    stripe = start // file.stripe_size
    inside = start - stripe * file.stripe_size
    row = stripe // file.stripe_count
    object_id = file.first_object + stripe - row * file.stripe_count
    return Chunk(object_id, row * file.stripe_size + inside, file.stripe_size - inside)


@inlined
def chunk_of_call(files: Files, file_id: int, start: int) -> Chunk:
    """Return the chunk to which a call turns at an offset.

    In a file of one stripe object a call is never cut (Lustre 2.7 lov_io.c, lov_io_rw_iter_init).
    """
    chunk = chunk_at(files, file_id, start)
    left = chunk.left if files.rows[file_id].stripe_count > 1 else _NO_END
    return Chunk(chunk.object_id, chunk.offset, left)


@inlined
def stripe_end(files: Files, file_id: int, start: int, stripes: int) -> int:
    """Return where a run of so many stripes ends, the first of which holds the byte ``start``."""
    size = files.rows[file_id].stripe_size
    return (start // size + stripes) * size


@inlined
def most_chunks(files: Files, file_id: int, length: int) -> int:
    """Return the most chunks that a run of so many bytes of a file is cut into."""
    return length // files.rows[file_id].stripe_size + 2


@inlined
def object_count(files: Files, file_id: int) -> int:
    """Return how many stripe objects a file has; a directory has none."""
    return files.rows[file_id].stripe_count


@inlined
def object_of(files: Files, file_id: int, index: int) -> int:
    """Return one of the stripe objects of a file."""
    return files.rows[file_id].first_object + index


@inlined
def objects_of(files: Files, file_id: int) -> range:
    """Return the stripe objects of a file, in the order of its stripes."""
    file = files.rows[file_id]
    return range(file.first_object, file.first_object + file.stripe_count)


@inlined
def object_end(files: Files, file_id: int, index: int, end: int) -> int:
    """Return where an object of a file ends, in bytes of the object, if the file ends at ``end``.

    That end may lie before, within or behind the object's part of the last row of stripes.
    """
    file = files.rows[file_id]
    row = end // (file.stripe_size * file.stripe_count)
    beyond = end - row * file.stripe_size * file.stripe_count
    inside = min(max(beyond - index * file.stripe_size, 0), file.stripe_size)
    return row * file.stripe_size + inside
