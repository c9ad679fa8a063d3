"""Fsyncs of objects on an OSS: one after another, under the mutex of the object's inode.

Two things ask for one: a cancel of a write lock (PW or GROUP), and an OST_SYNC. Both look first
whether the latest write of the object is committed (Lustre 2.7.0 tgt_handler.c, tgt_sync); if so
they are done. Else they take the mutex of the object's inode and wait there for the journal:
osd-ldiskfs calls the fsync of the kernel, which holds the mutex until the commit has ended (Lustre
2.5.1 osd_handler.c, osd_object_sync, takes it itself; Linux 2.6.32 vfs_fsync_range; Linux 3.8
ext4_sync_file).

So syncs of one object go one after another, and each waits for a commit of its own as long as other
clients go on writing to the object: fsync waits for the latest transaction that has changed the
inode, whoever wrote. Syncs of different objects of an OST share the commits.
"""

from __future__ import annotations

import numpy as np

from xc40io.engine.calendar import schedule
from xc40io.engine.compiled import outlined
from xc40io.engine.component import Component, Demands
from xc40io.engine.network import Network
from xc40io.engine.pool import Pool, give, make_pool, take
from xc40io.engine.queue import TURN, UNTAKEN, pass_turn, take_turn
from xc40io.engine.record import Column
from xc40io.engine.types import Table, make_table
from xc40io.lustre.server.journal import Journals
from xc40io.plane.files import OBJECT, Files
from xc40io.plane.site import Site

SYNC = np.dtype(
    [
        ("next", "i4"),  # who takes the mutex after it
        ("kind", "i4"),  # of entity: the event by which it learns that it has the mutex
        ("entity", "i4"),
    ],
    align=True,
)

OBJECT.add(
    __name__,
    # who has its inode mutex on the OSS for an fsync, and who waits for it
    Column("syncing", TURN, idle=UNTAKEN),
)


class Syncs(Component):
    """The fsyncs of objects that have their inode's mutex, or wait for it."""

    network: Network
    files: Files
    journals: Journals
    # `SYNC` records; the mutex of an object, with the line before it, is `syncing` of `OBJECT`
    rows: Table
    spare_rows: Pool

    @classmethod
    def build(cls, site: Site) -> Syncs:
        """Return no syncs."""
        return site.make(cls, rows=make_table(SYNC, site.rows), spare_rows=make_pool(site.rows))

    def demands(self) -> Demands:
        """Return the row that a lock or a request takes to begin the sync of an object."""
        return [(self.spare_rows, 1)]


@outlined
def take_mutex(syncs: Syncs, object_id: int, kind: int, entity: int) -> bool:
    """Take the mutex of an object's inode for an entity; False if it has to wait.

    Then its event of this kind comes when it has the mutex.
    """
    lustre_object = syncs.files.objects[object_id]
    row = take(syncs.spare_rows)
    syncs.rows[row].kind = kind
    syncs.rows[row].entity = entity
    if take_turn(lustre_object.syncing, syncs.rows, row):
        give(syncs.spare_rows, row)
        lustre_object.sought = lustre_object.written
        return True
    return False


@outlined
def pass_mutex(syncs: Syncs, object_id: int, now: float) -> None:
    """Give the mutex of an object's inode up; the next in line has it."""
    lustre_object = syncs.files.objects[object_id]
    heir = pass_turn(lustre_object.syncing, syncs.rows)
    if heir >= 0:
        lustre_object.sought = lustre_object.written
        row = syncs.rows[heir]
        schedule(syncs.network.calendar, now, row.kind, row.entity)
        give(syncs.spare_rows, heir)
