"""Handles: what each client node has open at the MDS, and which names it knows.

All programs of a node that have a file open share one open handle of the MDS (Lustre 2.7
llite/file.c, ll_file_open and ll_md_real_close). So an open of what a neighbour has open costs no
RPC, and only the last of them that closes the file tells the MDS. A Darshan log of Theta shows it:
of the 64 closes of a node 63 take 0.1 ms, and one takes 0.7 to 1.0 ms.

A node that does not know the name looks it up first, under the mutex of the directory: those that
come meanwhile wait, and then find the file open. That takes each of them some microseconds of the
mutex, so that the ranks of a node come out of an open one after another. A node that knows the name
from before, but does not have the file open, has nothing to wait for: all that come before it is
open ask the MDS, one after another, and give back the handles that are too many. In the same log
the 64 opens of most nodes all end within 1.1 to 1.5 ms, 5 us apart, but those of the node that had
made the file follow each other 0.45 ms apart.

What it costs the MDS to give handles back is left out here, and reading and writing share a handle,
where Lustre has one for each.

A node knows a name while it has the lock of its entry (MDS_INODELOCK_LOOKUP), which comes with the
reply to an open, a create or a stat (Lustre 2.7 mdt_open.c, mdt_object_open_lock; mdt_handler.c,
mdt_getattr_name_lock). It knows the attributes too since it has asked for them, until they change.
Of such locks a node keeps as many for an MDT as unused ones for an OST, and gives up first what was
granted longest ago (ldlm_request.c, ldlm_cancel_lru). So who makes more files than that and then
looks at them knows none; nor does who looks at files that another node has made.
"""

from __future__ import annotations

import numpy as np

from xc40io.engine.compiled import outlined
from xc40io.engine.component import Component, Demands
from xc40io.engine.hashmap import HashMap, enlarge_map, find, make_map, pair_key, put
from xc40io.engine.pool import Pool, make_pool, take
from xc40io.engine.queue import LINK, QUEUE, append, clear_all, unlink
from xc40io.engine.record import Column
from xc40io.engine.types import Table, make_table
from xc40io.plane.files import FILE, Files
from xc40io.plane.programs import Programs
from xc40io.plane.site import Site

HANDLE = np.dtype(  # a file as one client node knows it from the MDS
    [
        ("looked", "f8"),  # when the node has asked for the attributes last; below 0: not known
        ("opens", "i4"),  # programs that have it open
        ("known", "i4"),  # which of the file's names the node knows, counted from 1; 0: none
        ("lister", "i4"),  # of a directory: the program whose statahead goes through it, or -1
        ("client", "i4"),  # the row of ``clients`` in whose list it is; -1: in none
        ("lru", LINK),  # its neighbours there
    ],
    align=True,
)

CLIENT = np.dtype(  # a client node at one MDT
    [
        ("names", QUEUE),  # the handles of which it has the lock of the name, oldest first
        ("count", "i4"),  # how many these are
    ],
    align=True,
)

FILE.add(__name__, Column("unlinks", "i4"))  # how often its name has been removed


class Handles(Component):
    """The open handles of all client nodes."""

    files: Files
    programs: Programs
    rows: Table  # `HANDLE` records, with the pool of the free ones
    spare_rows: Pool
    by_pair: HashMap  # the row of (file, node)
    clients: Table  # `CLIENT` records: of each node those for all MDTs
    mdts: int  # how many MDTs are in use
    most_names: int  # names of one MDT that a node knows at most

    @classmethod
    def build(cls, site: Site) -> Handles:
        """Return clients that have nothing open."""
        rows, lustre = site.few_rows, site.machine.lustre
        clients = make_table(CLIENT, site.nodes * lustre.mds.mdts)
        clear_all(clients.names)
        return site.make(
            cls,
            rows=make_table(HANDLE, rows),
            spare_rows=make_pool(rows),
            by_pair=make_map(2 * rows),
            clients=clients,
            mdts=lustre.mds.mdts,
            most_names=lustre.unused_locks_per_core * site.machine.nodes.cores,
        )

    def demands(self) -> Demands:
        """Return the most rows that an event takes: the handle of one file."""
        return [(self.spare_rows, 1)]

    def grow(self, name: str, rows: int) -> None:
        """Make the table longer, and the map with it."""
        super().grow(name, rows)
        self.by_pair = enlarge_map(self.by_pair, 2 * rows)


