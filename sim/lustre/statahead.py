"""Statahead: attributes of the next entries, for a process that lists a directory and stats them.

``ls -l`` reads the names of a directory and asks for the attributes of each. Where the first name
that a process stats is the first entry of the directory that it has open, its client starts a
*statahead thread*, which asks the MDT for the entries behind that one (Lustre llite/statahead.c,
do_statahead_enter). A stat that finds its entry there is a *hit*: it costs no RPC, and waits at
most for the reply that is under way. Whoever stats another name first gets no thread.

The thread may have ``sai_max`` entries ahead of the process: 2 at first, twice as many after each
hit, up to ``statahead_max``. A name that it has not asked for is a *miss*. It stops after 9 misses
in a row, or if from the 8th hit on less than 4 of 5 are hits (sa_low_hit), and at the close of the
directory (ll_stop_statahead). Its RPCs count among those that the mdc may have under way, and it
waits for a place among the programs of its node (mdc_enter_request).

When the attributes are there, the client asks every stripe object for its size, too (asynchronous
glimpse lock, AGL; cl_agl). The OST gives no such lock where a node has one for writing, and asks
nobody: then the stat itself has to ask for the size, as it has to where somebody has begun to write
since, or nobody has asked (``statahead_agl`` off). What has been renamed or removed since is asked
of the MDT again.

One process of a node goes through a directory with statahead at a time (lli_opendir_pid). Names
that neither has read yet are read by whoever comes there first; here it is always the process that
has to wait for them. What it has learned this way it knows for one stat: attributes are not cached
otherwise.
"""

from __future__ import annotations

import numpy as np

from xc40io.engine.calendar import schedule
from xc40io.engine.compiled import njit, outlined
from xc40io.engine.component import Component, Demands
from xc40io.engine.network import serve
from xc40io.engine.pool import Pool, give, make_pool, take
from xc40io.engine.queue import QUEUE, clear, join, leave
from xc40io.engine.types import Table, make_table
from xc40io.lustre.handles import begin_listing, end_listing, note_attributes
from xc40io.lustre.mds import (
    Mds,
    end_operation,
    has_objects,
    mdc_of,
    metadata,
    pass_place,
    takes_place,
    writer_of,
)
from xc40io.lustre.requests import (
    GLIMPSE,
    MDS_OPERATION,
    may_send,
    record_request,
    send_to_objects,
)
from xc40io.lustre.states import AWAITS, HAS_ATTRIBUTES, REACHED, SIZED
from xc40io.plane.causes import Cause
from xc40io.plane.counters import Stat
from xc40io.plane.files import Backend, object_count, object_of, ost_objects_of
from xc40io.plane.operations import Op
from xc40io.plane.programs import charge, wake
from xc40io.plane.registry import (
    ENTRY_EVENT,
    FULL,
    GO_ON,
    GONE,
    STATAHEAD_EVENT,
    on_event,
    performs,
)
from xc40io.plane.site import Site

_STAT, _GLIMPSES = int(Op.STAT), int(Stat.GLIMPSES)
_METADATA, _MDS = int(Cause.METADATA), int(Cause.MDS)

_FIRST_AHEAD = 2  # entries: LL_SA_RPC_MIN
_OMITTED = 8  # entries behind ``ahead_max`` where an old one is forgotten: SA_OMITTED_ENTRY_MAX
_MISSES_IN_A_ROW = 8  # more of them stop a thread, and so do ...
_ENOUGH_HITS = 7  # ... more hits than these that are ...
_HITS_A_MISS = 4  # ... fewer than so many times the misses

# States of a listing.
OFF = 0  # no directory is open whose entries could be asked for ahead -> LISTED
LISTED = 1  # has names, none looked at: the first of them -> RUNNING, another -> REFUSED
RUNNING = 2  # has a thread: too many misses -> STOPPED
STOPPED = 3  # has none any more, but what it has asked for
REFUSED = 4  # gets none before the directory is opened anew; all of them end with the close -> OFF

# States of an entry: where it is, what happens next -> what may follow.
_QUEUED = 0  # the thread waits for a place among the RPCs of the mdc -> _ASKED
_ASKED = 1  # the request comes to the MDT -> _ANSWERED
_ANSWERED = 2  # the reply comes to the client: glimpses -> _GLIMPSED; or none -> _KNOWN
_GLIMPSED = 3  # glimpses come to the OSSs, object after object -> _SIZING
_SIZING = 4  # their replies come to the client -> _KNOWN
_KNOWN = 5  # all that was asked for is there: nothing more happens

