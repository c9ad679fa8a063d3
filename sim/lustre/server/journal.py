"""Journal commits: what makes written data safe, and what waiting for that costs.

A target (OST or MDT) has one running transaction at a time. A *commit* ends it and makes everything
durable that was written before the commit began. Who needs durability waits for a commit that
began late enough: for the one under way if its own write came before that began, else for the next
one, which begins when the one under way has ended, or at once. All who wait share it. Without
anybody asking, a target commits every few seconds (ext4's default is 5).

A commit of an OST is not alone at the array. It begins when all handles of its transaction are
closed, and a write holds one while it allocates blocks, for which ldiskfs may have to read bitmaps;
its own blocks, or the flush that fsync sends to the data disks where the journal has disks of its
own (ext4_sync_file), come behind the bulk that is there. So a commit takes what it takes at an idle
array (``journal_commit``), and before that what the array is busy with as it begins. An OST whose
commit takes no time is an ideal one: what it has written is durable.

The commit of an object that several nodes have written takes longer (``shared_commit``) if new
places of it have been written since the one before. Why is inferred: the blocks of an object are
mapped under one lock of its inode (i_data_sem), by one handle after another, and each place that is
new needs bitmaps; a node that writes in order comes to few new places, several nodes come to many.
Blocks are allocated for a RAID stripe at a time (ldiskfs, mballoc: stripe), so that small writes
which lie together begin a new place now and then only.

With asynchronous journals Lustre syncs an object whenever a write lock (PW or GROUP) on it is
cancelled (``sync_on_lock_cancel``; Lustre 2.7 ofd_dev.c, ofd_slc_set; tgt_handler.c,
tgt_blocking_ast), and on an OST_SYNC. If what the object holds is committed already, that is free.
Who else syncs the same object waits: see ``syncs``.
"""

from __future__ import annotations

import numpy as np

from xc40io.config.parts.lustre import Lustre
from xc40io.engine.compiled import inlined, njit, outlined
from xc40io.engine.component import Component
from xc40io.engine.record import Column
from xc40io.engine.types import Floats, Table, make_table
from xc40io.lustre.server.disks import Disks, backlog
from xc40io.plane.files import FILE, OBJECT, Files
from xc40io.plane.site import Site

JOURNAL = np.dtype(
    [
        ("durable", "f8"),  # all that was written before this is durable: start of an ended commit
        ("running_start", "f8"),  # the commit under way, or the latest one
        ("running_end", "f8"),
        ("next_start", "f8"),  # the commit after that, if someone waits for it
        ("next_end", "f8"),
        ("commits", "i8"),  # begun because someone waited
    ],
    align=True,
)

NEVER = -1.0
"""Time of the latest write of an object that was never written."""

FILE.add(__name__, Column("changed", "f8", idle=NEVER))  # when its metadata last changed (s)

OBJECT.add(
    __name__,
    Column("written", "f8", idle=NEVER),  # when its latest write was complete (s)
    Column("sought", "f8"),  # the write for whose commit its fsync waits: the latest as that began
    Column("writer", "i4", idle=-1),  # the obd whose write was complete last; -1: none yet
    Column("shared", "i4"),  # another one's came since the latest commit that was asked for began
    Column("fresh", "i8"),  # bytes written since such a commit began that had new places
)


class Journals(Component):
    """The journals of all targets."""

    files: Files
    disks: Disks
    rows: Table  # `JOURNAL` records: of the OSTs, then of the MDTs
    osts: int  # how many OSTs there are
    # float64 (2, OSTs): seconds of a commit at an idle array, of an object that one node has
    # written, and of one that several have. An OST that writes slower than the others commits
    # slower, too: it is the same array.
    ost_commit: Floats
    mdt_commit: float  # seconds of a commit
    commit_period: float  # seconds after which a target commits by itself
    piece: int  # bytes for which blocks of an object are allocated at a time

    @classmethod
    def build(cls, site: Site) -> Journals:
        """Return the journals of a machine, with nothing to commit."""
        lustre = site.machine.lustre
        return site.make(
            cls,
            rows=make_table(JOURNAL, lustre.osts + lustre.mds.mdts),
            osts=lustre.osts,
            ost_commit=_of_targets(lustre, site.part(Disks).seconds),
            mdt_commit=lustre.mds.journal_commit,
            commit_period=lustre.commit_period,
            piece=lustre.raid_stripe,
        )


def _of_targets(lustre: Lustre, seconds: Floats) -> Floats:
    """Return :func:`commit_seconds`, and the same of MDTs with data behind it."""
    mdts = np.full((2, lustre.data_mdts), lustre.mds.journal_commit)
    return np.concatenate([commit_seconds(lustre, seconds[:, : lustre.osts]), mdts], axis=1)


