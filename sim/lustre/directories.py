"""Directories as the kernel of a client node knows them: each has a mutex, that of its inode.

Who makes, removes or renames a name has the mutex of its directory from before the client asks the
MDS until the reply is there (Linux fs/namei.c: ``do_unlinkat``, ``filename_create``,
``lock_rename``, an open that may create). Before Linux 4.7 so has who looks a name up that the
node does not know (``lookup_slow``; commit 9902af79c01a let look-ups share a read lock). So one of
the programs of a node in one directory has a request under way at a time, whatever the mdc may
send; programs in other directories, and on other nodes, do not wait for it.

From Linux 4.7 on look-ups are taken to wait for nobody. There they still wait while a name is made
or removed, which is left out.
"""

from __future__ import annotations

import numpy as np

from xc40io.engine.compiled import njit, outlined
from xc40io.engine.component import Component, Demands
from xc40io.engine.hashmap import HashMap, enlarge_map, find, make_map, pair_key, put
from xc40io.engine.pool import Pool, make_pool, take
from xc40io.engine.queue import TURN, clear, take_turn
from xc40io.engine.record import Column
from xc40io.engine.types import Table, make_table
from xc40io.lustre.handles import Handles, knows_name
from xc40io.plane.files import FILE, Files
from xc40io.plane.operations import Op
from xc40io.plane.programs import PROGRAM, Programs, pass_on
from xc40io.plane.site import Site

_OPEN, _STAT = int(Op.OPEN), int(Op.STAT)
_CREATE, _UNLINK, _MKDIR, _RENAME = map(int, (Op.CREATE, Op.UNLINK, Op.MKDIR, Op.RENAME))

DIRECTORY = np.dtype([("mutex", TURN)], align=True)  # a directory on one client node

OWN = -1
"""The directory of a file that no other has: nobody waits for its mutex."""

FILE.add(
    __name__,
    Column("shared_directory", "i4"),  # its directory is also that of others' files
    Column("directory", "i4"),  # its number; below 0: no other file is there
)

PROGRAM.add(
    __name__,
    Column("directory", "i4"),  # 1 + the row of the one whose mutex it has, or waits for; 0: none
)


class Directories(Component):
    """The mutexes of the directories on all client nodes."""

    files: Files
    programs: Programs
    handles: Handles
    rows: Table  # `DIRECTORY` records, with the pool of the free ones
    spare_rows: Pool
    by_pair: HashMap  # the row of (directory, node)
    parallel_lookups: int  # whether look-ups need no mutex

    @classmethod
    def build(cls, site: Site) -> Directories:
        """Return directories in which nobody is."""
        rows = site.few_rows
        return site.make(
            cls,
            rows=make_table(DIRECTORY, rows),
            spare_rows=make_pool(rows),
            by_pair=make_map(2 * rows),
            parallel_lookups=int(site.machine.nodes.parallel_lookups),
        )

    def demands(self) -> Demands:
        """Return the most rows that an event takes: the directory of one file."""
        return [(self.spare_rows, 1)]

    def grow(self, name: str, rows: int) -> None:
        """Make the table longer, and the map with it."""
        super().grow(name, rows)
        self.by_pair = enlarge_map(self.by_pair, 2 * rows)


@njit
def changes(kind: int) -> bool:
    """Tell whether an operation changes what names a directory has."""
    return kind in (_CREATE, _UNLINK, _MKDIR, _RENAME)


@outlined
def _needs_mutex(directories: Directories, program_id: int) -> bool:
    """Tell whether a program's operation takes the mutex of its directory."""
    kind = directories.programs.operations[directories.programs.rows[program_id].op].kind
    if kind in (_OPEN, _STAT):
        return directories.parallel_lookups == 0 and not knows_name(directories.handles, program_id)
    return bool(changes(kind))


@outlined
def enter_directory(directories: Directories, program_id: int) -> bool:
    """Take the mutex of the directory of a program's file, if its operation needs that.

    False if the program waits for it: it has it when it is woken. It has it until
    :func:`leave_directory`.
    """
    program = directories.programs.rows[program_id]
    file = directories.programs.operations[program.op].file
    directory = directories.files.rows[file].directory
    if directory == OWN or not _needs_mutex(directories, program_id):
        return True
    key = pair_key(directory, program.node)
    row = find(directories.by_pair, key)
    if row < 0:
        row = take(directories.spare_rows)
        put(directories.by_pair, key, row)
        directories.rows[row].mutex.taken = 0
        clear(directories.rows[row].mutex.waiting)
    program.directory = 1 + row
    return take_turn(directories.rows[row].mutex, directories.programs.rows, program_id)


@outlined
def leave_directory(directories: Directories, program_id: int, now: float) -> None:
    """Give up the mutex of a directory, if a program has one; wake the next that waits for it."""
    program = directories.programs.rows[program_id]
    if program.directory > 0:
        row = program.directory - 1
        program.directory = 0
        pass_on(directories.programs, directories.rows[row].mutex, now)