LISTING = np.dtype(  # of a program: the directory that it lists (ll_statahead_info)
    [
        ("directory", "i4"),  # the file that stands for it
        ("state", "i4"),
        ("first", "i4"),  # its first entry
        ("stop", "i4"),  # one past its last entry
        ("upcoming", "i4"),  # the entry that the thread asks for next
        ("ahead_max", "i4"),  # most entries ahead (sai_max)
        ("cached", "i4"),  # entries asked for that the program has not come to yet
        ("entries", QUEUE),  # these, in their order
        ("waiting", "i4"),  # the entry for which the thread waits for a place, or -1
        ("awake", "i4"),  # whether the thread is about to act
        ("awaited", "i4"),  # the entry that the program waits for, or -1
        ("hits", "i4"),
        ("misses", "i4"),
        ("misses_in_a_row", "i4"),
    ],
    align=True,
)

ENTRY = np.dtype(  # asked for ahead (sa_entry)
    [
        ("sent", "f8"),
        ("served", "f8"),  # seconds at the MDT
        ("replied", "f8"),  # when the attributes came
        ("ready", "f8"),  # when the last reply to its glimpses comes
        ("file", "i4"),
        ("program", "i4"),
        ("state", "i4"),
        ("kept", "i4"),  # whether its listing still has it
        ("asked", "i4"),  # objects of it that have been glimpsed
        ("sized", "i4"),  # whether the glimpses have brought the size
        ("next", "i4"),
    ],
    align=True,
)


class Statahead(Component):
    """The statahead of all client nodes."""

    mds: Mds
    listings: Table  # `LISTING` records: of each program one
    entries: Table  # `ENTRY` records
    spare_entries: Pool
    most: int  # most entries ahead of a program (`statahead_max`)
    glimpses: bool  # whether sizes are asked for ahead (`statahead_agl`)

    @classmethod
    def build(cls, site: Site) -> Statahead:
        """Return clients on which nobody lists a directory."""
        return site.make(
            cls,
            listings=make_table(LISTING, len(site.occupants.program_node)),
            entries=make_table(ENTRY, site.rows),
            spare_entries=make_pool(site.rows),
            most=site.machine.lustre.statahead_max,
            glimpses=int(site.machine.lustre.statahead_agl),
        )

    def demands(self) -> Demands:
        """Return the row that an event of a thread takes: one entry."""
        return [(self.spare_entries, 1)]

    def pending(self) -> int:
        """Return the most events that can be pending: one a thread, one an entry."""
        return len(self.listings) + len(self.entries)


# ------------------------------------------------------------------------------- of the programs


@performs(Statahead, Op.READDIR, on=Backend.LUSTRE)
@outlined
def read_names(ahead: Statahead, program_id: int, now: float) -> float:
    """Read names of a directory; note which, if their attributes may be asked for ahead."""
    operation = ahead.mds.programs.rows[program_id].op
    answer = metadata(ahead.mds, program_id, now)
    if answer == GO_ON and ahead.most > 0:
        _note_names(ahead, program_id, operation)
    return answer


@performs(Statahead, Op.CLOSE, on=Backend.LUSTRE)
@outlined
def close_directory(ahead: Statahead, program_id: int, now: float) -> float:
    """Close a file; of a directory, forget what has been asked for ahead."""
    programs, listing = ahead.mds.programs, ahead.listings[program_id]
    program = programs.rows[program_id]
    open_here = listing.state != OFF and listing.directory == programs.operations[program.op].file
    if open_here and program.phase == REACHED:
        _give_up(ahead, program_id)
    return metadata(ahead.mds, program_id, now)


@performs(Statahead, Op.STAT, on=Backend.LUSTRE)
@outlined
def stat(ahead: Statahead, program_id: int, now: float) -> float:
    """Take a stat on to its next state: with what is known ahead, or else as the MDS has it."""
    program = ahead.mds.programs.rows[program_id]
    if program.phase == REACHED and ahead.listings[program_id].state != OFF:
        row = _look_up(ahead, program_id, now)
        if row >= 0:
            program.since = now
            program.phase = AWAITS
            ahead.listings[program_id].awaited = row
            if ahead.entries[row].state <= _ANSWERED:
                return GONE
    if program.phase == AWAITS:
        program.phase = HAS_ATTRIBUTES if _takes_entry(ahead, program_id, now) else REACHED
    if program.phase == HAS_ATTRIBUTES:
        return _learns_size(ahead, program_id, now)
    return metadata(ahead.mds, program_id, now)