@outlined
def _handle_of(handles: Handles, program_id: int) -> int:
    """Return the row of a program's file on its node, made at the first use."""
    program = handles.programs.rows[program_id]
    key = pair_key(handles.programs.operations[program.op].file, program.node)
    row = find(handles.by_pair, key)
    if row < 0:
        row = take(handles.spare_rows)
        put(handles.by_pair, key, row)
        handles.rows[row].opens = 0
        handles.rows[row].known = 0
        handles.rows[row].lister = -1
        handles.rows[row].client = -1
        handles.rows[row].looked = -1.0
    return row


@outlined
def _name_of(handles: Handles, program_id: int) -> int:
    """Return the generation of the name of a program's file; each unlink starts a new one."""
    program = handles.programs.rows[program_id]
    return int(handles.files.rows[handles.programs.operations[program.op].file].unlinks + 1)


@outlined
def opened_by_neighbour(handles: Handles, program_id: int) -> bool:
    """Open a program's file with the handle of its node; False if the node has none."""
    handle = handles.rows[_handle_of(handles, program_id)]
    if handle.opens == 0:
        return False
    handle.opens += 1
    return True


@outlined
def knows_name(handles: Handles, program_id: int) -> bool:
    """Tell whether a program's node knows the name of its file."""
    handle = handles.rows[_handle_of(handles, program_id)]
    return bool(handle.known == _name_of(handles, program_id))


@outlined
def knows_attributes(handles: Handles, program_id: int) -> bool:
    """Tell whether a program's node knows the attributes of its file that the MDS has."""
    looked = handles.rows[_handle_of(handles, program_id)].looked
    file = handles.files.rows[
        handles.programs.operations[handles.programs.rows[program_id].op].file
    ]
    return bool(looked >= 0.0 and file.changed <= looked and knows_name(handles, program_id))


@outlined
def note_open(handles: Handles, program_id: int) -> None:
    """Note that the MDS has opened a program's file."""
    handles.rows[_handle_of(handles, program_id)].opens += 1
    _note_name(handles, program_id)


@outlined
def note_attributes(handles: Handles, program_id: int, now: float) -> None:
    """Note that the MDS has told a program's node of the attributes of its file."""
    _note_name(handles, program_id)
    handles.rows[_handle_of(handles, program_id)].looked = now


@outlined
def _note_name(handles: Handles, program_id: int) -> None:
    """Note that a program's node has the lock of its file's name; of too many drop the oldest."""
    row = _handle_of(handles, program_id)
    forget_name(handles, row)
    program, handle = handles.programs.rows[program_id], handles.rows[row]
    mdt = handles.files.rows[handles.programs.operations[program.op].file].mdt
    handle.known = _name_of(handles, program_id)
    handle.client = program.node * handles.mdts + mdt
    client = handles.clients[handle.client]
    append(client.names, handles.rows.lru, row)
    client.count += 1
    if client.count > handles.most_names:
        forget_name(handles, client.names.head)


@outlined
def forget_name(handles: Handles, row: int) -> None:
    """Give up the lock of the name of a handle, if it has one: name and attributes are unknown."""
    handle = handles.rows[row]
    handle.known = 0
    handle.looked = -1.0
    if handle.client >= 0:
        client = handles.clients[handle.client]
        unlink(client.names, handles.rows.lru, row)
        client.count -= 1
        handle.client = -1


@outlined
def closed_by_last(handles: Handles, program_id: int) -> bool:
    """Close a program's file; tell whether that was the last of its node.

    Who closes what nobody has opened, as in a log that begins later, is the last one.
    """
    handle = handles.rows[_handle_of(handles, program_id)]
    handle.opens = max(handle.opens - 1, 0)
    return bool(handle.opens == 0)


@outlined
def note_unlink(handles: Handles, program_id: int) -> None:
    """Note that the name of a program's file is gone: every node that knew it loses its lock.

    In the lists of the other nodes it keeps its place until it is the oldest.
    """
    forget_name(handles, _handle_of(handles, program_id))
    program = handles.programs.rows[program_id]
    handles.files.rows[handles.programs.operations[program.op].file].unlinks += 1


@outlined
def begin_listing(handles: Handles, program_id: int) -> bool:
    """Begin a program's statahead in a directory; False if a neighbour on the node has begun."""
    handle = handles.rows[_handle_of(handles, program_id)]
    if handle.lister >= 0 and handle.lister != program_id:
        return False
    handle.lister = program_id
    return True


@outlined
def end_listing(handles: Handles, program_id: int, directory: int) -> None:
    """End a program's statahead in a directory: others on its node may begin."""
    key = pair_key(directory, handles.programs.rows[program_id].node)
    row = find(handles.by_pair, key)
    if row >= 0 and handles.rows[row].lister == program_id:
        handles.rows[row].lister = -1
