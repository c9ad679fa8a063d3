"""Files as the data plane knows them, whatever keeps them, and where their bytes lie.

How a file is laid out is known here alone: ``chunk_at`` says in which object a byte lies,
``objects_of`` which objects a file has, the others where stripes and objects end
(:class:`xc40io.lustre.striping.Layout` is its value). A *plain* layout is RAID 0: stripes dealt to
the objects in turn. A *composite* one has components, each a RAID 0 over objects of its own for the
bytes from the end of the one before it. Stripes are counted from the begin of the file in all of
them, so that the objects of a later component begin with a hole (Lustre 2.12 lov_offset.c).

Objects of a component come with the first write that needs them (*instantiated*), and with them
those of all components before it (Lustre 2.12 lod_object.c, lod_declare_update_plain); those of the
first come with the file. Until then ``objects_of`` leaves them out.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from xc40io.engine.compiled import inlined, outlined
from xc40io.engine.component import Component
from xc40io.engine.queue import TURN, clear_all
from xc40io.engine.record import Column, Record
from xc40io.engine.types import Indices, Integers, Table, enlarge_table, make_table
from xc40io.plane.site import Site

_NO_END = 1 << 62
_GENERATION = 2  # of the layout of a new file that has its folder's (Lustre manual, PFL)


class Backend(IntEnum):
    """What keeps a file."""

    LUSTRE = 0
    SSD = 1  # the local SSD of one node
    DVS = 2  # service nodes: a burst buffer, or the home directories


FILE = Record(
    Column("first_object", "i8"),  # its objects stand one after the other
    Column("stripe_size", "i8"),  # bytes
    Column("end", "i8"),  # bytes up to the end of the last write so far
    Column("stripe_count", "i4"),  # its objects
    Column("composite", "i4"),  # 1 + its row of ``composites``; 0: its layout is plain
    Column("mdt", "i4"),
    Column("on_mdt", "i4"),  # its first object is there (DoM)
    Column("direct", "i4"),  # opened with O_DIRECT
    Column("backend", "i4"),  # a Backend
)

OBJECT = Record(Column("ost", "i4"))

COMPOSITE = np.dtype(  # a composite layout
    [
        ("laid_out", "i8"),  # bytes up to the end of the last component that has its objects
        ("first_part", "i4"),  # its components stand one after the other
        ("parts", "i4"),  # how many
        ("instantiated", "i4"),  # how many of them have their objects
        ("generation", "i4"),  # how often it has changed (lcm_layout_gen)
        ("holders", "i4"),  # the first inode that holds the file's layout lock
        ("lock", TURN),  # of a request that takes the layout lock, or changes the layout
    ],
    align=True,
)

PART = np.dtype(  # a component of composite layouts that are alike
    [
        ("end", "i8"),  # one past its last byte
        ("stripe_size", "i8"),  # bytes
        ("first_object", "i4"),  # the index of its first object among those of the file
        ("stripe_count", "i4"),  # its objects
    ],
    align=True,
)


class Shape(NamedTuple):
    """A component of a composite layout, of many files that are alike."""

    end: int
    stripe_size: int
    stripe_count: int


class Files(Component):
    """All files of all jobs."""

    rows: Table  # `FILE` records
    objects: Table  # `OBJECT` records: the parts of a file on different OSTs, file after file
    composites: Table  # `COMPOSITE` records: of the files that have more than one component
    parts: Table  # `PART` records

    @classmethod
    def build(cls, site: Site) -> Files:
        """Return no files."""
        return site.make(
            cls,
            rows=FILE.table(0),
            objects=OBJECT.table(0),
            composites=make_table(COMPOSITE, 0),
            parts=make_table(PART, 0),
        )

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

    def add_parts(self, shapes: Sequence[Shape]) -> int:
        """Add the components of composite layouts that are alike; return the row of the first."""
        first = len(self.parts)
        self.parts = enlarge_table(self.parts, first + len(shapes))
        added, widths = self.parts[first:], [shape.stripe_count for shape in shapes]
        added.end = [shape.end for shape in shapes]
        added.stripe_size = [shape.stripe_size for shape in shapes]
        added.stripe_count = widths
        added.first_object = np.cumsum([0, *widths[:-1]])
        return first

    def compose(
        self, first: int, count: int, *, composite: int, part: int, parts: int, size: int
    ) -> None:
        """Make the layouts of files composite, after :meth:`lay_out` has given them all objects.

        ``composite`` and ``part`` are the first rows of their layouts and of the components. Those
        in which a file of ``size`` bytes lies are instantiated, and the first.
        """
        rows = self.rows[first : first + count]
        rows.composite = 1 + composite + np.arange(count)
        shapes = self.parts[part : part + parts]
        ready = 1 + int((shapes.end[:-1] < size).sum())
        rows.stripe_size = shapes.stripe_size.min()
        rows.stripe_count = shapes.stripe_count[:ready].sum()
        layouts = self.composites[composite : composite + count]
        layouts.first_part, layouts.parts = part, parts
        layouts.instantiated = ready
        layouts.laid_out = shapes.end[ready - 1]
        layouts.generation = _GENERATION
        layouts.holders = -1
        layouts.lock = 0
        clear_all(layouts.lock.waiting)

    def span_of(self, first: int, count: int) -> tuple[int, int]:
        """Return the first object of files that were added together, and how many they have."""
        width = self.width(first)
        return int(self.rows.first_object[first]), count * width

    def width(self, file: int) -> int:
        """Return the objects of a file, with those that are not instantiated yet."""
        row = self.rows[file]
        if row.composite == 0:
            return int(row.stripe_count)
        layout = self.composites[row.composite - 1]
        last = self.parts[layout.first_part + layout.parts - 1]
        return int(last.first_object + last.stripe_count)

    def object_rows(self, files: Integers) -> Integers:
        """Return the objects of files with equally many: int64 (files, objects of each)."""
        width = self.width(int(files[0]))
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
    if file.composite > 0:
        object_id, offset, left = _chunk_of_part(files, file_id, start)
        return Chunk(object_id, offset, left)
    stripe = start // file.stripe_size
    inside = start - stripe * file.stripe_size
    row = stripe // file.stripe_count
    object_id = file.first_object + stripe - row * file.stripe_count
    return Chunk(object_id, row * file.stripe_size + inside, file.stripe_size - inside)


@outlined
def part_at(files: Files, file_id: int, start: int) -> int:
    """Return the component of a composite layout that a byte lies in."""
    part = files.composites[files.rows[file_id].composite - 1].first_part
    while files.parts[part].end <= start:
        part += 1
    return int(part)


@outlined
def _chunk_of_part(files: Files, file_id: int, start: int) -> tuple[int, int, int]:
    """Return what the chunk of a file with a composite layout at an offset is made of."""
    part = files.parts[part_at(files, file_id, start)]
    stripe = start // part.stripe_size
    inside = start - stripe * part.stripe_size
    row = stripe // part.stripe_count
    index = part.first_object + stripe - row * part.stripe_count
    left = min(part.stripe_size - inside, part.end - start)
    return files.rows[file_id].first_object + index, row * part.stripe_size + inside, left


@inlined
def chunk_of_call(files: Files, file_id: int, start: int) -> Chunk:
    """Return the chunk to which a call turns at an offset.

    In one stripe object a call is never cut, but at the end of a component (Lustre 2.7 and 2.12
    lov_io.c, lov_io_rw_iter_init).
    """
    chunk = chunk_at(files, file_id, start)
    if files.rows[file_id].composite > 0:
        part = files.parts[part_at(files, file_id, start)]
        left = chunk.left if part.stripe_count > 1 else part.end - start
    else:
        left = chunk.left if files.rows[file_id].stripe_count > 1 else _NO_END
    return Chunk(chunk.object_id, chunk.offset, left)


@outlined
def is_laid_out(files: Files, file_id: int, end: int) -> bool:
    """Tell whether all components have their objects that the bytes of a file up to an end need."""
    composite = files.rows[file_id].composite
    return composite == 0 or end <= files.composites[composite - 1].laid_out


@outlined
def instantiate(files: Files, file_id: int, end: int) -> int:
    """Give a file the objects that its bytes up to an end need; return the index of the first.

    From there to :func:`object_count` they are new.
    """
    file = files.rows[file_id]
    before = int(file.stripe_count)
    layout = files.composites[file.composite - 1]
    if layout.laid_out < end:
        layout.generation += 1
    while layout.laid_out < end:
        part = files.parts[layout.first_part + layout.instantiated]
        layout.instantiated += 1
        layout.laid_out = part.end
        file.stripe_count = part.first_object + part.stripe_count
    return before


@inlined
def stripe_end(files: Files, file_id: int, start: int, stripes: int) -> int:
    """Return where a run of so many stripes ends, the first of which holds the byte ``start``."""
    size = files.rows[file_id].stripe_size
    return (start // size + stripes) * size


@inlined
def most_chunks(files: Files, file_id: int, length: int) -> int:
    """Return the most chunks that a run of so many bytes of a file is cut into.

    ``stripe_size`` is the shortest of a composite layout.
    """
    file = files.rows[file_id]
    components = 0
    if file.composite > 0:
        components = files.composites[file.composite - 1].parts
    return length // file.stripe_size + 2 + components


@inlined
def object_count(files: Files, file_id: int) -> int:
    """Return the number of stripe objects of a file by now; a directory has none."""
    return files.rows[file_id].stripe_count


@inlined
def ost_object_count(files: Files, file_id: int) -> int:
    """Return the number of a file's objects on OSTs by now: all but the one on its MDT."""
    file = files.rows[file_id]
    return file.stripe_count - file.on_mdt


