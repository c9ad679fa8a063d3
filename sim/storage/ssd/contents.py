"""What is on a local SSD: files, which of their bytes are dirty, and how all of it is lost.

A file takes *room* for every byte that was ever written, once. Which bytes those are is a list of
runs of each file (``FILE.room``); how many they are in all, the device counts (``SSD.used``).

When a device *fails*, what was on it is counted and gone, and whoever waited for it goes on. The
loss is no event of its own: a device knows when it fails, and whoever meets it first after that
calls :func:`lose`.
"""

from __future__ import annotations

import numpy as np

from xc40io.engine.compiled import entry, outlined
from xc40io.engine.component import Demands
from xc40io.engine.pool import NoRowLeftError
from xc40io.engine.queue import clear
from xc40io.engine.record import Column
from xc40io.engine.types import Indices, Integers
from xc40io.node.byte_lists import NO_END, add_bytes, bytes_outside, cut_bytes, new_list
from xc40io.node.page_cache import find_osc_object, inode_of, osc_object_of
from xc40io.node.pages import drop_cached
from xc40io.plane.fault_course import Course, Process, fault
from xc40io.plane.files import FILE, object_of
from xc40io.plane.programs import wake_all
from xc40io.storage.ssd.device import Ssds

PIECE = 1 << 20
"""Bytes that a writer copies between two looks at the dirty limit."""

FILE.add(__name__, Column("room", "i4"))  # the list of its bytes that take room on an SSD


@outlined
def count_dirty(ssds: Ssds, osc_object_id: int, size: int) -> None:
    """Count bytes of a file that have become dirty; negative: that are dirty no more."""
    osc_object = ssds.cache.osc_objects[osc_object_id]
    osc_object.outstanding += size
    ssds.cache.inodes[osc_object.inode].outstanding += size
    ssds.rows[osc_object.node].dirty += size


@outlined
def wake_synced(ssds: Ssds, osc_object_id: int, now: float) -> None:
    """Wake the programs that wait until a file is clean, if it is."""
    inode = ssds.cache.inodes[ssds.cache.osc_objects[osc_object_id].inode]
    if inode.outstanding == 0 and inode.flush_head >= 0:
        wake_all(ssds.programs, inode.flush_head, now)
        inode.flush_head = -1
        ssds.rows[ssds.cache.osc_objects[osc_object_id].node].urgent -= 1


def demands_of_placing(ssds: Ssds, files: int) -> Demands:
    """Return the rows that :func:`place` takes for so many files."""
    cache, byte_lists = ssds.cache, ssds.cache.byte_lists
    of_each = (cache.spare_osc_objects, cache.spare_inodes, byte_lists.spare_runs)
    lists = 3 * files  # of bytes cached, dirty, and with room
    return [(byte_lists.spare_lists, lists), *((pool, files) for pool in of_each)]


@entry(raises=NoRowLeftError)
def place(ssds: Ssds, files: Integers, nodes: Integers) -> None:
    """Put files on the SSDs of nodes; they take room for what they hold already."""
    byte_lists = ssds.cache.byte_lists
    for i in range(len(files)):
        file = ssds.files.rows[files[i]]
        inode_id = inode_of(ssds.cache, files[i], nodes[i])
        osc_object_id = osc_object_of(
            ssds.cache, object_of(ssds.files, files[i], 0), nodes[i], inode_id
        )
        ssds.cache.osc_objects[osc_object_id].dirty = new_list(byte_lists)
        file.room = new_list(byte_lists)
        if file.end > 0:
            ssds.rows[nodes[i]].used += add_bytes(byte_lists, file.room, 0, file.end)


@outlined
def has_room(ssds: Ssds, program_id: int) -> bool:
    """Tell whether the device has room for the piece that a program is to write."""
    program = ssds.programs.rows[program_id]
    room = ssds.files.rows[ssds.programs.operations[program.op].file].room
    stop = program.offset + program.left
    more = bytes_outside(ssds.cache.byte_lists, room, program.offset, stop)
    return ssds.rows[program.node].used + more <= ssds.limits.capacity