@outlined
def _note_names(ahead: Statahead, program_id: int, op: int) -> None:
    """Note that a program has read the first names of a directory."""
    operation = ahead.mds.programs.operations[op]
    listing = ahead.listings[program_id]
    begun = listing.state != OFF and listing.directory == operation.file
    if begun or operation.entries == 0:
        return
    if listing.state != OFF:
        _give_up(ahead, program_id)
    if listing.stop == 0:  # the first one
        clear(listing.entries)
        listing.waiting = listing.awaited = -1
    listing.directory = operation.file
    listing.state = LISTED if begin_listing(ahead.mds.handles, program_id) else REFUSED
    listing.first = operation.first_entry
    listing.stop = operation.first_entry + operation.entries


@outlined
def _give_up(ahead: Statahead, program_id: int) -> None:
    """End the statahead of a program: what it has asked for is of no use any more."""
    listing = ahead.listings[program_id]
    while listing.entries.head >= 0:
        _forget(ahead, program_id, listing.entries.head, -1)
    listing.state = OFF
    end_listing(ahead.mds.handles, program_id, listing.directory)


@outlined
def _look_up(ahead: Statahead, program_id: int, now: float) -> int:
    """Return the entry asked for ahead that a program stats; -1 if there is none.

    The first entry starts the thread; what it should have asked for is a miss.
    """
    programs, listing = ahead.mds.programs, ahead.listings[program_id]
    file_id = programs.operations[programs.rows[program_id].op].file
    if listing.state == REFUSED or not listing.first <= file_id < listing.stop:
        return -1
    if listing.state == LISTED and file_id != listing.first:
        _give_up(ahead, program_id)
        listing.state = REFUSED
    elif listing.state == LISTED:
        listing.state = RUNNING
        listing.upcoming = file_id + 1
        listing.ahead_max = min(_FIRST_AHEAD, ahead.most)
        listing.hits = listing.misses = listing.misses_in_a_row = 0
        _wake_thread(ahead, program_id, now)
    else:
        row = listing.entries.head
        while row >= 0:
            if ahead.entries[row].file == file_id:
                return int(row)
            row = ahead.entries[row].next
        _count_miss(ahead, program_id, now)
    return -1


@outlined
def _count_miss(ahead: Statahead, program_id: int, now: float) -> None:
    """Count a stat that finds nothing; stop the thread if these are too many (sa_low_hit)."""
    listing = ahead.listings[program_id]
    _forget_old(ahead, program_id)
    listing.misses += 1
    listing.misses_in_a_row += 1
    few = listing.hits > _ENOUGH_HITS and listing.hits < _HITS_A_MISS * listing.misses
    if few or listing.misses_in_a_row > _MISSES_IN_A_ROW:
        listing.state = STOPPED
    _wake_thread(ahead, program_id, now)


@outlined
def _takes_entry(ahead: Statahead, program_id: int, now: float) -> bool:
    """Take the attributes that a stat has waited for; False if they are out of date already.

    That is a hit, too, and lets the thread go farther ahead (ll_sai_unplug).
    """
    listing = ahead.listings[program_id]
    row, programs = listing.awaited, ahead.mds.programs
    entry = ahead.entries[row]
    since = programs.rows[program_id].since
    programs.behind[_MDS, program_id] += min(now - since, entry.served)
    listing.hits += 1
    listing.misses_in_a_row = 0
    listing.ahead_max = min(2 * listing.ahead_max, ahead.most)
    valid = ahead.mds.files.rows[entry.file].changed <= entry.replied
    if not valid:
        charge(programs, program_id, _METADATA, now)  # and what follows, from now on
        listing.awaited = -1
    previous, other = -1, listing.entries.head
    while other != row:
        previous, other = other, ahead.entries[other].next
    _forget(ahead, program_id, row, previous)
    _forget_old(ahead, program_id)
    _wake_thread(ahead, program_id, now)
    return bool(valid)