def commit_seconds(lustre: Lustre, seconds: Floats) -> Floats:
    """Return how long a commit takes at each OST when it is idle: float64 (2, OSTs), in seconds.

    The first row is for objects that one node has written, the second for objects that several
    have. ``seconds``, (2, OSTs), is what a byte takes to be read, and to be written.
    """
    idle = np.array([lustre.journal_commit, lustre.shared_commit])
    return np.outer(idle, lustre.ost_write_rate * seconds[1])


@outlined
def is_committed(journals: Journals, object_id: int, now: float) -> bool:
    """Tell whether all that has been written to an object is durable."""
    lustre_object = journals.files.objects[object_id]
    ost, written = lustre_object.ost, lustre_object.written
    if journals.ost_commit[0, ost] == 0.0 or written == NEVER:
        return True
    commit_periodically(
        journals.rows, ost, now, journals.ost_commit[0, ost], journals.commit_period
    )
    _catch_up(journals.rows, ost, now)
    return written <= journals.rows[ost].durable


@outlined
def object_committed(journals: Journals, object_id: int, now: float) -> float:
    """Return when to look again whether the data that an fsync of an object waits for is durable.

    ``now`` if it is. Else the end of a commit: of one that takes it in, or of the one under way.
    Only then does the next begin, and how long that takes depends on the load then.
    """
    lustre_object = journals.files.objects[object_id]
    ost, sought = lustre_object.ost, lustre_object.sought
    alone = journals.ost_commit[0, ost]
    commit_periodically(journals.rows, ost, now, alone, journals.commit_period)
    journal = journals.rows[ost]
    if sought > journal.running_start and now < journal.running_end:
        return journal.running_end
    longer = 1 if lustre_object.shared and lustre_object.fresh >= journals.piece else 0
    seconds = backlog(journals.disks, ost, now) + journals.ost_commit[longer, ost]
    begun = journal.commits
    done = committed_at(journals.rows, ost, sought, now, seconds)
    if journal.commits > begun:
        if longer or not lustre_object.shared:
            lustre_object.fresh = 0
        lustre_object.shared = 0
    return done


@inlined
def note_write(files: Files, object_id: int, obd: int, size: int, when: float) -> None:
    """Note when a write of an object was complete, and whether another node had written it."""
    lustre_object = files.objects[object_id]
    lustre_object.fresh += size
    lustre_object.written = max(lustre_object.written, when)
    if lustre_object.writer >= 0 and lustre_object.writer != obd:
        lustre_object.shared = 1
    lustre_object.writer = obd


@outlined
def file_committed(journals: Journals, file_id: int, now: float) -> float:
    """Return when the metadata of a file is durable on its MDT."""
    file = journals.files.rows[file_id]
    journal = journals.osts + file.mdt
    changed = file.changed
    if file.on_mdt:  # its first component is on the MDT, and committed with its metadata
        changed = max(changed, journals.files.objects[file.first_object].written)
    commit_periodically(journals.rows, journal, now, journals.mdt_commit, journals.commit_period)
    return committed_at(journals.rows, journal, changed, now, journals.mdt_commit)


@njit
def committed_at(journals: Table, target: int, written: float, now: float, seconds: float) -> float:
    """Return when data written at ``written`` is durable for someone who asks ``now``.

    Parameters
    ----------
    journals, target
        The journals, and whose is asked.
    written
        When the latest write was complete; ``NEVER`` if there was none.
    now
        The time, in seconds.
    seconds
        How long a commit takes.
    """
    journal = journals[target]
    _catch_up(journals, target, now)
    if written == NEVER or written <= journal.durable:
        return now
    if written <= journal.running_start:
        return journal.running_end
    if now >= journal.running_end:
        journal.running_start = now
        journal.running_end = now + seconds
        journal.commits += 1
        return journal.running_end
    if journal.next_start < journal.running_end:
        journal.next_start = journal.running_end
        journal.next_end = journal.running_end + seconds
        journal.commits += 1
    return journal.next_end


@njit
def _catch_up(journals: Table, target: int, now: float) -> None:
    """Begin and end the commits that are due by now."""
    journal = journals[target]
    if now >= journal.next_start and journal.next_start > journal.running_start:
        journal.durable = journal.running_start
        journal.running_start = journal.next_start
        journal.running_end = journal.next_end
    if now >= journal.running_end:
        journal.durable = journal.running_start


@njit
def commit_periodically(
    journals: Table, target: int, now: float, seconds: float, period: float
) -> None:
    """Account for the commits that a target makes by itself every ``period`` seconds.

    Called before anybody asks: if the latest multiple of the period has passed since the latest
    commit began, a commit began then; and one began at the multiple before that.
    """
    journal = journals[target]
    _catch_up(journals, target, now)
    start = np.floor(now / period) * period
    before = start - period
    if before + seconds <= now:
        journal.durable = max(journal.durable, before)
    if start > 0.0 and start > journal.running_end and start > journal.next_end:
        journal.running_start = start
        journal.running_end = start + seconds
        _catch_up(journals, target, now)
