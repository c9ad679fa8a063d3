"""The states of a program in an operation on a file of Lustre, each named for what has happened.

Several modules may take such an operation on, and whatever needs the layout of a composite file has
states of that besides its own. So no two have the same number, except that every operation begins
with the first. Who gets at once what it asks for passes over the state in which it would wait.
"""

from __future__ import annotations

from xc40io.engine.compiled import inlined
from xc40io.plane.programs import FIRST_PHASE

(
    REACHED,  # nothing, and so every operation begins
    # Of a run of calls.
    CALLED,  # the kernel has been entered -> RANGE_FREED, SIZED, LOCKED
    RANGE_FREED,  # another write has ended: tries for its range -> RANGE_FREED, LOCKED
    LOCKED,  # has the chunk's lock: moves it -> PAGE_WANTED and what follows; CHUNK_WANTED; MOVED
    # Of a chunk that is written.
    PAGE_WANTED,  # asks for pages of which it writes a part -> PAGE_WANTED, ROOM_FREED, COPIED_IN
    ROOM_FREED,  # a write-back has ended: has room for a piece -> COPIED_IN
    COPIED_IN,  # has a piece in the cache: marks it dirty -> ROOM_FREED, COPIED_IN; MOVED
    # Of a chunk that is read.
    CHUNK_WANTED,  # asks for the chunk's pages -> PIECE_WANTED
    PIECE_WANTED,  # asks for what the piece still lacks -> FILLED, COPIED_OUT
    FILLED,  # has the pages of a piece: copies it -> COPIED_OUT
    COPIED_OUT,  # has a piece out of the cache -> PIECE_WANTED; MOVED
    MOVED,  # releases the chunk's lock, turns to the next chunk -> LOCKED, BETWEEN_CALLS
    # Of an operation at the MDS, which takes the mutex of its directory first, if it needs that.
    ENTERED,  # takes its node's turn, if it needs one -> HAS_TURN, or LOOKS_UP, or SEEKS; a stat
    # that finds the attributes known asks every object -> SIZED
    HAS_TURN,  # asks the MDS -> ANSWERED
    ANSWERED,  # passes the turn on: done -> REACHED; a stat asks every object -> SIZED
    LOOKS_UP,  # has the turn to look up a name: asks -> ANSWERED; a neighbour has: -> OPENED
    OPENED,  # has the file open with its neighbours: passes the turn on -> REACHED
    SEEKS,  # has a place to ask for the name that it removes: asks -> FOUND
    FOUND,  # has found it: takes the turn -> HAS_TURN
    # Of a stat with statahead.
    AWAITS,  # waits for the attributes that its entry brings: they are there -> HAS_ATTRIBUTES
    HAS_ATTRIBUTES,  # asks for the size, or has it -> SIZED, REACHED; waits for the entry's glimpse
    # Of a read, or a stat.
    SIZED,  # knows how long the file is: reads no further -> LOCKED, BETWEEN_CALLS; done -> REACHED
    # Of a truncate, which asks for locks that drive all others away -> DRIVEN_AWAY.
    HAS_LAYOUT,  # of a composite layout, with objects up to the new end: as REACHED
    DRIVEN_AWAY,  # has all beyond the new end for itself: cuts the objects -> PUNCHED
    PUNCHED,  # tells the MDS -> TOLD
    TOLD,  # done -> REACHED
    # Of all that need the layout of a composite file. They stand last (:func:`needs_layout`).
    LAYOUT_TURN,  # has its turn to set the layout: does, or asks for the lock, or waits for calls
    LAYOUT_SLOT,  # has a place among the RPCs that modify: asks for objects
    LAYOUT_FETCHED,  # the node has the lock: as LAYOUT_TURN
    LAYOUT_IDLE,  # the calls under way have ended: as LAYOUT_TURN
    LAYOUT_CHANGED,  # there are objects for all that it writes: tries again
) = range(FIRST_PHASE, FIRST_PHASE + 31)

BETWEEN_CALLS = REACHED  # of a run of calls: begins the next one -> CALLED


@inlined
def needs_layout(state: int) -> bool:
    """Tell whether a program is in a state of the layout, whatever its operation."""
    return state >= LAYOUT_TURN