@outlined
def _learns_size(ahead: Statahead, program_id: int, now: float) -> float:
    """End a stat that has its attributes, when the size is there, too; ask for that if need be."""
    mds, listing = ahead.mds, ahead.listings[program_id]
    file_id = mds.programs.operations[mds.programs.rows[program_id].op].file
    if listing.awaited >= 0 and ahead.entries[listing.awaited].state < _KNOWN:
        return GONE
    if has_objects(mds.files, file_id) and not _knows_size(ahead, program_id, file_id):
        if not may_send(mds.requests, object_count(mds.files, file_id)):
            return FULL
        _leave_entry(ahead, program_id)
        send_to_objects(mds.requests, program_id, GLIMPSE, file_id, now)
        mds.programs.rows[program_id].phase = SIZED
        return GONE
    _leave_entry(ahead, program_id)
    return end_operation(mds, program_id, now)


@outlined
def _knows_size(ahead: Statahead, program_id: int, file_id: int) -> bool:
    """Tell whether glimpses ahead have brought the size, and nobody has begun to write since."""
    node = ahead.mds.programs.rows[program_id].node
    if not ahead.entries[ahead.listings[program_id].awaited].sized:
        return False
    for object_id in ost_objects_of(ahead.mds.files, file_id):
        if writer_of(ahead.mds.locks, object_id, node) >= 0:
            return False
    return True


@outlined
def _leave_entry(ahead: Statahead, program_id: int) -> None:
    """Give back the entry that a stat has used; its node knows the name now."""
    listing = ahead.listings[program_id]
    replied = ahead.entries[listing.awaited].replied
    note_attributes(ahead.mds.handles, program_id, replied)
    give(ahead.spare_entries, listing.awaited)
    listing.awaited = -1


# ------------------------------------------------------------------------- of the entries ahead


@outlined
def _forget(ahead: Statahead, program_id: int, row: int, previous: int) -> None:
    """Take an entry out of its listing; ``previous`` is the one before it there, or -1.

    Whoever it has still to do with gives it back: its event, or the stat that awaits it.
    """
    listing, entry = ahead.listings[program_id], ahead.entries[row]
    leave(listing.entries, ahead.entries, row, previous)
    if listing.entries.head < 0:
        clear(listing.entries)
    listing.cached -= 1
    entry.kept = 0
    if entry.state == _KNOWN and listing.awaited != row:
        give(ahead.spare_entries, row)


@outlined
def _forget_old(ahead: Statahead, program_id: int) -> None:
    """Forget entries that the program has left out, far behind (is_omitted_entry)."""
    listing = ahead.listings[program_id]
    oldest = listing.upcoming - listing.ahead_max - _OMITTED
    while listing.entries.head >= 0 and ahead.entries[listing.entries.head].file < oldest:
        _forget(ahead, program_id, listing.entries.head, -1)


@outlined
def _wake_thread(ahead: Statahead, program_id: int, now: float) -> None:
    """Let a program's thread look whether it can ask for more; not while it waits for a place."""
    listing = ahead.listings[program_id]
    if listing.state == RUNNING and listing.awake == 0:
        listing.awake = 1
        schedule(ahead.mds.network.calendar, now, STATAHEAD_EVENT, program_id)


@on_event(Statahead, STATAHEAD_EVENT)
@outlined
def go_ahead(ahead: Statahead, program_id: int, now: float) -> float:
    """Ask for one more entry, if there is room for one ahead and the mdc a place for an RPC."""
    listing = ahead.listings[program_id]
    if listing.waiting >= 0:
        row = listing.waiting  # it has been given a place
        listing.waiting = -1
        _ask(ahead, row, now)
        return now
    room = listing.cached < listing.ahead_max and listing.upcoming < listing.stop
    if listing.state != RUNNING or not room:
        listing.awake = 0
        return GONE
    row = take(ahead.spare_entries)
    entry = ahead.entries[row]
    entry.program = program_id
    entry.file = listing.upcoming
    entry.state = _QUEUED
    entry.kept = 1
    entry.sized = 0
    join(listing.entries, ahead.entries, row)
    listing.upcoming += 1
    listing.cached += 1
    place = len(ahead.listings) + program_id
    if not takes_place(ahead.mds, mdc_of(ahead.mds, program_id, entry.file), place):
        listing.waiting = row
        return GONE
    _ask(ahead, row, now)
    return now


