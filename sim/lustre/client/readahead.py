"""Read-ahead: pages that a client asks for beyond the call that it serves.

A reader that goes through a file in order, or in equal strides, has pages beyond its call read
ahead, ever more of them (Lustre 2.7 llite/rw.c).

All readers of a node share one budget for what is on its way: it belongs to the mount
(ll_ra_count_get). Who asks for more than is left of it gets the rest, or nothing if that is less
than an RPC of the largest size, since small RPCs keep the servers busy. What a call itself reads
takes of it, too; never refused is only what it reads up to the next boundary between such RPCs.
"""

from __future__ import annotations

from xc40io.engine.compiled import outlined
from xc40io.engine.component import Component
from xc40io.engine.page import PAGE
from xc40io.engine.record import Column
from xc40io.lustre.client.page_requests import ask_for_pages
from xc40io.lustre.ldlm import covering
from xc40io.lustre.locks import MODE_PR
from xc40io.lustre.osc.obds import Osc
from xc40io.lustre.states import PIECE_WANTED
from xc40io.node.osc_extents import piece_of
from xc40io.node.page_cache import PageCache, find_osc_object
from xc40io.plane.counters import Stat
from xc40io.plane.files import Files, chunk_of_call
from xc40io.plane.programs import PROGRAM, Programs, start_of_call
from xc40io.plane.site import Site

_AHEAD = int(Stat.AHEAD_BYTES)

_SEEK = 8 * PAGE  # who jumps further does not read in order (ras_update, Lustre 2.7 llite/rw.c)

PROGRAM.add(
    __name__,
    Column("ahead_done", "i8", passing=True),  # up to where it has read ahead, in the file
    # bytes from the end of a read to the start of the next one
    Column("gap", "i8", passing=True),
    # reads that followed each other with this gap; 0: not in strides
    Column("striding", "i4", passing=True),
)


class Readahead(Component):
    """The read-ahead of all clients."""

    files: Files
    programs: Programs
    cache: PageCache
    osc: Osc
    # limit, step: most bytes of the window of a reader, and of all that the readers of a node have
    # on its way; by how much more a reader reads ahead at each read in order
    limit: int
    step: int
    # bytes: a window for reading ahead ends where a BRW RPC of the largest size would
    alignment: int
    whole: int  # bytes of a file that is read whole (`max_read_ahead_whole_mb`)

    @classmethod
    def build(cls, site: Site) -> Readahead:
        """Return the read-ahead of a machine's clients."""
        lustre = site.machine.lustre
        return site.make(
            cls,
            limit=lustre.readahead,
            step=lustre.readahead_step,
            alignment=lustre.readahead_alignment,
            whole=lustre.readahead_whole,
        )


@outlined
def note_order(readahead: Readahead, program_id: int, start: int, length: int) -> None:
    """Widen the read-ahead of a program that reads in order or in strides; end it for others.

    From the second consecutive read on it grows by a step each, and so it does from the second
    equal stride on (Lustre 2.7 llite/rw.c, ras_update; RAS_INCREASE_STEP).
    """
    program = readahead.programs.rows[program_id]
    jump = start - program.next_read
    in_order = -_SEEK <= jump <= _SEEK
    # Before its first read of a file ``next_read`` is -1: nothing can follow that.
    if program.next_read >= 0 and (in_order or (jump == program.gap and jump > 0)):
        program.striding = 0 if in_order else program.striding + 1
        program.ahead = min(program.ahead + readahead.step, readahead.limit)
    else:
        # The first jump is remembered; the next one that is equal makes it a stride.
        program.gap = jump if program.next_read >= 0 else 0
        begin_anew(readahead, program_id)
    program.next_read = start + length


@outlined
def begin_anew(readahead: Readahead, program_id: int) -> None:
    """Read nothing ahead of a program until it has read in order, or in strides, once more.

    So it is after a seek, and when pages are gone that were read ahead: the lock above them was
    cancelled, or they did not fit into the cache (ras_update, a miss in the window).
    """
    program = readahead.programs.rows[program_id]
    program.striding = 0
    program.ahead = 0
    program.ahead_done = 0