@inlined
def ost_objects_of(files: Files, file_id: int) -> range:
    """Return the objects that a file has on OSTs by now."""
    file = files.rows[file_id]
    return range(file.first_object + file.on_mdt, file.first_object + file.stripe_count)


@inlined
def is_on_mdt(files: Files, file_id: int, object_id: int) -> bool:
    """Tell whether an object of a file is the one on its MDT."""
    file = files.rows[file_id]
    return file.on_mdt == 1 and object_id == file.first_object


@inlined
def object_of(files: Files, file_id: int, index: int) -> int:
    """Return one of the stripe objects of a file."""
    return files.rows[file_id].first_object + index


@inlined
def objects_of(files: Files, file_id: int) -> range:
    """Return the stripe objects that a file has by now, in the order of its stripes."""
    file = files.rows[file_id]
    return range(file.first_object, file.first_object + file.stripe_count)


@inlined
def object_end(files: Files, file_id: int, index: int, end: int) -> int:
    """Return where an object of a file ends, in bytes of the object, if the file ends at ``end``.

    That end may lie before, within or behind the object's part of the last row of stripes.
    """
    file = files.rows[file_id]
    if file.composite > 0:
        return _end_in_part(files, file_id, index, end)
    return end_in_object(file.stripe_size, file.stripe_count, index, end)


@inlined
def end_in_object(stripe_size: int, stripe_count: int, index: int, end: int) -> int:
    """Return where an object of a RAID 0 ends that has the bytes of a file up to ``end``."""
    row = end // (stripe_size * stripe_count)
    beyond = end - row * stripe_size * stripe_count
    inside = min(max(beyond - index * stripe_size, 0), stripe_size)
    return row * stripe_size + inside


@outlined
def _end_in_part(files: Files, file_id: int, index: int, end: int) -> int:
    """Return the same of an object of a composite layout; ``index`` counts over all components."""
    number = files.composites[files.rows[file_id].composite - 1].first_part
    begin = 0
    while index >= files.parts[number].first_object + files.parts[number].stripe_count:
        begin = files.parts[number].end
        number += 1
    part = files.parts[number]
    inside = min(max(end, begin), part.end)
    return end_in_object(part.stripe_size, part.stripe_count, index - part.first_object, inside)