@outlined
def _ask(ahead: Statahead, row: int, now: float) -> None:
    """Send the request for the attributes of an entry; none if its listing has ended."""
    entry = ahead.entries[row]
    if not entry.kept:
        pass_place(ahead.mds, mdc_of(ahead.mds, entry.program, entry.file), now)
        give(ahead.spare_entries, row)
        return
    entry.state = _ASKED
    entry.sent = now
    arrival = now + ahead.mds.latency
    schedule(ahead.mds.network.calendar, arrival, ENTRY_EVENT, row)


@on_event(Statahead, ENTRY_EVENT)
@outlined
def on_entry(ahead: Statahead, row: int, now: float) -> float:
    """Take an entry on to its next state."""
    entry, latency = ahead.entries[row], ahead.mds.lnet.control_latency
    if entry.state == _ASKED:
        entry.state = _ANSWERED
        return _attributes_read(ahead, row, now) + ahead.mds.latency
    if entry.state == _GLIMPSED:
        return _size_read(ahead, row, now)
    listing = ahead.listings[entry.program]
    if entry.state == _ANSWERED:
        pass_place(ahead.mds, mdc_of(ahead.mds, entry.program, entry.file), now)
        entry.replied = now
        entry.state = _KNOWN
        awaited = listing.awaited == row
        if awaited:
            wake(ahead.mds.programs, entry.program, now)
        wanted = listing.state == RUNNING and entry.kept
        if ahead.glimpses and wanted and has_objects(ahead.mds.files, entry.file):
            _glimpse(ahead, row, now)
            return now + latency
    else:
        entry.state = _KNOWN
        if listing.awaited == row:
            wake(ahead.mds.programs, entry.program, now)
    if not entry.kept and listing.awaited != row:
        give(ahead.spare_entries, row)
    return GONE


@outlined
def _attributes_read(ahead: Statahead, row: int, now: float) -> float:
    """Queue the request for an entry's attributes at its MDT; return when that has served it."""
    mds, entry = ahead.mds, ahead.entries[row]
    station, service = mds.station + mds.files.rows[entry.file].mdt, mds.seconds[_STAT]
    begun = serve(mds.network, station, now, 0.0, service)
    done = begun + service + mds.network.stations[station].latency
    entry.served = done - now
    _record(ahead, row, MDS_OPERATION, entry.file, station, now, begun, done)
    return done


@outlined
def _glimpse(ahead: Statahead, row: int, now: float) -> None:
    """Send a glimpse to every object of an entry."""
    entry = ahead.entries[row]
    entry.state = _GLIMPSED
    entry.sent = now
    entry.asked = ahead.mds.files.rows[entry.file].on_mdt
    entry.sized = 1
    entry.ready = now


@outlined
def _size_read(ahead: Statahead, row: int, now: float) -> float:
    """Queue the glimpse of one object of an entry at its OSS; return when the entry acts next.

    All of them come at the same time, but an event records one request at most.
    """
    mds, entry = ahead.mds, ahead.entries[row]
    osses, object_id = mds.requests.osses, object_of(mds.files, entry.file, entry.asked)
    ost, service = mds.files.objects[object_id].ost, osses.request_service
    station = osses.service + osses.server_of[ost]
    begun = serve(mds.network, station, now, 0.0, service)
    done = begun + service + mds.network.stations[station].latency
    done = max(done, osses.held[ost])
    _record(ahead, row, GLIMPSE, object_id, station, now, begun, done)
    mds.programs.stats[_GLIMPSES] += 1
    if writer_of(mds.locks, object_id, mds.programs.rows[entry.program].node) >= 0:
        entry.sized = 0
    entry.ready = max(entry.ready, done + mds.lnet.control_latency)
    entry.asked += 1
    if entry.asked < object_count(mds.files, entry.file):
        return now
    entry.state = _SIZING
    return entry.ready


@njit
def _record(
    ahead: Statahead,
    row: int,
    kind: int,
    target: int,
    station: int,
    arrived: float,
    begun: float,
    done: float,
) -> None:
    """Record a request of a thread, if anything is recorded."""
    recorder, entry = ahead.mds.programs.recorder, ahead.entries[row]
    if recorder.on:
        record = record_request(recorder, entry.program, kind, target)
        record.op = _STAT
        record.station = station
        record.sent = entry.sent
        record.arrived = arrived
        record.begun = begun
        record.ended = done