@outlined
def asked_at_once(readahead: Readahead, program_id: int, here: int, left: int) -> int:
    """Return up to where in the file a reader asks for pages at ``here``.

    ``left`` are the bytes of its chunk. The window for reading ahead is widened to the whole of a
    call, so that the RPCs of a long one are under way together. It begins at a whole step before
    the call (ras_set_start): many small reads ask for a step when they have come that far, not for
    a little more each. It ends at the last boundary between the largest RPCs, unless it lies
    between two: of a call across one, the rest is asked for when its reader gets there (Lustre 2.7
    llite/rw.c, ll_readahead).
    """
    program = readahead.programs.rows[program_id]
    file = readahead.files.rows[readahead.programs.operations[program.op].file]
    start = start_of_call(readahead.programs, program_id)
    end = start + program.length
    wished = min(end, here + left + readahead.limit)  # rows are kept for no more (_begin_chunk)
    end = _in_budget(readahead, program_id, here, wished)
    if end < wished:
        return end
    if program.ahead > 0 and program.striding == 0:
        if file.end <= readahead.whole:
            return file.end
        size = min(program.length + program.ahead, readahead.limit)
        end = max(end, min(start // readahead.step * readahead.step + size, file.end))
    boundary = end // readahead.alignment * readahead.alignment
    return boundary if boundary > max(program.ahead_done, here) else end


@outlined
def _in_budget(readahead: Readahead, program_id: int, here: int, end: int) -> int:
    """Return up to where in its call (to ``end``) a reader at ``here`` may ask for pages.

    Up to the next boundary between the largest RPCs whatever the others of its node have on its
    way; beyond that the budget holds for a call as it does for what is read ahead of one (Lustre
    2.7 llite/rw.c, ll_readahead: ``mlen`` is trimmed to it; ll_ra_count_get).
    """
    program = readahead.programs.rows[program_id]
    asked = 1 if program.phase == PIECE_WANTED else 0  # for what lies right before ``here``
    sure = ((here - asked) // readahead.alignment + 1) * readahead.alignment
    size = granted(readahead, program.node, end - here) if end > sure else end - here
    if size == end - here:
        return end
    return max(sure, (here + size) // readahead.alignment * readahead.alignment)


@outlined
def read_ahead(readahead: Readahead, program_id: int, limit: int, now: float) -> None:
    """Ask for the pages from the chunk's end to ``limit``, and for the strides that follow."""
    program = readahead.programs.rows[program_id]
    after = start_of_call(readahead.programs, program_id) + program.done
    end = min(limit, after + program.length - program.done)
    at = max(program.ahead_done, after)
    if at < end:  # of the call itself
        if not _ask_ahead(readahead.osc, program_id, at, end, now):
            return
        at = end
    if at < limit:
        size = granted(readahead, program.node, limit - at)
        # A window that grew across a boundary ends there.
        beyond = (at + size) % readahead.alignment
        size -= beyond if beyond < size else 0
        if not _ask_ahead(readahead.osc, program_id, at, at + size, now):
            return
    if program.striding > 0:
        size = granted(readahead, program.node, program.ahead)
        _read_ahead_in_strides(readahead.osc, program_id, size, now)


@outlined
def granted(readahead: Readahead, node: int, size: int) -> int:
    """Return how many of ``size`` bytes a reader may read ahead within the budget of its node."""
    left = readahead.limit - readahead.cache.nodes[node].coming
    return min(size, left) if left >= min(size, readahead.alignment) else 0


@outlined
def _read_ahead_in_strides(osc: Osc, program_id: int, left: int, now: float) -> None:
    """Ask for the pages of the next calls of a program that reads in equal strides.

    ``left`` are the bytes that it may ask for; what lies between them does not count.
    """
    program = osc.programs.rows[program_id]
    length = osc.programs.operations[program.op].length
    end = osc.files.rows[osc.programs.operations[program.op].file].end
    start = program.next_read + program.gap
    behind = min(program.ahead_done, end) - start - length  # whole calls were asked for before
    if behind >= 0:
        calls = min(behind // (length + program.gap) + 1, (left - 1) // length)
        start += calls * (length + program.gap)
        left -= calls * length
    while left > 0 and start < end:
        stop = min(start + min(length, left), end)
        left -= stop - start
        at = max(program.ahead_done, start)  # the rest of it was asked for before
        if at < stop and not _ask_ahead(osc, program_id, at, stop, now):
            return
        start += length + program.gap


@outlined
def _ask_ahead(osc: Osc, program_id: int, at: int, limit: int, now: float) -> bool:
    """Ask for pages of a file ahead of their use; False where the node has no lock for them."""
    program = osc.programs.rows[program_id]
    file_id = osc.programs.operations[program.op].file
    while at < limit:
        chunk = chunk_of_call(osc.files, file_id, at)
        osc_object_id = find_osc_object(osc.cache, chunk.object_id, program.node)
        offset = chunk.offset
        size = piece_of(osc.cache, offset, min(chunk.left, limit - at))
        # Read-ahead asks for no lock: the call that reads there does.
        if (
            osc_object_id < 0
            or covering(osc, osc_object_id, MODE_PR, offset, offset + size - 1) < 0
        ):
            return False
        ask_for_pages(osc, program_id, osc_object_id, offset, offset + size, _AHEAD, now)
        at += size
        program.ahead_done = at
    return True
