"""Room on a local SSD: a file takes it for every byte that was ever written, once.

Which bytes those are is a list of runs of each file (``FILE.room``); how many they are in all, the
device counts (``SSD.used``).
"""

from __future__ import annotations

from sim.engine.compiled import entry, outlined
from sim.engine.component import Demands
from sim.engine.pool import NoRowLeftError
from sim.engine.types import Integers
from sim.node.byte_lists import NO_END, add_bytes, bytes_outside, cut_bytes, new_list
from sim.node.page_cache import find_osc_object, inode_of, osc_object_of
from sim.node.pages import drop_cached
from sim.plane.files import object_of
from sim.storage.ssd.device import Ssds
from sim.storage.ssd.dirty import count_dirty, wake_synced


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
