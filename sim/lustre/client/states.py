"""The states of a program in a run of read or write calls, each named for what has happened.

Who gets at once what it asks for passes over the state in which it would wait for it.
"""

from __future__ import annotations

# States of a program in a run of calls.
BETWEEN_CALLS = 0  # begins the next call -> CALLED
CALLED = 11  # the kernel has been entered -> RANGE_FREED, SIZED, LOCKED
RANGE_FREED = 1  # another write has ended: tries for its range -> RANGE_FREED, LOCKED
SIZED = 2  # knows how long the file is: reads no further -> LOCKED, BETWEEN_CALLS
LOCKED = 3  # has the chunk's lock: moves it -> PAGE_WANTED and what follows; CHUNK_WANTED; MOVED

# Of a chunk that is written.
PAGE_WANTED = 12  # asks for pages of which it writes a part -> PAGE_WANTED, ROOM_FREED, COPIED_IN
ROOM_FREED = 4  # a write-back has ended: has room for a piece -> COPIED_IN
COPIED_IN = 5  # has a piece in the cache: marks it dirty -> ROOM_FREED, COPIED_IN; MOVED

# Of a chunk that is read.
CHUNK_WANTED = 6  # asks for the chunk's pages -> PIECE_WANTED
PIECE_WANTED = 7  # asks for what the piece still lacks -> FILLED, COPIED_OUT
FILLED = 8  # has the pages of a piece: copies it -> COPIED_OUT
COPIED_OUT = 9  # has a piece out of the cache -> PIECE_WANTED; MOVED

MOVED = 10  # releases the chunk's lock, turns to the next chunk -> LOCKED, BETWEEN_CALLS