@outlined
def take_room(ssds: Ssds, program_id: int) -> None:
    """Take room on the device for the piece that a program is to write."""
    program = ssds.programs.rows[program_id]
    room = ssds.files.rows[ssds.programs.operations[program.op].file].room
    stop = program.offset + program.left
    more = add_bytes(ssds.cache.byte_lists, room, program.offset, stop)
    ssds.rows[program.node].used += more


@outlined
def cut_file(ssds: Ssds, file_id: int, node: int, start: int, now: float) -> None:
    """Give back the room of a file's bytes from ``start`` on; nobody writes back what is dirty."""
    file = ssds.files.rows[file_id]
    byte_lists = ssds.cache.byte_lists
    osc_object_id = find_osc_object(ssds.cache, object_of(ssds.files, file_id, 0), node)
    drop_cached(ssds.cache, osc_object_id, start, NO_END)
    freed = cut_bytes(byte_lists, file.room, start, NO_END)
    if not ssds.rows[node].gone:  # what was lost with the device takes no room any more
        ssds.rows[node].used -= freed
    dirty = ssds.cache.osc_objects[osc_object_id].dirty
    count_dirty(ssds, osc_object_id, -cut_bytes(byte_lists, dirty, start, NO_END))
    wake_synced(ssds, osc_object_id, now)


@outlined
def lose(ssds: Ssds, node: int, now: float) -> None:
    """Count what was on a device that has failed, once; wake whoever waits for it."""
    ssd = ssds.rows[node]
    if ssd.gone:
        return
    ssd.gone = 1
    ssd.lost_bytes = ssd.used
    ssd.used = 0
    osc_object_id = ssd.osc_objects.head
    while osc_object_id >= 0:
        osc_object = ssds.cache.osc_objects[osc_object_id]
        cut_bytes(ssds.cache.byte_lists, osc_object.dirty, 0, NO_END)
        osc_object.listed = 0
        _forget_dirty(ssds, osc_object_id, now)
        osc_object_id = osc_object.next
    if ssd.writing >= 0:  # its last pages may be under way, and it in no queue
        _forget_dirty(ssds, ssd.writing, now)
    clear(ssd.osc_objects)
    wake_all(ssds.programs, ssd.waiters.head, now)
    clear(ssd.waiters)
    ssd.dirty = 0


@outlined
def _forget_dirty(ssds: Ssds, osc_object_id: int, now: float) -> None:
    """Count no byte of a file as dirty any more, and wake those who wait for that."""
    ssds.cache.osc_objects[osc_object_id].outstanding = 0
    ssds.cache.inodes[ssds.cache.osc_objects[osc_object_id].inode].outstanding = 0
    wake_synced(ssds, osc_object_id, now)


@fault("SSD", "lost")
def fail(ssds: Ssds, course: Course) -> Process:
    """Let the SSD of a node of a job fail at its time: SSD 3 is that of node 3."""
    part, number = course.fault.part, course.fault.number
    if not course.fault.job and len(course.jobs) > 1:
        raise course.refusal(
            f"there are several jobs; right would be target: {{kind: ssd, lost: {{{number}: "
            f"{course.fault.begin:g}}}}} of the job that has it"
        )
    target = course.job().target
    if target != "ssd":
        raise course.refusal(f"the files are on {target}; right would be target: ssd")
    ssds.rows.lost_at[course.node()] = course.fault.begin
    yield course.begins()
    course.tell(f"{part} failed.")


def lost_bytes(ssds: Ssds, nodes: Indices, now: float) -> dict[int, int]:
    """Return the bytes of files that were on the SSDs of nodes when these failed, by node."""
    if not len(ssds.rows):
        return {}
    rows = ssds.rows[nodes]
    gone = np.flatnonzero(rows.lost_at <= now)
    lost = np.where(rows.gone, rows.lost_bytes, rows.used)[gone]
    return dict(zip(gone.tolist(), lost.tolist(), strict=True))
